"""Progress of work that may be long: nothing is shown of what is done within two seconds."""

import time
from typing import Final

from app.output import ProgressLine
from ui.strings import say

_PATIENCE_S: Final = 2.0
_STEP_S: Final = 0.2


class Progress:
    """How many bytes of how many are done, on standard error."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._line = ProgressLine()
        self._next = time.monotonic() + _PATIENCE_S

    def show(self, done_bytes: int, total_bytes: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _STEP_S
            done, total = (f"{size / 2**20:,.0f}" for size in (done_bytes, total_bytes))
            self._line.show(say("backup.packing", self._language, done=done, total=total))

    def end(self) -> None:
        self._line.clear()
