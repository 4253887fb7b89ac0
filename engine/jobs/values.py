"""What a job, its schedule and its runs are. Values only; knows neither tables, nor clocks, nor screens."""

from dataclasses import dataclass
from typing import Final, Literal

from engine.values import Provenance

ScheduleKind = Literal["once", "cron", "every"]

MissedKind = Literal["skip", "once", "all"]
"""What becomes of times at which nothing could run: none of them, the last one, or the last few."""

Outcome = Literal["waiting", "running", "done", "failed", "interrupted", "missed", "blocked", "cancelled", "stopped"]
"""How a run stands. interrupted: its process died; missed: its time passed and its policy lets it go; blocked: what it
needs is not there; cancelled: taken back before it began; stopped: ended before it was through."""

MOST_COUNTED: Final = 100
"""Missed times that are counted at most; so many are "so many or more"."""
MOST_RUNS_KEPT: Final = 200
"""Runs of one job that its history holds."""
MOST_TEXT_CHARACTERS: Final = 4_000
"""Of what a run said that its history holds."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a job is due."""

    kind: ScheduleKind
    text: str
    """Of once: the moment, ISO 8601, UTC. Of cron: minute, hour, day of the month, month, day of the week. Of every:
    whole seconds."""
    zone: str
    """IANA name of the time zone by whose clocks it goes, such as "Europe/Berlin"."""
    begins_at: str = ""
    """Of every: the moment from which it is counted, ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class Missed:
    """The policy of a job for times at which nothing could run."""

    kind: MissedKind = "once"
    most: int = 10
    """Of all: how many of them, the last ones."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job that is asked for."""

    title: str
    kind: str
    """What it does: reminder, prompt, or a command by its name."""
    text: str
    """What is reminded of, or what an expert is asked; a command may have one too."""
    schedule: Schedule
    missed: Missed = Missed()
    expert: str = ""
    """Of a prompt: who is asked; empty lets the router choose."""


@dataclass(frozen=True, slots=True)
class Run:
    """One time of a job: what was planned, and what happened. Times are ISO 8601, UTC."""

    run_id: int
    """Rises with time."""
    job_id: int
    planned_at: str
    """When it was due; when it was asked for, of one by hand. Of several times: the last of them."""
    started_at: str | None
    ended_at: str | None
    outcome: Outcome
    text: str
    """What came of it, or why nothing did."""
    count: int = 1
    """How many times in a row it stands for, where they were missed or blocked."""
    attempt: int = 1
    """2 where an interrupted run was begun again."""
    is_by_hand: bool = False
    conversation_id: str = ""
    """Where the answer of a prompt is found."""

    @property
    def is_running(self) -> bool:
        return self.outcome == "running"

    @property
    def is_waiting(self) -> bool:
        return self.outcome == "waiting"


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is kept. Times are ISO 8601, UTC."""

    job_id: int
    title: str
    kind: str
    text: str
    expert: str
    schedule: Schedule
    missed: Missed
    is_enabled: bool
    created_by: Provenance
    """Where the wish for it came from. Only what a person typed makes a job."""
    created_at: str
    next_due_at: str | None
    """None once nothing is left to come, and while it is disabled."""
    planned_from_at: str
    """What the clock said when `next_due_at` was worked out."""
    blocked_by: str
    """What is missing for it to run, as a sentence; empty where nothing is known to be."""
    last: Run | None = None
    """The newest run that has begun, or would have."""


@dataclass(frozen=True, slots=True)
class JobNotice:
    """What the user is told because of a job, wherever they are."""

    job_id: int
    title: str
    text: str
