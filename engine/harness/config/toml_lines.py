"""Find the line of a key in a TOML text, by reading ever shorter beginnings of it with the standard reader.

tomllib tells no positions. Whatever a TOML text may look like, its first whole lines up to a point are TOML themselves
unless a value goes on; so the key stands where the first beginning ends that has it.
"""

import tomllib
from collections.abc import Sequence
from typing import Any, Final

Step = str | int

_MOST_VALUE_LINES: Final = 60
"""Lines of one value that are looked through."""


def line_of(text: str, path: Sequence[Step]) -> int | None:
    """The line, from 1, on which the value at `path` begins, or the nearest table around it; None for neither.

    `text` must be valid TOML.
    """
    lines = text.split("\n")
    whole = tomllib.loads(text)
    depth = len(path)
    while depth and not _holds(whole, path[:depth]):
        depth -= 1
    if not depth:
        return None
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        cut = _readable(lines, middle)
        if cut is None:
            return None
        if _holds(tomllib.loads("\n".join(lines[:cut])), path[:depth]):
            high = cut
        else:
            low = middle
    # Everything from the last readable beginning without the key to the first one with it is one statement.
    before = _readable(lines, high - 1)
    return None if before is None else before + 1


def _readable(lines: Sequence[str], most: int) -> int | None:
    """The most lines, up to `most`, that are TOML by themselves."""
    for count in range(most, max(-1, most - _MOST_VALUE_LINES), -1):
        try:
            tomllib.loads("\n".join(lines[:count]))
        except ValueError:
            continue
        return count
    return None


def _holds(value: Any, path: Sequence[Step]) -> bool:
    for step in path:
        is_there = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if not is_there:
            return False
        value = value[step]
    return True
