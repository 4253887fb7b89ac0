"""Open the adapters of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.adapters.shelf import StoreShelf
from app.host.address import read_address
from app.opening import open_store
from app.paths import Paths
from engine.adapters.catalogue import Catalogue
from ui.adapter_shelf import AdapterShelf


@contextmanager
def open_shelf(paths: Paths) -> Iterator[AdapterShelf]:
    """Through the host where one runs, so that it knows at once what changes; else from the home's own store.

    Raises: HomeBusy, StoreProblem.
    """
    if read_address(paths) is not None:
        # Only now: HTTP takes longer to load than a list takes to show.
        from app.adapters.remote import RemoteShelf
        from app.host.connection import HostConnection
        from app.host.starting import find_host

        if (host := find_host(paths)) is not None:
            with closing(RemoteShelf(HostConnection(paths, host))) as shelf:
                yield shelf
            return
    with open_store(paths) as store:
        yield StoreShelf(Catalogue(store.database), paths.adapters)
