"""Which messages hold pasted text. Pure: texts in, provenance out; knows no widget.

Only what a person typed may write memory or teach, and a message is judged as a whole. What was pasted is looked for in
the message itself, so that it is found again in a draft, an earlier prompt or an edited message, and no longer counts
once the user has deleted it.
"""

from engine.values import Provenance

MAX_SHORT_CHARACTERS = 200
"""One pasted line up to this long is as good as typed: people paste names and addresses."""
PIECE_CHARACTERS = 32
"""Pasted text is recognised by any piece of this length, so that changing some of its words does not hide the rest."""


class PastedText:
    """Remembers what was pasted since the program began, and what was read from the history."""

    def __init__(self) -> None:
        self._pieces: set[str] = set()

    def paste(self, text: str) -> None:
        """`text` was pasted just now; it counts when it is more than a short line."""
        if "\n" in text.strip() or len(text.strip()) > MAX_SHORT_CHARACTERS:
            self.remember(text)

    def remember(self, text: str) -> None:
        """`text` did not come from the keyboard, whatever its length."""
        said = _comparable(text)
        starts = range(0, len(said) - PIECE_CHARACTERS + 1, PIECE_CHARACTERS)
        self._pieces.update(said[start : start + PIECE_CHARACTERS] for start in starts)

    def provenance(self, message: str) -> Provenance:
        """`pasted` when a piece of what was remembered is in `message`."""
        said = _comparable(message)
        starts = range(len(said) - PIECE_CHARACTERS + 1)
        return "pasted" if any(said[start : start + PIECE_CHARACTERS] in self._pieces for start in starts) else "typed"


def _comparable(text: str) -> str:
    """`text` with all white space as single spaces: wrapping and indenting it anew changes nothing."""
    return " ".join(text.split())
