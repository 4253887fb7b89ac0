"""Which corrections can be learned from: whole ones that change something, one for each question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.signals.values import Correction
from local_training.lessons.wording import clean, folded

MOST_PROMPT_CHARACTERS: Final = 1500
MOST_ANSWER_CHARACTERS: Final = 1500
"""Longer ones would take the time of all the others."""
_MOST_READ_CHARACTERS: Final = 100_000
_MOST_BEFORE_CHARACTERS: Final = 8_000
"""Of the old answer so much is looked at; a rule that it breaks, it breaks there."""


@dataclass(frozen=True, slots=True)
class Usable:
    corrections: tuple[Correction, ...]
    """Oldest first; texts without control characters."""
    unchanged: int
    """Left out because they say what the answer said."""
    too_long: int
    empty: int
    repeated: int
    """Left out because a newer one corrects the same question."""


def usable_corrections(corrections: Sequence[Correction]) -> Usable:
    kept: dict[str, Correction] = {}
    unchanged = too_long = empty = repeated = 0
    for correction in sorted(corrections, key=lambda one: (one.created_at, one.signal_id)):
        if max(len(correction.prompt), len(correction.after)) > _MOST_READ_CHARACTERS:
            too_long += 1
            continue
        read = replace(
            correction,
            prompt=clean(correction.prompt),
            before=clean(correction.before[:_MOST_BEFORE_CHARACTERS]),
            after=clean(correction.after),
        )
        if not folded(read.prompt) or not folded(read.after):
            empty += 1
        elif folded(read.after) == folded(read.before):
            unchanged += 1
        elif len(read.prompt) > MOST_PROMPT_CHARACTERS or len(read.after) > MOST_ANSWER_CHARACTERS:
            too_long += 1
        else:
            repeated += kept.pop(folded(read.prompt), None) is not None
            kept[folded(read.prompt)] = read
    return Usable(tuple(kept.values()), unchanged, too_long, empty, repeated)
