"""What may interrupt a run: a file that asks it to wait, one that asks it to end, a parent that is gone.

A thread looks; whoever computes calls `check` between two small pieces of work, where it waits while it should. The
engine is stopped instead, and asked again afterwards: what it draws depends on the seeds alone.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import Final

from local_training.runs.folder import RunFolder

_LOOK_S: Final = 0.2
_STANDARD_INPUT: Final = 0


class Interrupted(BaseException):
    """The run shall end with what it has; raised where it can be left. Not an error, so that nothing catches it."""


class Signals:
    """Use as a context manager. Is a `Stop` for the runtime: set while the run shall wait or end.

    Whoever starts a run takes away what is left of an earlier one; here both files are only looked at.
    """

    def __init__(self, folder: RunFolder, on_pause: Callable[[bool], None]) -> None:
        """`on_pause` is called with True when the run begins to wait and with False when it goes on."""
        self._folder = folder
        self._on_pause = on_pause
        self._end = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._over = threading.Event()
        self._reason = ""
        self.paused_seconds = 0.0
        """Spent waiting so far."""

    def __enter__(self) -> "Signals":
        threading.Thread(target=self._watch, name="run signals", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def is_set(self) -> bool:
        return self._end.is_set() or not self._go.is_set()

    def ask_to_end(self, reason: str) -> None:
        self._reason = self._reason or reason
        self._end.set()
        self._go.set()

    def check(self) -> float:
        """Wait while the run is paused; the seconds waited. Raises: Interrupted when it shall end."""
        waited = 0.0
        if not self._go.is_set():
            began = time.monotonic()
            self._on_pause(True)
            self._go.wait()
            waited = time.monotonic() - began
            self.paused_seconds += waited
            if not self._end.is_set():
                self._on_pause(False)
        if self._end.is_set():
            raise Interrupted(self._reason)
        return waited

    def watch_parent(self) -> None:
        """End when standard input does: whoever started this run holds the other end."""

        def wait() -> None:
            with contextlib.suppress(OSError):
                while os.read(_STANDARD_INPUT, 4096):
                    pass
            self.ask_to_end("The program that started it has ended.")

        threading.Thread(target=wait, name="run parent", daemon=True).start()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK_S):
            if self._folder.stop.exists():
                self.ask_to_end("It was asked to end.")
            if self._folder.pause.exists() and not self._end.is_set():
                self._go.clear()
            else:
                self._go.set()
