"""From the rewards of one prompt's rollouts to what each is credited with. Light: no torch.

Sums are exact (`math.fsum`), so that neither the order of the rollouts nor a constant reward leaves a trace.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from local_training.trajectory import Trajectory

DEVIATION_FLOOR: Final = 1e-6
"""Added to the deviation, as in the published implementations."""


def grpo_advantages(rewards: Sequence[float]) -> tuple[float, ...]:
    """(reward - mean) / (deviation + 1e-6) within one group; all 0 when the rewards are equal or there is one.

    The deviation is that of a sample (n - 1), which is what the published implementations compute.
    Source: Shao et al. 2024, section 4.1.2 (GRPO, arXiv:2402.03300).
    Raises: ValueError when a reward is not finite.
    """
    centred = dr_grpo_advantages(rewards)
    if not any(centred):
        return centred
    deviation = math.sqrt(math.fsum(value * value for value in centred) / (len(centred) - 1))
    return tuple(value / (deviation + DEVIATION_FLOOR) for value in centred)


def dr_grpo_advantages(rewards: Sequence[float]) -> tuple[float, ...]:
    """reward - mean within one group; all 0 when the rewards are equal.

    Undivided, so that a question that is nearly always or nearly never solved does not weigh more than the others.
    Source: Liu et al. 2025, section 3.2 (Dr. GRPO, arXiv:2503.20783).
    Raises: ValueError when a reward is not finite.
    """
    if not all(math.isfinite(reward) for reward in rewards):
        raise ValueError(f"a reward is not finite: {list(rewards)}")
    if len(set(rewards)) < 2:
        # The mean of equal numbers may differ from them in the last digit.
        return (0.0,) * len(rewards)
    mean = math.fsum(rewards) / len(rewards)
    return tuple(reward - mean for reward in rewards)


def with_advantages(
    group: Sequence[Trajectory], advantages_of: Callable[[Sequence[float]], tuple[float, ...]]
) -> tuple[Trajectory, ...]:
    """The rollouts of one prompt, each with its advantage.

    Raises: ValueError when a trajectory has no reward yet.
    """
    rewards = [trajectory.reward for trajectory in group if trajectory.reward is not None]
    if len(rewards) < len(group):
        raise ValueError(f"{len(group) - len(rewards)} of {len(group)} trajectories have no reward")
    return tuple(
        replace(trajectory, advantage=advantage)
        for trajectory, advantage in zip(group, advantages_of(rewards), strict=True)
    )


def segment_advantages(trajectories: Sequence[Trajectory]) -> tuple[float, ...]:
    """One advantage per segment, trajectory after trajectory: all segments of one share its own, undivided.

    With a mean over all tokens, what a trajectory weighs is then what it wrote, in however many segments.
    Source: Yu et al. 2025 (Multi-conv DAPO of MemAgent, arXiv:2507.02259).
    Raises: ValueError when a trajectory has no advantage yet.
    """
    shared: list[float] = []
    for number, trajectory in enumerate(trajectories):
        if trajectory.advantage is None:
            raise ValueError(f"trajectory {number} of {len(trajectories)} has no advantage")
        shared += [trajectory.advantage] * len(trajectory.segments)
    return tuple(shared)
