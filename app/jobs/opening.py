"""Open the jobs of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.host.reaching import reached_host
from app.jobs.runner import system_clock
from app.jobs.shelf import StoredJobs
from app.opening import open_store
from app.paths import Paths
from engine.jobs.keeping import KeptJobs
from ui.job_shelf import JobShelf


@contextmanager
def open_jobs(paths: Paths) -> Iterator[JobShelf]:
    """From the host where one runs, else from the home's own store. Raises: HomeBusy, StoreProblem."""
    with reached_host(paths) as connection:
        if connection is not None:
            from app.jobs.remote import RemoteJobs

            yield RemoteJobs(connection)
            return
    with open_store(paths) as store:
        yield StoredJobs(KeptJobs(store.database), system_clock)


@contextmanager
def open_jobs_of_host(paths: Paths) -> Iterator[JobShelf]:
    """From the host, which is started where none runs: jobs need one that waits for them. Raises: AgentError."""
    from app.host.connection import HostConnection
    from app.host.starting import ensure_host
    from app.jobs.remote import RemoteJobs

    with closing(RemoteJobs(HostConnection(paths, ensure_host(paths)))) as shelf:
        yield shelf
