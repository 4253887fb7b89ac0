"""Runs jobs: plans what is due, runs one at a time, writes down what came of it, and tells the user of it.

What is due, let go or blocked is decided below, in `engine.jobs`; here are the threads. Reading and changing jobs waits
for no run. A run whose process dies stays written down as running, and the next host finds it.
"""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Protocol

from app.jobs.kinds import Finished, JobKinds
from app.jobs.wording import blocked_text, failed_text, unknown_kind
from engine.errors import AgentError, RuntimeFailed, ScoringStopped, boundary
from engine.jobs.keeping import KeptJobs
from engine.jobs.values import Job, JobNotice, Outcome, Run

LOOK_EVERY_S: Final = 15.0
"""How often the clock is looked at although nothing should be due: it may have been set, or the machine have slept."""
_PATIENCE_S: Final = 5.0
"""How long a run may take to stop when the host ends."""

_log = logging.getLogger(__name__)


class Timetable(Protocol):
    """Wakes at a moment; may be late, or wake for nothing."""

    def wake_at(self, moment: datetime | None) -> None:
        """Only the last one that was given counts; None: not at all."""
        ...


def system_clock() -> datetime:
    return datetime.now(UTC)


class Runner:
    """Make one per host; `start` and `stop` it. `tell` may take seconds and must raise nothing but AgentError."""

    def __init__(
        self,
        kept: KeptJobs,
        kinds: JobKinds,
        tell: Callable[[JobNotice], None],
        *,
        language: str,
        clock: Callable[[], datetime] = system_clock,
    ) -> None:
        self._kept = kept
        self._kinds = kinds
        self._tell = tell
        self._language = language
        self._clock = clock
        self._timetable: Timetable | None = None
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._current: tuple[int, threading.Event] | None = None
        """The job that runs, and how to stop it."""
        self._changing = threading.Lock()
        self._planning = threading.Lock()
        self._has_recovered = False
        """Whether what the last host left behind has been looked at."""
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)

    # For the host

    def start(self, timetable: Timetable) -> None:
        """Find out what happened while no host ran, and begin; where the disk is full, as soon as it is not."""
        self._timetable = timetable
        self._try(self._plan)
        self._thread.start()

    def end_soon(self) -> None:
        """Begin nothing more, and stop what runs; it counts as interrupted. What waits is kept."""
        self._stopping.set()
        with self._changing:
            if self._current is not None:
                self._current[1].set()
        self._woken.set()

    def stop(self) -> None:
        """As `end_soon`, and wait for it."""
        self.end_soon()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE_S)

    # From any thread

    def look(self) -> None:
        """Plan what is due by now, and have it run. Raises: StoreProblem."""
        self._plan()
        self._woken.set()

    def stop_job(self, job_id: int) -> None:
        """Stop this job if it is the one that runs."""
        with self._changing:
            if self._current is not None and self._current[0] == job_id:
                self._current[1].set()

    # On the thread of the runs

    def run_waiting(self) -> None:
        """Run all that waits, one after the other. Raises: StoreProblem."""
        while not self._stopping.is_set() and (begun := self._kept.begin(self._clock())) is not None:
            job, run = begun
            stop = threading.Event()
            with self._changing:
                self._current = job.job_id, stop
                if self._stopping.is_set():
                    stop.set()
            try:
                self._run(job, run, stop)
            finally:
                with self._changing:
                    self._current = None

    def _work(self) -> None:
        while not self._stopping.is_set():
            if self._try(self._plan):
                self._try(self.run_waiting)
            self._woken.wait(LOOK_EVERY_S)
            self._woken.clear()

    def _try(self, step: Callable[[], None]) -> bool:
        """With a full or damaged disk the jobs wait until it is better, and whoever lists them is told why."""
        try:
            step()
        except AgentError as error:
            _log.warning("jobs wait: %s", error.problem)
            return False
        return True

    def _plan(self) -> None:
        with self._planning:
            if not self._has_recovered:
                self._kept.recover(self._clock())
                self._has_recovered = True
            self._kept.plan_due(self._clock())
            if self._timetable is not None:
                self._timetable.wake_at(self._kept.next_due())

    def _run(self, job: Job, run: Run, stop: threading.Event) -> None:
        try:
            with boundary(RuntimeFailed, f"The job {job.job_id} failed", "See the host's log if it recurs."):
                missing, finished = self._attempt(job, run, stop)
        except AgentError as error:
            self._fail(job, run, error)
        else:
            if finished is None:
                if self._kept.block(run, missing, self._clock()):
                    self._say(job, blocked_text(missing, self._language))
            else:
                self._close(job, run, finished)

    def _fail(self, job: Job, run: Run, error: AgentError) -> None:
        problem = _in_full(error)
        if self._stopping.is_set():
            return  # a host that ends leaves the run as it is: the next one knows that it broke off
        if isinstance(error, ScoringStopped):
            self._kept.end(run, "stopped", problem, self._clock())
        elif self._kept.end(run, "failed", problem, self._clock()):
            self._say(job, failed_text(problem, self._language))

    def _close(self, job: Job, run: Run, finished: Finished) -> None:
        """Tell first: who dies in between tells twice, not never."""
        untold = self._say(job, finished.notice) if finished.notice else ""
        outcome: Outcome = "failed" if untold and finished.must_be_told else "done"
        text = "\n".join(filter(None, (finished.text, untold)))
        self._kept.end(run, outcome, text, self._clock(), conversation_id=finished.conversation_id)

    def _attempt(self, job: Job, run: Run, stop: threading.Event) -> tuple[str, Finished | None]:
        """What is missing, or what came of it."""
        kind = self._kinds.get(job.kind)
        if kind is None:
            return unknown_kind(job.kind), None
        missing = kind.missing(job)
        return (missing, None) if missing else ("", kind.run(job, run, stop))

    def _say(self, job: Job, text: str) -> str:
        """Why the user could not be told, or ""."""
        try:
            self._tell(JobNotice(job.job_id, job.title, text))
        except AgentError as error:
            _log.warning("job %d: the user could not be told: %s", job.job_id, error.problem)
            return _in_full(error)
        return ""


def _in_full(error: AgentError) -> str:
    return f"{error.problem} {error.hint}".strip()
