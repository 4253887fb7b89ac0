"""Make text that others wrote harmless to a terminal.

Pure: text in, text out. What remains holds no control character, so no terminal can take it for a command, and no
character that turns the order of what is read. Markup is not its affair: whoever draws the text draws it as plain.
"""

import re
import unicodedata
from collections.abc import Sequence

MAX_SEQUENCE_CHARACTERS = 2048
"""A longer control string is no longer taken for one: only its first characters go and the rest is shown."""

_CONTROL = "\x00-\x1f\x7f-\x9f"
_STRING = rf"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^{_CONTROL}]{{0,{MAX_SEQUENCE_CHARACTERS}}}"
_PARAMETERS = r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}"

# ECMA-48: control sequences such as colours, control strings such as titles and links (OSC), two-character escapes.
_SEQUENCE = rf"{_PARAMETERS}[@-~]|{_STRING}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]{{0,8}}[0-~]"
# C0 but tab and newline, DEL, C1, bidirectional embeddings, overrides and isolates, deprecated format characters, BOM.
_UNSEEN = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\ufeff]"
# Half of a surrogate pair cannot be written to any terminal.
_SURROGATE = r"[\ud800-\udfff]"
_LINE_END = r"\r\n?|[\u2028\u2029]"
# One pass, so that nothing can be put together from what stood on both sides of something removed.
_REPLACED = re.compile(rf"(?P<line_end>{_LINE_END})|(?P<surrogate>{_SURROGATE})|{_SEQUENCE}|{_UNSEEN}")
_REPLACEMENTS = {"line_end": "\n", "surrogate": "\ufffd", None: ""}
# The end of a text that may yet become a sequence (or the first half of a line end).
_UNFINISHED = re.compile(rf"(?:{_PARAMETERS}|{_STRING}\x1b?|\x1b[ -/]{{0,8}}|\r)\Z")


def display_text(text: str) -> str:
    """`text` without control sequences, control characters and direction overrides; newlines and tabs stay."""
    return _REPLACED.sub(lambda found: _REPLACEMENTS[found.lastgroup], text)


def display_line(text: str, max_cells: int | None = None) -> str:
    """`display_text` on one line, cut to `max_cells` terminal cells with an ellipsis."""
    line = " ".join(display_text(text).split())
    if max_cells is None or cell_width(line) <= max_cells:
        return line
    kept = ""
    for character in line:
        if cell_width(kept + character) > max_cells - 1:
            break
        kept += character
    return kept + "…"


def cell_width(text: str) -> int:
    """Terminal cells that `text` takes: wide East Asian characters take two, combining ones none."""
    return sum(_character_width(character) for character in text)


def aligned(facts: Sequence[tuple[str, str]]) -> list[str]:
    """(what, value) a line, with the values below one another."""
    width = max((cell_width(what) for what, _ in facts), default=0)
    return [f"{what}{' ' * (width - cell_width(what))}  {value}" for what, value in facts]


def _character_width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


class DisplayStream:
    """`display_text` for a text that arrives in pieces; a sequence cut between two pieces is still seen whole."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown now; the start of a possible sequence is held back."""
        text = self._held + piece
        unfinished = _UNFINISHED.search(text)
        cut = unfinished.start() if unfinished else len(text)
        self._held = text[cut:]
        return display_text(text[:cut])

    def flush(self) -> str:
        """What was held back, at the end of the text."""
        rest, self._held = self._held, ""
        return display_text(rest)
