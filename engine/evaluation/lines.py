"""JSON Lines that are data of an evaluation: every line read strictly, with the file and the line in every refusal.

What is read wrongly would be judged wrongly, so nothing is passed over. Knows no suite.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.errors import UsageProblem
from engine.json_lines import Wrong, demand, numbered_lines, object_of

MOST_FILE_BYTES: Final = 8 << 20
MOST_LINE_BYTES: Final = 64 << 10
MOST_TEXT_CHARACTERS: Final = 8000
MOST_NAME_CHARACTERS: Final = 120
MOST_LISTED: Final = 64
_HINT: Final = "Correct this line. Nothing of the file was used."


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    """From 1."""
    value: dict[str, Any]


def read_content(path: Path, shown: str) -> bytes:
    """All bytes of a file that is called `shown`. Raises: UsageProblem when it cannot be read or is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise UsageProblem(
            f"{shown} cannot be read: {error.strerror or error}.", "Check its path and whether you may read it."
        ) from error
    if len(content) > MOST_FILE_BYTES:
        raise UsageProblem(f"{shown} is larger than {MOST_FILE_BYTES >> 20} MiB.", "Split it into several suites.")
    return content


def parse_lines(content: bytes, shown: str) -> Iterator[Line]:
    """The objects of all lines. Raises: UsageProblem at the first that is none."""
    for number, line in numbered_lines(content):
        try:
            value = object_of(line, MOST_LINE_BYTES)
        except Wrong as wrong:
            raise problem_at(shown, number, wrong) from None
        yield Line(number, value)


def problem_at(shown: str, number: int, wrong: Wrong) -> UsageProblem:
    return UsageProblem(f"{shown}, line {number}: {wrong}.", _HINT)


def text_of(value: Any, what: str) -> str:
    """A text with something to read in it and no characters that steer a screen. Raises: Wrong."""
    demand(isinstance(value, str) and value.strip() != "", f"{what} must be a text that is not empty")
    demand(len(value) <= MOST_TEXT_CHARACTERS, f"{what} has more than {MOST_TEXT_CHARACTERS:,} characters")
    for character in value:
        is_steering = unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t"
        demand(not is_steering, f"{what} holds the control character U+{ord(character):04X}")
    return str(value)


def name_of(value: Any, what: str) -> str:
    """A text of one line without space around it. Raises: Wrong."""
    name = text_of(value, what)
    demand(name.strip() == name and name.isprintable(), f"{what} must be one line without space around it")
    demand(len(name) <= MOST_NAME_CHARACTERS, f"{what} has more than {MOST_NAME_CHARACTERS} characters")
    return name


def listed(value: Any, what: str) -> list[Any]:
    """A list that is not empty. Raises: Wrong."""
    demand(isinstance(value, list) and value != [], f"{what} must be a list that is not empty")
    demand(len(value) <= MOST_LISTED, f"{what} lists more than {MOST_LISTED}")
    return list(value)


def whole_number(value: Any, what: str, most: int) -> int:
    """From 1 to `most`. Raises: Wrong."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    demand(is_whole and 1 <= value <= most, f"{what} must be a whole number from 1 to {most}")
    return int(value)
