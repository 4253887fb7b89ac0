"""Open the suggestions of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.host.reaching import reached_host
from app.opening import open_store
from app.paths import Paths
from app.suggestions.shelf import StoredSuggestions
from ui.suggestion_shelf import SuggestionShelf


@contextmanager
def open_suggestions(paths: Paths) -> Iterator[SuggestionShelf]:
    """From the host where one runs, else from the home's own store. Raises: HomeBusy, StoreProblem."""
    with reached_host(paths) as connection:
        if connection is not None:
            from app.suggestions.remote import RemoteSuggestions

            yield RemoteSuggestions(connection)
            return
    with open_store(paths) as store:
        yield StoredSuggestions(paths, store)
