"""Who forgets in a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.host.reaching import reached_host
from app.opening import open_store
from app.paths import Paths
from ui.forgetting import Forgetter


@contextmanager
def open_forgetter(paths: Paths) -> Iterator[Forgetter]:
    """The host where one runs, between its turns; else this process, with the home's own store.

    Raises: HomeBusy, StoreProblem.
    """
    with reached_host(paths) as connection:
        if connection is not None:
            from app.forgetting.remote import RemoteForgetting

            yield RemoteForgetting(connection)
            return
    from app.forgetting.forgetting import Forgetting

    with open_store(paths) as store:
        yield Forgetting(paths, store)
