"""Text without what is not seen. Pure."""

import unicodedata
from typing import Final

_KEPT: Final = "\n\t\u200c\u200d"
"""Line ends, and what words of several languages and emoji are joined with."""


def visible(text: str) -> str:
    """Without characters that are not seen: those that turn text around, that hide in it, or that steer a terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character for character in text if character in _KEPT or _is_seen(character))


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cs", "Cn")
