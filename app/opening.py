"""Open what was said, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from app.home_lock import hold_home
from app.home_swap import finish_restore
from app.host.address import read_address
from app.library import StoreLibrary
from app.paths import Paths, make_home
from engine.errors import AgentError
from engine.store import Store
from engine.store.forgetting import ForgettingStore
from ui.client import Library


def settle(paths: Paths) -> None:
    """Finish a restore that was cut off, which may have left the home without its settings. Raises: HomeBusy."""
    with hold_home(paths):
        finish_restore(paths)


@contextmanager
def open_store(paths: Paths) -> Iterator[Store]:
    """A restore that was cut off is finished first. Raises: HomeBusy, StoreProblem."""
    make_home(paths)
    with hold_home(paths):
        finish_restore(paths)
        with Store.open(paths.database) as store:
            _finish_forgetting(paths, store)
            yield store


def _finish_forgetting(paths: Paths, store: Store) -> None:
    """A forgetting that was cut off goes on. One that the disk does not let end keeps nobody from their history."""
    if ForgettingStore(store.database, store.mender).steps():
        from app.forgetting.finishing import finish  # what it removes is nobody's affair who only reads

        with suppress(AgentError):
            finish(paths, store)


@contextmanager
def open_library(paths: Paths) -> Iterator[Library]:
    """What was said, without any model: from the host where one runs, else from the home's own store.

    Raises: HomeBusy, StoreProblem.
    """
    if read_address(paths) is not None:
        # Only now: HTTP takes longer to load than a list takes to show.
        from app.host.starting import find_host
        from app.remote_client import RemoteClient

        if (host := find_host(paths)) is not None:
            with closing(RemoteClient(paths, host)) as client:
                yield client
            return
    with open_store(paths) as store:
        yield StoreLibrary(store)
