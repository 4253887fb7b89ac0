"""Reach the host of a home, for verbs that go on without one."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from app.host.address import read_address
from app.paths import Paths

if TYPE_CHECKING:
    from app.host.connection import HostConnection


@contextmanager
def reached_host(paths: Paths) -> "Iterator[HostConnection | None]":
    """A connection to the host that runs; None where none does, and then the home is free."""
    if read_address(paths) is not None:
        # Only now: HTTP takes longer to load than a list takes to show.
        from app.host.connection import HostConnection
        from app.host.starting import find_host

        if (host := find_host(paths)) is not None:
            with closing(HostConnection(paths, host)) as connection:
                yield connection
            return
    yield None
