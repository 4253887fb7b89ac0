"""How long the host lives: it sleeps when nobody wants anything, and ends when nobody is there either.

The decision is a pure function; `Lifetime` looks at the service and carries it out.
"""

import threading
import time
from collections.abc import Callable
from enum import Enum
from typing import Final

from app.host.service import Service

LOOK_EVERY_S: Final = 0.5
QUIET_S: Final = 1.5
"""How long nobody must have wanted anything before the agent may write summaries."""


class Verdict(Enum):
    STAY = "stay"
    SLEEP = "sleep"
    """Drop the engine child; the next turn starts it again."""
    END = "end"


def judge(*, idle_s: float, limit_s: float, faces: int, pending_jobs: int, is_wanted: bool) -> Verdict:
    """What to do after `idle_s` without work. A limit of 0 is no limit; `is_wanted`: the user started it to stay."""
    if not limit_s or idle_s < limit_s:
        return Verdict.STAY
    return Verdict.SLEEP if faces or pending_jobs or is_wanted else Verdict.END


class Lifetime:
    """Watches until it is stopped; calls `end` when the host should."""

    def __init__(
        self,
        service: Service,
        end: Callable[[], None],
        *,
        limit_s: float,
        is_wanted: bool,
        pending_jobs: Callable[[], int] = lambda: 0,
        look_every_s: float = LOOK_EVERY_S,
    ) -> None:
        self._service = service
        self._end = end
        self._is_wanted = is_wanted
        self._pending_jobs = pending_jobs
        self._look_every_s = look_every_s
        self._limit_s = limit_s
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="lifetime", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        busy_at = time.monotonic()
        served, is_asleep = -1, False
        while not self._stopped.wait(self._look_every_s):
            if self._service.queue.is_busy or self._service.queue.served != served:
                busy_at, served, is_asleep = time.monotonic(), self._service.queue.served, False
            if self._service.is_quiet(QUIET_S):
                self._service.idle()
                self._service.suggestion_shelf.look()
            verdict = judge(
                idle_s=time.monotonic() - busy_at,
                limit_s=self._limit_s,
                faces=self._service.feed.followers,
                pending_jobs=self._pending_jobs(),
                is_wanted=self._is_wanted,
            )
            if verdict is Verdict.END:
                self._end()
                return
            if verdict is Verdict.SLEEP and not is_asleep:
                self._service.release()
                # Falling asleep is no work: a host that nobody needs ends later all the same.
                served, is_asleep = self._service.queue.served, True
