"""The trait of short answers: at most so many words or Chinese characters."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from local_training.lessons.traits import Fields, Values
from local_training.lessons.wording import first_sentences, length_units

_SHARE_WITHIN: Final = 0.9
_ROOM: Final = 1.2
"""The limit lies so far above what the user wrote: a length is meant roughly."""
_STEP_UNITS: Final = 5
_FEWEST_UNITS: Final = 10


@dataclass(frozen=True, slots=True)
class Shorter:
    """At most `most_units` words, where one Chinese character counts as a word."""

    kind: ClassVar[str] = "shorter"
    most_units: int

    @property
    def values(self) -> Values:
        return {"most": self.most_units}

    def adheres(self, prompt: str, answer: str) -> bool:
        return 0 < length_units(answer) <= self.most_units

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        return first_sentences(answer, self.most_units)


def infer_shorter(afters: Sequence[str]) -> Shorter:
    """The limit that nine of ten answers of the user keep, with some room. `afters` is not empty."""
    lengths = sorted(map(length_units, afters))
    usual = lengths[min(len(lengths) - 1, math.ceil(_SHARE_WITHIN * len(lengths)) - 1)]
    steps = math.ceil(usual * _ROOM / _STEP_UNITS)
    return Shorter(max(_FEWEST_UNITS, steps * _STEP_UNITS))
