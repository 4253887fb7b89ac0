"""Rewards that compare an answer with the right one: as text, as a number, as a set.

They decide: at 1 the answer is right, at 0 it is wrong.
"""

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from local_training.rewards.numbers import WrittenNumber, numbers_in
from local_training.rewards.parameters import Parameters
from local_training.rewards.values import Judgement, Outcome, right_if

Where = Literal["whole", "last_line", "anywhere"]

_EDGES: Final = " \t\r\n.。!！?？,，;；:：\"'“”‘’`*_()（）"
_SEPARATORS: Final = re.compile(r"[,，、;；\n]|\s+(?:and|or)\s+|和|以及")


@dataclass(frozen=True, slots=True)
class Exact:
    """One of the expected texts. `where` is what must be it: the whole answer, its last line, or any words in it."""

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = True
    expected: tuple[str, ...]
    where: Where = "whole"
    ignore_case: bool = True

    @classmethod
    def read(cls, parameters: Parameters) -> "Exact":
        reward = cls(
            parameters.texts("expected"),
            parameters.choice("where", ("whole", "last_line", "anywhere"), "whole"),
            parameters.flag("ignore_case", True),
        )
        if not all(plain(one) for one in reward.expected):
            raise parameters.problem("`expected` holds a text of punctuation alone")
        return reward

    def judge(self, outcome: Outcome) -> Judgement:
        lines = [line for line in outcome.text.splitlines() if plain(line)]
        said = lines[-1] if self.where == "last_line" and lines else outcome.text
        said = plain(said, self.ignore_case)
        for one in self.expected:
            wanted = plain(one, self.ignore_case)
            if said == wanted or (self.where == "anywhere" and _contains(said, wanted)):
                return right_if(True, f"it says {one!r:.80}")
        return right_if(False, f"it says {said!r:.80}, not {self.expected[0]!r:.80}")


@dataclass(frozen=True, slots=True)
class Numeric:
    """A number of the answer, within a tolerance, in one of the units if any are named."""

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = True
    expected: float
    tolerance: float = 0.0
    relative_tolerance: float = 1e-9
    units: tuple[str, ...] = ()
    """Spellings of the same unit, such as "km" and "公里"; one must follow the number, or precede it as "$" does."""
    position: Literal["last", "first", "only"] = "last"

    @classmethod
    def read(cls, parameters: Parameters) -> "Numeric":
        return cls(
            parameters.number("expected"),
            parameters.number("tolerance", 0.0, least=0.0),
            parameters.number("relative_tolerance", 1e-9, least=0.0, most=1.0),
            parameters.texts("units", least=0),
            parameters.choice("position", ("last", "first", "only"), "last"),
        )

    def judge(self, outcome: Outcome) -> Judgement:
        found = list(numbers_in(outcome.text))
        if not found:
            return right_if(False, "it holds no number")
        if self.position == "only" and len(found) > 1:
            return right_if(False, f"it holds {len(found)} numbers instead of one")
        number = found[0 if self.position == "first" else -1]
        is_close = math.isclose(number.value, self.expected, rel_tol=self.relative_tolerance, abs_tol=self.tolerance)
        if is_close and self.units and not any(_has_unit(number, unit) for unit in self.units):
            return right_if(False, f"the number {number.value:g} stands without the unit {self.units[0]!r:.40}")
        return right_if(is_close, f"it says {number.value:g}, {'as' if is_close else 'not'} {self.expected:g}")


@dataclass(frozen=True, slots=True)
class SetMatch:
    """The same items in any order. `partial` gives the harmonic mean of precision and recall instead of all or none."""

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = True
    expected: tuple[str, ...]
    partial: bool = False

    @classmethod
    def read(cls, parameters: Parameters) -> "SetMatch":
        reward = cls(parameters.texts("expected"), parameters.flag("partial", False))
        if len({plain(one) for one in reward.expected} - {""}) < len(reward.expected):
            raise parameters.problem("`expected` holds an item twice or one of punctuation alone")
        return reward

    def judge(self, outcome: Outcome) -> Judgement:
        wanted = {plain(one) for one in self.expected}
        said = {plain(_without_bullet(one)) for one in _SEPARATORS.split(outcome.text)} - {""}
        shared = len(wanted & said)
        value = 2 * shared / (len(wanted) + len(said))
        reason = f"{shared} of {len(wanted)} items, and {len(said) - shared} others"
        return Judgement(value, reason) if self.partial else right_if(value == 1.0, reason)


def plain(text: str, ignore_case: bool = True) -> str:
    """A text for comparing: one form per character, single spaces, no punctuation at its ends."""
    text = " ".join(unicodedata.normalize("NFKC", text).split()).strip(_EDGES)
    return text.casefold() if ignore_case else text


def _contains(said: str, wanted: str) -> bool:
    """As whole words: "Oslo" is not in "Oslow". Chinese has no space between words, so any place counts there."""
    start = said.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not _joins(said[start - 1 : start], wanted[0]) and not _joins(wanted[-1], said[end : end + 1]):
            return True
        start = said.find(wanted, start + 1)
    return False


def _joins(left: str, right: str) -> bool:
    return all(one != "" and one.isalnum() and not "\u2e80" <= one <= "\u9fff" for one in (left, right))


def _without_bullet(item: str) -> str:
    return re.sub(r"\A\s*(?:[-*•·]|[0-9]{1,3}[.)、])\s*", "", item)


def _has_unit(number: WrittenNumber, unit: str) -> bool:
    spelled = unicodedata.normalize("NFKC", unit).casefold()
    after, before = number.after.casefold(), number.before.casefold()
    if after.startswith(spelled):
        return not _joins(spelled[-1], after[len(spelled) : len(spelled) + 1])
    return not spelled[-1].isalnum() and before.endswith(spelled)
