"""Which of some names was meant by one that is written a little otherwise. Never a guess between two. Pure."""

import re
from collections.abc import Callable, Collection
from typing import Final

MOST_NAME_CHARACTERS: Final = 128
_LEAST_WORD_CHARACTERS: Final = 5
"""A slip in a shorter word is as likely another word: `get` and `set`."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_NAMESPACE: Final = re.compile(r".*[.:/]", re.DOTALL)


def meant_name(name: str, names: Collection[str]) -> str | None:
    """The one name that `name` stands for, by its spelling, then without its namespace, then up to one slip."""
    if name in names:
        return name
    if len(name) > MOST_NAME_CHARACTERS:
        return None
    plain = name.strip().strip("\"'`").strip()
    last = _NAMESPACE.sub("", plain)
    return _only(names, lambda known: known in (plain, last)) or same_name(plain, names) or _nearly(last, names)


def same_name(name: str, names: Collection[str]) -> str | None:
    """The one name that differs in case and separators at most."""
    if name in names:
        return name
    folded = _folded(name)
    return _only(names, lambda known: _folded(known) == folded) if folded else None


def _nearly(name: str, names: Collection[str]) -> str | None:
    return same_name(name, names) or _only(names, lambda known: _differs_by_a_slip(_words(name), _words(known)))


def _only(names: Collection[str], fits: Callable[[str], bool]) -> str | None:
    found = [name for name in names if fits(name)]
    return found[0] if len(found) == 1 else None


def _folded(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORDS.findall(name)]


def _differs_by_a_slip(words: list[str], known: list[str]) -> bool:
    """One word of them, by one letter that is missing, too many, or exchanged with its neighbour."""
    if len(words) != len(known):
        return False
    different = [pair for pair in zip(words, known, strict=True) if pair[0] != pair[1]]
    if len(different) != 1:
        return False
    one, other = different[0]
    if len(other) < _LEAST_WORD_CHARACTERS or one[0] != other[0]:
        return False
    if len(one) == len(other):
        at = [place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
        return len(at) == 2 and at[1] == at[0] + 1 and one[at[0]] == other[at[1]] and one[at[1]] == other[at[0]]
    shorter, longer = sorted((one, other), key=len)
    return len(longer) == len(shorter) + 1 and any(
        longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer))
    )
