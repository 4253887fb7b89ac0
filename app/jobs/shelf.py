"""Jobs straight from the store of this process: `ui.job_shelf.JobShelf`, without a host and in it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from app.jobs.kinds import JobKinds
from app.jobs.runner import Runner
from engine.errors import StoreProblem, UsageProblem
from engine.jobs.keeping import KeptJobs, require_kind
from engine.jobs.values import Job, NewJob, Run
from engine.values import Provenance

BUILT_IN = ("reminder", "prompt")
"""Kinds of jobs that every host has."""


class StoredJobs:
    """Where no host runs: nothing is run, and what is written down as running broke off.

    Who opened the store closes it.
    """

    def __init__(self, kept: KeptJobs, clock: Callable[[], datetime]) -> None:
        self._kept = kept
        self._clock = clock

    def jobs(self) -> Sequence[Job]:
        return tuple(replace(job, last=_broken_off(job.last)) for job in self._kept.jobs())

    def job(self, job_id: int) -> Job:
        job = self._kept.job(job_id)
        return replace(job, last=_broken_off(job.last))

    def job_runs(self, job_id: int | None = None, *, limit: int = 50, before: int | None = None) -> Sequence[Run]:
        runs = self._kept.runs(job_id, limit=limit, before=before)
        return tuple(broken_off for run in runs if (broken_off := _broken_off(run)) is not None)

    def add_job(self, new: NewJob, request: str, provenance: Provenance = "typed") -> Job:
        require_kind(new.kind, BUILT_IN)
        return self._kept.add(new, provenance=provenance, request=request, now=self._clock())

    def run_job(self, job_id: int) -> Run:
        self._kept.job(job_id)
        raise UsageProblem("No host runs that could run it.", "Start one: macaron serve.")

    def enable_job(self, job_id: int) -> Job:
        return self._kept.enable(job_id, self._clock())

    def disable_job(self, job_id: int) -> Job:
        return self._kept.disable(job_id, self._clock())

    def remove_job(self, job_id: int) -> None:
        self._kept.remove(job_id)

    def close(self) -> None:
        pass


class HostedJobs:
    """In the host: what changes holds at once."""

    def __init__(self, kept: KeptJobs, kinds: JobKinds, runner: Runner, clock: Callable[[], datetime]) -> None:
        self.kinds = kinds
        self._kept = kept
        self._runner = runner
        self._clock = clock

    def pending(self) -> int:
        """How many times are to come, wait or run; none where the database cannot say, so that its host may end."""
        try:
            return self._kept.pending()
        except StoreProblem:
            return 0

    def end_soon(self) -> None:
        """Begin nothing more: the host ends."""
        self._runner.end_soon()

    def jobs(self) -> Sequence[Job]:
        return self._kept.jobs()

    def job(self, job_id: int) -> Job:
        return self._kept.job(job_id)

    def job_runs(self, job_id: int | None = None, *, limit: int = 50, before: int | None = None) -> Sequence[Run]:
        return self._kept.runs(job_id, limit=limit, before=before)

    def add_job(self, new: NewJob, request: str, provenance: Provenance = "typed") -> Job:
        require_kind(new.kind, self.kinds.names)
        job = self._kept.add(new, provenance=provenance, request=request, now=self._clock())
        self._runner.look()
        return job

    def run_job(self, job_id: int) -> Run:
        run = self._kept.ask_for(job_id, self._clock())
        self._runner.look()
        return run

    def enable_job(self, job_id: int) -> Job:
        job = self._kept.enable(job_id, self._clock())
        self._runner.look()
        return job

    def disable_job(self, job_id: int) -> Job:
        job = self._kept.disable(job_id, self._clock())
        self._runner.look()
        return job

    def remove_job(self, job_id: int) -> None:
        self._kept.remove(job_id)
        self._runner.stop_job(job_id)
        self._runner.look()

    def close(self) -> None:
        pass


def _broken_off(run: Run | None) -> Run | None:
    return replace(run, outcome="interrupted") if run is not None and run.is_running else run
