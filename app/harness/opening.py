"""Open the tools of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.harness.home_tools import HomeTools
from app.harness.tool_shelf import StoredTools
from app.host.reaching import reached_host
from app.opening import open_store
from app.paths import Paths
from ui.tool_shelf import ToolShelf


@contextmanager
def open_tools(paths: Paths) -> Iterator[ToolShelf]:
    """From the host where one runs, else from the home's own store. Raises: HomeBusy, StoreProblem, UsageProblem."""
    with reached_host(paths) as connection:
        if connection is not None:
            from app.harness.remote import RemoteTools

            yield RemoteTools(connection)
            return
    with open_store(paths) as store, closing(HomeTools(paths, store.database)) as tools:
        yield StoredTools(tools)
