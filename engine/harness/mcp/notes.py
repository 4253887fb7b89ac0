"""The last of what a server printed for people: bounded, and readable from any thread. Knows no server."""

import threading
from typing import Final

from engine.harness.mcp.cleaning import output

MOST_NOTE_BYTES: Final = 16 * 1024


class Notes:
    def __init__(self) -> None:
        self._kept = bytearray()
        self._left_out_bytes = 0
        self._changing = threading.Lock()

    def add(self, chunk: bytes) -> None:
        with self._changing:
            self._kept += chunk
            too_many = len(self._kept) - MOST_NOTE_BYTES
            if too_many > 0:
                del self._kept[:too_many]
                self._left_out_bytes += too_many

    def text(self) -> str:
        """What is kept, and how much went before it."""
        with self._changing:
            text = self._kept.decode("utf-8", errors="replace")
            before = f"[{self._left_out_bytes} bytes before this]\n" if self._left_out_bytes else ""
        return before + output(text, MOST_NOTE_BYTES)
