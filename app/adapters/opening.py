"""Open the adapters of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.adapters.shelf import StoreShelf
from app.host.reaching import reached_host
from app.opening import open_store
from app.paths import Paths
from engine.adapters.catalogue import Catalogue
from ui.adapter_shelf import AdapterShelf


@contextmanager
def open_shelf(paths: Paths) -> Iterator[AdapterShelf]:
    """Through the host where one runs, so that it knows at once what changes; else from the home's own store.

    Raises: HomeBusy, StoreProblem.
    """
    with reached_host(paths) as connection:
        if connection is not None:
            from app.adapters.remote import RemoteShelf

            yield RemoteShelf(connection)
            return
    with open_store(paths) as store:
        yield StoreShelf(Catalogue(store.database), paths.adapters)
