"""Where an answer gives back what a user said: the words that both have in a row, and names and numbers. Pure.

For answers to whoever said it, and for those that were written with a memory of it: there the same words are hardly a
chance. Elsewhere they may well be one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

FEWEST_WORDS: Final = 3
"""In a row, of words that are separated."""
FEWEST_CHARACTERS: Final = 4
"""In a row, of Chinese, Japanese and Korean."""
_LONGEST_CHARACTERS: Final = 20_000
"""Of an answer; what comes behind is not compared."""
_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7fb\uf900-\ufaff"
_UNIT: Final = re.compile(rf"[{_CJK}]|[^\W_{_CJK}](?:[^\W_{_CJK}]|['’-](?=[^\W_{_CJK}]))*")
_ENDS_SENTENCE: Final = re.compile(r"[.!?。！？:]\s*$")
_SHORTEST_NAME: Final = 3


@dataclass(frozen=True, slots=True)
class _Unit:
    """A word, or a character of a script without spaces, and where it stands."""

    text: str
    start: int
    end: int
    is_character: bool


def echoes(said: Iterable[str], answer: str) -> tuple[str, ...]:
    """The parts of `answer`, as they stand there, that give back what was said."""
    heard = _units(answer[:_LONGEST_CHARACTERS])
    found = set[str]()
    for text in said:
        told = _units(text)
        for start, length in _common_runs(told, heard):
            run = heard[start : start + length]
            words = sum(not unit.is_character for unit in run)
            if words >= FEWEST_WORDS or length - words >= FEWEST_CHARACTERS:
                found.add(answer[run[0].start : run[-1].end])
        names = set(_names(text, told))
        found.update(answer[unit.start : unit.end] for unit in heard if unit.text in names)
    return tuple(sorted(found))


def _units(text: str) -> list[_Unit]:
    return [
        _Unit(match[0].casefold(), match.start(), match.end(), re.match(f"[{_CJK}]", match[0]) is not None)
        for match in _UNIT.finditer(text)
    ]


def _common_runs(told: list[_Unit], heard: list[_Unit]) -> Iterator[tuple[int, int]]:
    """(start in `heard`, length) of all runs that both have and that go on no further."""
    before = [0] * (len(heard) + 1)
    for row, unit in enumerate(told):
        now = [0] * (len(heard) + 1)
        for place, other in enumerate(heard):
            if other.text == unit.text:
                now[place + 1] = length = before[place] + 1
                goes_on = row + 1 < len(told) and place + 1 < len(heard) and told[row + 1].text == heard[place + 1].text
                if not goes_on:
                    yield place + 1 - length, length
        before = now


def _names(text: str, units: list[_Unit]) -> Iterator[str]:
    """Words with a capital within a sentence, and numbers; folded, as units are."""
    for unit in units:
        word = text[unit.start : unit.end]
        is_number = any(sign.isdigit() for sign in word) and len(word) > 1
        is_within = unit.start > 0 and not _ENDS_SENTENCE.search(text[: unit.start])
        is_name = word[0].isupper() and len(word) >= _SHORTEST_NAME and is_within and "'" not in word
        if is_number or is_name:
            yield unit.text
