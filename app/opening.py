"""Open the home's store alone, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.home_lock import hold_home
from app.paths import Paths, make_home
from engine.store import Store


@contextmanager
def open_store(paths: Paths) -> Iterator[Store]:
    """Raises: HomeBusy, StoreProblem."""
    make_home(paths)
    with hold_home(paths), Store.open(paths.database) as store:
        yield store
