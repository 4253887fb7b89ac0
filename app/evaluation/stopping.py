"""A flag that Ctrl+C sets, so that what runs can end in order. Knows nothing of what runs."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from engine.runtime.protocol import Stop


@contextmanager
def set_by_signals() -> Iterator[Stop]:
    """The first Ctrl+C, or a polite end of the process, sets the flag; the next Ctrl+C ends at once."""
    asked = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    previous = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
