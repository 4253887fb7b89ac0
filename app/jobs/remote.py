"""The jobs of a host that runs: `ui.job_shelf.JobShelf` over HTTP."""

from collections.abc import Sequence
from typing import Any, cast

from app.host.connection import HostConnection
from engine.jobs.values import Job, NewJob, Run
from engine.runtime import wire
from engine.values import Provenance


class RemoteJobs:
    """Closes the connection it is given."""

    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection

    def jobs(self) -> Sequence[Job]:
        return cast(Sequence[Job], self._call("jobs"))

    def job(self, job_id: int) -> Job:
        return cast(Job, self._call("job", job_id=job_id))

    def job_runs(self, job_id: int | None = None, *, limit: int = 50, before: int | None = None) -> Sequence[Run]:
        return cast(Sequence[Run], self._call("job_runs", job_id=job_id, limit=limit, before=before))

    def add_job(self, new: NewJob, request: str, provenance: Provenance = "typed") -> Job:
        return cast(Job, self._call("add_job", new=wire.to_plain(new), request=request, provenance=provenance))

    def run_job(self, job_id: int) -> Run:
        return cast(Run, self._call("run_job", job_id=job_id))

    def enable_job(self, job_id: int) -> Job:
        return cast(Job, self._call("enable_job", job_id=job_id))

    def disable_job(self, job_id: int) -> Job:
        return cast(Job, self._call("disable_job", job_id=job_id))

    def remove_job(self, job_id: int) -> None:
        self._call("remove_job", job_id=job_id)

    def close(self) -> None:
        self._connection.close()

    def _call(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.call(name, **arguments)
