"""Bytes from a server into the lines that are its messages, however they are cut and however long. Pure.

A line beyond the limit is never held: only its two ends are kept, which may say which call it would have answered.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine.errors import UsageProblem

_KEPT_BYTES: Final = 256
_ID: Final = rb'"id"\s*:\s*(\d{1,18}|"[A-Za-z0-9_.:-]{1,100}")'
# A key right after the opening brace, or right before the last one, belongs to the message itself and to nothing in it.
_ID_FIRST: Final = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + rb"\s*,")
_ID_LAST: Final = re.compile(rb"," + rb"\s*" + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line that was passed over."""

    head: bytes
    tail: bytes
    size_bytes: int

    @property
    def answered(self) -> int | str | None:
        """The id of the call that it answers, where either end tells."""
        found = _ID_FIRST.match(self.head) or _ID_LAST.search(self.tail)
        if found is None:
            return None
        return found[1].decode()[1:-1] if found[1].startswith(b'"') else int(found[1])


class LineReader:
    """Feed it bytes, get the lines that are complete, without their ends."""

    def __init__(self, most_bytes: int, most_passed_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._most_passed_bytes = most_passed_bytes
        """Of one line, passed over; beyond it a server is taken to print for ever."""
        self._held = bytearray()
        self._passed_bytes = 0
        """Of the line being passed over; 0 while the line is held."""
        self._tail = b""

    def feed(self, chunk: bytes) -> Iterator[bytes | LongLine]:
        """Raises: UsageProblem when a line does not end."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._take(piece)
            yield self._line()
        self._take(rest)

    def _take(self, piece: bytes) -> None:
        if self._passed_bytes:
            self._passed_bytes += len(piece)
            self._tail = (self._tail + piece)[-_KEPT_BYTES:]
            if self._passed_bytes > self._most_passed_bytes:
                raise UsageProblem("It sent a message that does not end.")
            return
        self._held += piece
        if len(self._held) > self._most_bytes:
            self._passed_bytes = len(self._held)
            self._tail = bytes(self._held[-_KEPT_BYTES:])
            del self._held[_KEPT_BYTES:]

    def _line(self) -> bytes | LongLine:
        line: bytes | LongLine = bytes(self._held)
        if self._passed_bytes:
            line = LongLine(bytes(self._held), self._tail, self._passed_bytes)
        self._held = bytearray()
        self._passed_bytes = 0
        return line
