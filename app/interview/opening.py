"""Open the interview of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.host.address import read_address
from app.interview.shelf import StoredInterview
from app.opening import open_store
from app.paths import Paths
from engine.memory.keeping import KeptMemories
from ui.interview_shelf import InterviewShelf


@contextmanager
def open_interview(paths: Paths) -> Iterator[InterviewShelf]:
    """From the host where one runs, else from the home's own store. Raises: HomeBusy, StoreProblem."""
    if read_address(paths) is not None:
        # Only now: HTTP takes longer to load than a list takes to show.
        from app.host.connection import HostConnection
        from app.host.starting import find_host
        from app.interview.remote import RemoteInterview

        if (host := find_host(paths)) is not None:
            with closing(HostConnection(paths, host)) as connection:
                yield RemoteInterview(connection)
            return
    with open_store(paths) as store:
        yield StoredInterview(store, KeptMemories(store, None))
