"""Open the suggestions of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.host.address import read_address
from app.opening import open_store
from app.paths import Paths
from app.suggestions.shelf import StoredSuggestions
from ui.suggestion_shelf import SuggestionShelf


@contextmanager
def open_suggestions(paths: Paths) -> Iterator[SuggestionShelf]:
    """From the host where one runs, else from the home's own store. Raises: HomeBusy, StoreProblem."""
    if read_address(paths) is not None:
        # Only now: HTTP takes longer to load than a list takes to show.
        from app.host.connection import HostConnection
        from app.host.starting import find_host
        from app.suggestions.remote import RemoteSuggestions

        if (host := find_host(paths)) is not None:
            with closing(HostConnection(paths, host)) as connection:
                yield RemoteSuggestions(connection)
            return
    with open_store(paths) as store:
        yield StoredSuggestions(paths, store)
