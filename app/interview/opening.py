"""Open the interview of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.host.reaching import reached_host
from app.interview.shelf import StoredInterview
from app.opening import open_store
from app.paths import Paths
from engine.memory.keeping import KeptMemories
from ui.interview_shelf import InterviewShelf


@contextmanager
def open_interview(paths: Paths) -> Iterator[InterviewShelf]:
    """From the host where one runs, else from the home's own store. Raises: HomeBusy, StoreProblem."""
    with reached_host(paths) as connection:
        if connection is not None:
            from app.interview.remote import RemoteInterview

            yield RemoteInterview(connection)
            return
    with open_store(paths) as store:
        yield StoredInterview(store, KeptMemories(store, None))
