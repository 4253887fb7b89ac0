"""The body of a request, read whole before any route sees it: not too large, not too slow, not too deep.

A route therefore never holds the engine or a thread for a client that is still sending. Knows no route.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from app.gate.policy import Refusal

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_MAX_NESTING: Final = 100
"""Python's JSON reader calls itself at each level and fails near a thousand."""
# Possessive, so that a long text costs no memory for going back.
_STRINGS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))


@dataclass(frozen=True, slots=True)
class BodyLimits:
    chunk_s: float = 10.0
    """How long a client may be silent."""
    whole_s: float = 60.0
    held_bytes: int = 256 << 20
    """Of all bodies at once that are being read or answered."""


class Gone(Exception):
    """The client hung up before its body was complete."""


class Bodies:
    """Use from one event loop."""

    def __init__(self, limits: BodyLimits) -> None:
        self._limits = limits
        self._held_bytes = 0

    async def read(self, receive: Receive, limit_bytes: int) -> bytes | Refusal:
        """All of it; `release` it when it is answered. Raises: Gone."""
        body = bytearray()
        is_whole = False
        try:
            refusal = await self._collect(receive, limit_bytes, body)
            is_whole = refusal is None
        finally:
            if not is_whole:
                self.release(len(body))
        return bytes(body) if refusal is None else refusal

    def release(self, size_bytes: int) -> None:
        self._held_bytes -= size_bytes

    async def _collect(self, receive: Receive, limit_bytes: int, body: bytearray) -> Refusal | None:
        deadline = asyncio.get_running_loop().time() + self._limits.whole_s
        while True:
            try:
                async with asyncio.timeout_at(deadline), asyncio.timeout(self._limits.chunk_s):
                    message = await receive()
            except TimeoutError:
                return Refusal("body_too_slow", 408)
            if message["type"] == "http.disconnect":
                raise Gone
            chunk = message.get("body", b"")
            if len(body) + len(chunk) > limit_bytes:
                return Refusal("body_too_large", 413)
            if self._held_bytes + len(chunk) > self._limits.held_bytes:
                return Refusal("busy", 503, retry_after_s=1)
            body += chunk
            self._held_bytes += len(chunk)
            if not message.get("more_body", False):
                return None


def check_nesting(body: bytes) -> Refusal | None:
    """Refuses JSON that is nested so deeply that reading it fails, before anything reads it."""
    if body.count(b"[") + body.count(b"{") <= _MAX_NESTING:
        return None
    brackets = np.frombuffer(_STRINGS.sub(b"", body).translate(None, _NO_BRACKETS), dtype=np.uint8)
    # Of "[]{}" only the opening ones have the second bit: +1 for each of them, -1 for each that closes.
    depths = np.cumsum((brackets & 2).astype(np.int8) - 1, dtype=np.int32)
    return Refusal("body_too_deep", 400) if depths.size and depths.max() > _MAX_NESTING else None
