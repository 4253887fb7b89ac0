"""Open the tools of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.harness.home_tools import HomeTools
from app.harness.tool_shelf import StoredTools
from app.host.address import read_address
from app.opening import open_store
from app.paths import Paths
from ui.tool_shelf import ToolShelf


@contextmanager
def open_tools(paths: Paths) -> Iterator[ToolShelf]:
    """From the host where one runs, else from the home's own store. Raises: HomeBusy, StoreProblem, UsageProblem."""
    if read_address(paths) is not None:
        # Only now: HTTP takes longer to load than a list takes to show.
        from app.harness.remote import RemoteTools
        from app.host.connection import HostConnection
        from app.host.starting import find_host

        if (host := find_host(paths)) is not None:
            with closing(HostConnection(paths, host)) as connection:
                yield RemoteTools(connection)
            return
    with open_store(paths) as store, closing(HomeTools(paths, store.database)) as tools:
        yield StoredTools(tools)
