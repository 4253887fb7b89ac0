"""Which rollouts are worth imitating: the choice of rejection-sampling fine-tuning. Light: no torch."""

import math
from collections.abc import Sequence


def best_of(rewards: Sequence[float], keep: int = 1, at_least: float = -math.inf) -> tuple[int, ...]:
    """Positions of the `keep` highest rewards of one group, in their order; of equals the earlier.

    None below `at_least` is kept, so that a group without a good answer teaches nothing.
    Source: Dong et al. 2023, algorithm 1 (RAFT, arXiv:2304.06767).
    Raises: ValueError when a reward is NaN, since it would be neither kept nor left out.
    """
    good = rewarded(rewards, at_least)
    return tuple(sorted(sorted(good, key=lambda position: -rewards[position])[:keep]))


def rewarded(rewards: Sequence[float], at_least: float) -> tuple[int, ...]:
    """Positions of all rewards of at least `at_least`, in their order.

    Source: Yuan et al. 2023 (rejection-sampling fine-tuning, arXiv:2308.01825).
    Raises: ValueError when a reward is NaN.
    """
    if any(math.isnan(reward) for reward in rewards):
        raise ValueError(f"a reward is NaN: {list(rewards)}")
    return tuple(position for position, reward in enumerate(rewards) if reward >= at_least)
