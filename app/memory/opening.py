"""Open the memories of a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.host.reaching import reached_host
from app.memory.shelf import StoredMemories
from app.opening import open_store
from app.paths import Paths
from app.settings import load_settings
from engine.memory.keeping import KeptMemories
from engine.memory.weighting import rules_from
from ui.memory_shelf import MemoryShelf


@contextmanager
def open_memory_shelf(paths: Paths) -> Iterator[MemoryShelf]:
    """From the host where one runs, else from the home's own store: without a model what is written gets no vector,
    which the host makes up for later, and what is looked for is found by its words.

    Raises: HomeBusy, StoreProblem, UsageProblem.
    """
    with reached_host(paths) as connection:
        if connection is not None:
            from app.memory.remote import RemoteMemories

            yield RemoteMemories(connection)
            return
    rules = rules_from(load_settings(paths.settings).memory)
    from app.forgetting.forgetting import Forgetting

    with open_store(paths) as store:
        yield StoredMemories(KeptMemories(store, None, rules=rules), store, Forgetting(paths, store))
