"""Failed tries by address, so that guessing is slow. Knows no secret and no request."""

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

_MAX_ADDRESSES: Final = 1024
"""With more, the one whose last failure is oldest is forgotten, so the table cannot be made to grow."""


class FailedTries:
    """At most `limit` failures of one address within `window_s` seconds."""

    def __init__(self, limit: int = 10, window_s: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._window_s = window_s
        self._clock = clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def add(self, address: str) -> None:
        failures = self._failures.setdefault(address, deque(maxlen=self._limit))
        failures.append(self._clock())
        self._failures.move_to_end(address)
        if len(self._failures) > _MAX_ADDRESSES:
            self._failures.popitem(last=False)

    def wait_s(self, address: str) -> int:
        """Whole seconds until the address may try again; 0 when it may now."""
        failures = self._failures.get(address)
        if failures is None or len(failures) < self._limit:
            return 0
        return max(0, math.ceil(failures[0] + self._window_s - self._clock()))
