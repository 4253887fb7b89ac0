"""Held-out items before and after a run, paired: what changed, and whether chance would do as much. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from engine.adapters.statistics import mcnemar_exact, paired_changes, wilson
from local_training.runs.evaluations import EvaluatedItem

Outcome = Literal["better", "worse", "same"]
SURE: Final = 0.05
"""A smaller two-sided p is called a change."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many right of `n`; `low` and `high` are the bounds of the Wilson interval at 95 %, as shares."""

    right: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.right / self.n


@dataclass(frozen=True, slots=True)
class Paired:
    """Items that went one way or the other, and the two-sided p of McNemar's exact test (here also a sign test)."""

    gained: int
    lost: int
    p: float

    @property
    def outcome(self) -> Outcome:
        if self.p >= SURE:
            return "same"
        return "better" if self.gained > self.lost else "worse"


@dataclass(frozen=True, slots=True)
class Accuracy:
    before: Rate
    after: Rate
    paired: Paired


@dataclass(frozen=True, slots=True)
class Means:
    """Over the items that have both."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Loss:
    means: Means
    paired: Paired
    """`gained` are items whose loss fell."""


@dataclass(frozen=True, slots=True)
class Change:
    """An item that was right and became wrong, or the reverse."""

    question: str
    """Empty where it is not known."""
    before: EvaluatedItem
    after: EvaluatedItem

    @property
    def became_right(self) -> bool:
        return self.after.correct is True


@dataclass(frozen=True, slots=True)
class Comparison:
    """Only items that both evaluations have count. What items of this kind do not have is None."""

    step_before: int
    step_after: int
    items: int
    accuracy: Accuracy | None
    tokens: Means | None
    """Length of the answers."""
    reward: Means | None
    loss: Loss | None
    changes: tuple[Change, ...]
    """Those that became wrong first."""

    @property
    def outcome(self) -> Outcome | None:
        """By accuracy, or by loss where nothing is right or wrong; None where there is neither."""
        if self.accuracy is not None:
            return self.accuracy.paired.outcome
        return None if self.loss is None else self.loss.paired.outcome


def compare(
    before: tuple[int, Sequence[EvaluatedItem]],
    after: tuple[int, Sequence[EvaluatedItem]],
    questions: Mapping[str, str],
) -> Comparison:
    """Two evaluations, each the step it was made after and its items. `questions` are texts by the id of an item."""
    later = {item.item_id: item for item in after[1]}
    pairs = [(item, later[item.item_id]) for item in before[1] if item.item_id in later]
    changes = [
        Change(questions.get(old.item_id, ""), old, new)
        for old, new in pairs
        if old.correct is not None and new.correct is not None and old.correct != new.correct
    ]
    return Comparison(
        step_before=before[0],
        step_after=after[0],
        items=len(pairs),
        accuracy=_accuracy(
            [(a.correct, b.correct) for a, b in pairs if a.correct is not None and b.correct is not None]
        ),
        tokens=_means([(a.tokens, b.tokens) for a, b in pairs if a.tokens is not None and b.tokens is not None]),
        reward=_means([(a.reward, b.reward) for a, b in pairs if a.reward is not None and b.reward is not None]),
        loss=_loss([(a.loss, b.loss) for a, b in pairs if a.loss is not None and b.loss is not None]),
        changes=tuple(sorted(changes, key=lambda change: change.became_right)),
    )


def rate(right: int, n: int) -> Rate:
    return Rate(right, n, *wilson(right, n))


def _accuracy(pairs: Sequence[tuple[bool, bool]]) -> Accuracy | None:
    if not pairs:
        return None
    gained, lost = paired_changes(pairs)
    return Accuracy(
        rate(sum(old for old, _ in pairs), len(pairs)),
        rate(sum(new for _, new in pairs), len(pairs)),
        Paired(gained, lost, mcnemar_exact(gained, lost)),
    )


def _loss(pairs: Sequence[tuple[float, float]]) -> Loss | None:
    means = _means(pairs)
    if means is None:
        return None
    fell, rose = sum(new < old for old, new in pairs), sum(new > old for old, new in pairs)
    return Loss(means, Paired(fell, rose, mcnemar_exact(fell, rose)))


def _means(pairs: Sequence[tuple[float, float]]) -> Means | None:
    if not pairs:
        return None
    return Means(sum(old for old, _ in pairs) / len(pairs), sum(new for _, new in pairs) / len(pairs))
