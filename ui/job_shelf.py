"""All a face may do with jobs. Needs no model, and waits for no job that runs."""

from collections.abc import Sequence
from typing import Protocol

from engine.jobs.values import Job, NewJob, Run
from engine.values import Provenance


class JobShelf(Protocol):
    """Jobs and what became of their times. Every call may raise `engine.AgentError`."""

    def jobs(self) -> Sequence[Job]:
        """The next one first; those with nothing to come last."""
        ...

    def job(self, job_id: int) -> Job: ...

    def job_runs(self, job_id: int | None = None, *, limit: int = 50, before: int | None = None) -> Sequence[Run]:
        """The newest first, of one job or of all; `before` is the `run_id` of the last one of the page before."""
        ...

    def add_job(self, new: NewJob, request: str, provenance: Provenance = "typed") -> Job:
        """Only what the user typed makes a job. `request` is any new text: sent twice it makes one job."""
        ...

    def run_job(self, job_id: int) -> Run:
        """Let it run as soon as nothing else does."""
        ...

    def enable_job(self, job_id: int) -> Job: ...

    def disable_job(self, job_id: int) -> Job:
        """What waits is taken back; what runs is not."""
        ...

    def remove_job(self, job_id: int) -> None:
        """With its history; it is stopped if it runs."""
        ...

    def close(self) -> None: ...
