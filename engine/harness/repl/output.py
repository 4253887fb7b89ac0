"""What a block prints, cut to its head and tail and made harmless to show. Pure."""

import re
from typing import Final

# C0 but tab and line feed, delete, and C1: what moves cursors, sets titles and colours or rings.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class HeadAndTail:
    """Keeps the first and the last bytes of a stream, half of `most_bytes` each, and counts the rest."""

    def __init__(self, most_bytes: int) -> None:
        self._half = most_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total_bytes = 0

    def feed(self, data: bytes) -> None:
        self.total_bytes += len(data)
        missing = self._half - len(self._head)
        self._head += data[:missing]
        self._tail += data[max(missing, 0) :][-self._half :]
        del self._tail[: max(0, len(self._tail) - self._half)]

    def text(self) -> str:
        """Clean text; where something was left out, a line says how much."""
        head, tail = bytes(self._head), bytes(self._tail)
        left_out = self.total_bytes - len(head) - len(tail)
        if not left_out:
            return clean((head + tail).decode("utf-8", "replace"))
        # A character that the cut went through is left out with the rest.
        return clean(f"{head.decode('utf-8', 'ignore')}\n{_mark(left_out, 'bytes')}\n{tail.decode('utf-8', 'ignore')}")


def cut(text: str, most: int) -> str:
    """Head and tail of a text longer than `most` characters, with a line between them that says so; cleaned."""
    if len(text) <= most:
        return clean(text)
    half = most // 2
    return clean(f"{text[:half]}\n{_mark(len(text) - 2 * half, 'characters')}\n{text[-half:]}")


def clean(text: str) -> str:
    """Line ends as line feeds, and other control characters written out, so that no terminal obeys them."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def _mark(count: int, unit: str) -> str:
    return f"[... {count} {unit} left out here ...]"
