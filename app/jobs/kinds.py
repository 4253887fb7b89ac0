"""What jobs can do, by name. Reminders and prompts are here from the start; other parts register theirs.

Knows neither when jobs are due nor how their runs are written down.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from app.jobs.wording import reminder_text
from engine.errors import UsageProblem
from engine.jobs.values import Job, Run
from engine.runtime.protocol import Stop


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a run that went well."""

    text: str
    """For the history of the job."""
    notice: str = ""
    """What the user is told; nothing where it is empty."""
    must_be_told: bool = False
    """Whether a run whose notice reaches nobody has failed."""
    conversation_id: str = ""


class JobKind(Protocol):
    """Runs on a thread of its own, one run at a time, with nobody there: it must wait for no answer of a person."""

    def missing(self, job: Job) -> str:
        """What the job needs and is not there, as a sentence; empty where nothing is missing. Raises: AgentError."""
        ...

    def run(self, job: Job, run: Run, stop: Stop) -> Finished:
        """Do it. Raises: ScoringStopped once `stop` is set; AgentError when it fails."""
        ...


class JobKinds:
    def __init__(self, kinds: Mapping[str, JobKind]) -> None:
        self._kinds = dict(kinds)

    def register(self, name: str, kind: JobKind) -> None:
        """Raises: UsageProblem when the name is taken."""
        if name in self._kinds:
            raise UsageProblem(f"There are jobs of the kind {name} already.", "Give it another name.")
        self._kinds[name] = kind

    def get(self, name: str) -> JobKind | None:
        return self._kinds.get(name)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._kinds)


@dataclass(frozen=True, slots=True)
class Reminder:
    """Says its text. Needs nothing."""

    language: str

    def missing(self, job: Job) -> str:
        return ""

    def run(self, job: Job, run: Run, stop: Stop) -> Finished:
        assert run.started_at is not None
        text = reminder_text(job, run, datetime.fromisoformat(run.started_at), self.language)
        return Finished(job.text, text, must_be_told=True)
