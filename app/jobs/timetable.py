"""The timer of the host, on APScheduler: wakes the runner when something is due. The only user of its scheduler.

Knows one moment, not the jobs: these, and what became of their times, are in the database, where they outlive the
process and can be read without running anything.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.date import DateTrigger

_ENTRY: Final = "due"
_MOST_AT_ONCE: Final = 3
"""A waking that is not over yet must not keep the next one from coming; they follow each other on one thread."""


class Timer:
    """`wake` is called on a thread of its own and must be quick."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._scheduler = BackgroundScheduler(timezone=UTC, executors={"default": ThreadPoolExecutor(1)}, daemon=True)
        self._changing = threading.Lock()
        self._is_stopped = False

    def start(self) -> None:
        self._scheduler.start()

    def stop(self) -> None:
        """Waits for a waking that goes on; none comes afterwards."""
        # The scheduler must find nothing due while it shuts down, nor be asked for anything by what it waits for.
        with self._changing:
            self._is_stopped = True
            self._scheduler.remove_all_jobs()
        self._scheduler.shutdown(wait=True)

    def wake_at(self, moment: datetime | None) -> None:
        """See `app.jobs.runner.Timetable`. A moment that is over wakes at once."""
        with self._changing:
            if self._is_stopped:
                return
            if moment is None:
                with suppress(JobLookupError):  # it may be waking just now
                    self._scheduler.remove_job(_ENTRY)
                return
            # However late it is noticed: what that means for a job is said by the policy of the job.
            self._scheduler.add_job(
                self._wake,
                DateTrigger(moment),
                id=_ENTRY,
                replace_existing=True,
                misfire_grace_time=None,
                max_instances=_MOST_AT_ONCE,
            )
