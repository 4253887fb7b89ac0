"""Which groups of rollouts can teach, and how many more to draw. Draws nothing itself. Light: no torch.

Where all rollouts of a prompt have the same reward, every advantage is 0: such a group costs time and thins out the
mean. They are dropped, and others drawn in their place, in a bounded number of waves.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

MAX_WAVES: Final = 4
MAX_DRAW_FACTOR: Final = 4
"""One wave draws at most this many groups for each that is missing, however few have been of use so far."""


@dataclass(frozen=True, slots=True)
class ResamplingPlan:
    kept: tuple[int, ...]
    """Positions of the groups to learn from, in the order they were drawn."""
    missing: int
    """Groups that are still wanted."""
    draw: int
    """Groups to draw in the next wave; 0 when there are enough or the waves are used up."""


def is_informative(rewards: Sequence[float]) -> bool:
    """Whether the rollouts of one prompt differ in reward, so that there is something to prefer."""
    return len(set(rewards)) > 1


def plan_resampling(
    groups: Sequence[Sequence[float]],
    wanted: int,
    waves_drawn: int,
    max_waves: int = MAX_WAVES,
    teaches: Callable[[Sequence[float]], bool] = is_informative,
) -> ResamplingPlan:
    """What to keep of all groups drawn so far, and how many to draw next.

    `groups` are the rewards of each prompt's rollouts, `teaches` says of one whether it is of use; `waves_drawn`
    counts the first draw too. The next wave is sized by the share that has been of use. When the waves are used up the
    step goes on with what there is; nothing kept means that it has nothing to learn from.
    Source: Yu et al. 2025, section 3.2 (dynamic sampling of DAPO, arXiv:2503.14476); the bound is ours.
    """
    informative = [position for position, rewards in enumerate(groups) if teaches(rewards)]
    missing = max(wanted - len(informative), 0)
    is_last = waves_drawn >= max_waves
    draw = 0 if is_last else math.ceil(missing * _draws_per_kept(len(informative), len(groups)))
    return ResamplingPlan(tuple(informative[:wanted]), missing, draw)


def _draws_per_kept(informative: int, drawn: int) -> float:
    if drawn == 0:
        return 1.0
    return MAX_DRAW_FACTOR if informative == 0 else min(drawn / informative, MAX_DRAW_FACTOR)
