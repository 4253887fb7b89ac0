"""Before and after a lesson on prompts that it never saw: how many follow it, how sure that is, and some side by side.

Which ones are shown is drawn by lot, and one that got worse is always among them if there is any.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from engine.adapters.statistics import Z_95_ONE_SIDED, mcnemar_exact, paired_changes, paired_difference, wilson
from local_training.lessons.building import HeldOutItem, LessonData, adherence

Change = Literal["won", "lost", "kept", "missed"]
"""The answer follows the lesson now and did not; the other way round; did and does; did not and does not."""
SHOWN: Final = 6
_CHANGES: Final[Mapping[tuple[bool, bool], Change]] = {
    (False, True): "won",
    (True, False): "lost",
    (True, True): "kept",
    (False, False): "missed",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """The two answers to one held-out prompt."""

    prompt: str
    before: str
    after: str
    wanted: str
    """The user's own answer; empty for a practice prompt."""
    change: Change


@dataclass(frozen=True, slots=True)
class Comparison:
    items: int
    right_before: int
    right_after: int
    wins: int
    losses: int
    p_value: float
    """Exact McNemar, one-sided: the chance of so many wins if nothing had got better."""
    points: float
    """Adherence after minus before, in points of a hundred."""
    low_points: float
    """The 90 % interval of that: each bound alone is sure to 95 %; likewise the next."""
    high_points: float
    after_interval: tuple[float, float]
    """The 95 % interval of the share that follows now, from 0 to 1."""
    shown: tuple[Pair, ...]


def compare(
    data: LessonData, before: Mapping[str, str], after: Mapping[str, str], seed: int, *, shown: int = SHOWN
) -> Comparison:
    """before, after: the answer to each held-out item, by its id. Raises: KeyError where one is missing."""
    was_right, is_right = adherence(data, before), adherence(data, after)
    ids = [item.item_id for item in data.held_out]
    wins, losses = paired_changes((was_right[one], is_right[one]) for one in ids)
    low, high = paired_difference(wins, losses, len(ids), Z_95_ONE_SIDED)
    right_after = sum(is_right.values())
    pairs = [
        _pair(item, before, after, _CHANGES[was_right[item.item_id], is_right[item.item_id]]) for item in data.held_out
    ]
    return Comparison(
        items=len(ids),
        right_before=sum(was_right.values()),
        right_after=right_after,
        wins=wins,
        losses=losses,
        p_value=mcnemar_exact(wins, losses, "better"),
        points=100 * (wins - losses) / len(ids) if ids else 0.0,
        low_points=100 * low,
        high_points=100 * high,
        after_interval=wilson(right_after, len(ids)),
        shown=_drawn(pairs, seed, shown),
    )


def _pair(item: HeldOutItem, before: Mapping[str, str], after: Mapping[str, str], change: Change) -> Pair:
    return Pair(item.prompt, before[item.item_id], after[item.item_id], item.wanted, change)


def _drawn(pairs: Sequence[Pair], seed: int, count: int) -> tuple[Pair, ...]:
    """A sample by lot; where no loss was drawn although there are some, the last one drawn gives way to a loss."""
    lot = random.Random(f"shown {seed}")
    drawn = lot.sample(pairs, min(count, len(pairs)))
    lost = [pair for pair in pairs if pair.change == "lost"]
    if drawn and lost and not any(pair.change == "lost" for pair in drawn):
        drawn[-1] = lot.choice(lost)
    return tuple(drawn)
