"""What happens in the host, for faces that want to stay in step: numbered, and resumable after a gap.

Knows no HTTP. Events say that something changed, never what: who cares asks for it. Only a notice says it all.
"""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Final

KEPT: Final = 1024
"""Events that can still be had after a gap; beyond it a follower is told to look at everything anew."""


@dataclass(frozen=True, slots=True)
class HostEvent:
    """`name`: turn_opened, turn_closed, conversation, profile, engine, job_notice, or reset after a gap that cannot be
    filled."""

    number: int
    name: str
    values: Mapping[str, Any]


class Feed:
    """Publish from any thread; follow in an event loop."""

    def __init__(self) -> None:
        self._events: deque[HostEvent] = deque(maxlen=KEPT)
        self._next = 0
        self._lock = threading.Lock()
        self._listeners: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}

    @property
    def followers(self) -> int:
        return len(self._listeners)

    @property
    def newest(self) -> int:
        """Number of the newest event; -1 before the first."""
        return self._next - 1

    def publish(self, name: str, **values: Any) -> None:
        with self._lock:
            self._events.append(HostEvent(self._next, name, values))
            self._next += 1
            for loop, woken in self._listeners.values():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(woken.set)

    async def follow(self, after: int | None) -> AsyncGenerator[HostEvent, None]:
        """Events behind number `after`; None: from now on. Ends only when it is closed."""
        woken = asyncio.Event()
        key = id(woken)
        with self._lock:
            self._listeners[key] = (asyncio.get_running_loop(), woken)
            position = self._next if after is None else after + 1
        try:
            while True:
                woken.clear()
                for event in self._since(position):
                    position = event.number + 1
                    yield event
                await woken.wait()
        finally:
            with self._lock:
                self._listeners.pop(key, None)

    def _since(self, position: int) -> list[HostEvent]:
        with self._lock:
            oldest = self._events[0].number if self._events else self._next
            if position < oldest or position > self._next:
                return [HostEvent(self._next - 1, "reset", {})]
            return [event for event in self._events if event.number >= position]
