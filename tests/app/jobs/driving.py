"""Jobs that run by a clock which the test sets, on the test's own thread."""

import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from app.jobs.kinds import Finished, JobKinds, Reminder
from app.jobs.runner import Runner
from app.jobs.shelf import HostedJobs
from engine.errors import AgentError, ScoringStopped
from engine.jobs.keeping import KeptJobs
from engine.jobs.reading import cron, stamp
from engine.jobs.values import Job, JobNotice, Missed, NewJob, Run, Schedule
from engine.runtime.protocol import Stop
from engine.store import Store

START = datetime(2026, 6, 1, 8, 0, tzinfo=UTC)
NINE = cron("0 9 * * *", "UTC", START)


def at(hour: int, minute: int = 0, second: int = 0, *, day: int = 1) -> datetime:
    return START.replace(day=day, hour=hour, minute=minute, second=second)


@dataclass
class ManualClock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@dataclass
class ScriptedKind:
    """Does what it is told to, and notes which texts it was given."""

    lacks: str = ""
    answers: Callable[[Job], Finished] = lambda job: Finished(f"did {job.text}")
    ran: list[str] = field(default_factory=list)

    def missing(self, job: Job) -> str:
        return self.lacks

    def run(self, job: Job, run: Run, stop: Stop) -> Finished:
        self.ran.append(job.text)
        return self.answers(job)


@dataclass
class NotedWakings:
    """A timetable that only notes when it is to wake."""

    moment: datetime | None = None

    def wake_at(self, moment: datetime | None) -> None:
        self.moment = moment


class Bench:
    """Jobs of one database, and what the user was told. `go` moves the clock and runs what is due by then."""

    def __init__(self, store: Store, *, language: str = "en") -> None:
        self.kept = KeptJobs(store.database)
        self.clock = ManualClock()
        self.command = ScriptedKind()
        self.told: list[JobNotice] = []
        self.untold: AgentError | None = None
        """Why no notice is shown."""
        self.kinds = JobKinds({"reminder": Reminder(language), "command": self.command})
        self.runner = Runner(self.kept, self.kinds, self._tell, language=language, clock=self.clock)
        self.shelf = HostedJobs(self.kept, self.kinds, self.runner, self.clock)

    def add(
        self,
        text: str = "Tea.",
        schedule: Schedule = NINE,
        *,
        kind: str = "reminder",
        missed: Missed | None = None,
    ) -> Job:
        return self.shelf.add_job(NewJob("", kind, text, schedule, missed or Missed()), uuid.uuid4().hex)

    def go(self, now: datetime) -> None:
        self.clock.now = now
        self.runner.look()
        self.runner.run_waiting()

    def restart(self, now: datetime) -> None:
        """As a host does when it starts, whatever became of the one before."""
        self.clock.now = now
        self.kept.recover(now)
        self.go(now)

    def history(self, job: Job) -> list[tuple[str, str]]:
        """When each run was planned and what came of it, the oldest first."""
        return [(run.planned_at[8:16], run.outcome) for run in reversed(self.shelf.job_runs(job.job_id))]

    def _tell(self, notice: JobNotice) -> None:
        if self.untold is not None:
            raise self.untold
        self.told.append(notice)


def soon(now: datetime) -> Schedule:
    """Once, a moment from `now`."""
    return Schedule("once", stamp(now + timedelta(milliseconds=200)), "UTC")


@dataclass
class Gate:
    """A run that goes on until it is let go, or stopped."""

    entered: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)
    most_at_once: int = 0
    now: int = 0

    def missing(self, job: Job) -> str:
        return ""

    def run(self, job: Job, run: Run, stop: Stop) -> Finished:
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        self.entered.set()
        while not self.opened.wait(0.01) and not stop.is_set():
            pass
        self.now -= 1
        if stop.is_set():
            raise ScoringStopped("It was stopped.")
        return Finished("went through")
