"""Traits of answers that begin or end with the same words every time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from local_training.lessons.traits import Fields, Values
from local_training.lessons.wording import has_han, length_units

_FEWEST_UNITS: Final = 2
_FEWEST_HAN: Final = 3
_MOST_CHARACTERS: Final = 120


@dataclass(frozen=True, slots=True)
class BeginsWith:
    kind: ClassVar[str] = "begins_with"
    text: str

    @property
    def values(self) -> Values:
        return {"text": self.text}

    def adheres(self, prompt: str, answer: str) -> bool:
        return answer.strip().startswith(self.text)

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        rest = answer.strip()
        return rest if rest.startswith(self.text) else f"{self.text}{_gap(self.text)}{rest}"


@dataclass(frozen=True, slots=True)
class EndsWith:
    kind: ClassVar[str] = "ends_with"
    text: str

    @property
    def values(self) -> Values:
        return {"text": self.text}

    def adheres(self, prompt: str, answer: str) -> bool:
        return answer.strip().endswith(self.text)

    def rewrite(self, prompt: str, answer: str, fields: Fields) -> str | None:
        begun = answer.strip()
        return begun if begun.endswith(self.text) else f"{begun}{_gap(begun)}{self.text}"


def infer_beginning(afters: Sequence[str], share: float) -> BeginsWith | None:
    """The longest text that at least `share` of the answers begin with, if it is more than a chance word."""
    text = _longest_common([after.strip() for after in afters], share)
    text = _whole_words(text, afters)
    return BeginsWith(text) if _is_telling(text) else None


def infer_ending(afters: Sequence[str], share: float) -> EndsWith | None:
    """The longest text that at least `share` of the answers end with, likewise."""
    turned = [after.strip()[::-1] for after in afters]
    text = _whole_words(_longest_common(turned, share), turned)[::-1].lstrip(" .,;:!?。，；：！？")
    return EndsWith(text) if _is_telling(text) else None


def _longest_common(texts: Sequence[str], share: float) -> str:
    best = ""
    for length in range(1, _MOST_CHARACTERS + 1):
        counted = Counter(text[:length] for text in texts if len(text) >= length)
        if not counted:
            break
        text, count = counted.most_common(1)[0]
        if count < share * len(texts):
            break
        best = text
    return best


def _whole_words(common: str, texts: Sequence[str]) -> str:
    """`common` without the piece of a word at its end, where a text goes on with the rest of that word."""
    following = {text[len(common)] for text in texts if text.startswith(common) and len(text) > len(common)}
    is_cut = common[-1:].isalnum() and not has_han(common[-1:]) and any(map(str.isalnum, following))
    while is_cut and common and common[-1].isalnum():
        common = common[:-1]
    return common.strip()


def _is_telling(text: str) -> bool:
    units = length_units(text)
    return units >= (_FEWEST_HAN if has_han(text) else _FEWEST_UNITS)


def _gap(before: str) -> str:
    return "" if before.endswith(("。", "！", "？", "，", "：", "\n")) else " "
