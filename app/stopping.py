"""Ctrl+C and polite ends of the process, heard so that what runs can end in order. Knows nothing of what runs."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def heard_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """SIGINT and SIGTERM go to `handler` inside the block, and where they went before after it. Main thread only."""
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def _nothing() -> None:
    """For those to whom the flag is enough."""


@contextmanager
def set_by_signals(also: Callable[[], None] = _nothing) -> Iterator[threading.Event]:
    """The first Ctrl+C, or a polite end of the process, sets the flag; the next Ctrl+C ends at once.

    `also` is called after the flag is set, from within the signal's handler.
    """
    asked = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        asked.set()
        also()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    with heard_by(ask):
        yield asked
