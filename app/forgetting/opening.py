"""Who forgets in a home, for verbs that run no model."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from app.host.address import read_address
from app.opening import open_store
from app.paths import Paths
from engine.forgetting import Forgotten, Wanted
from ui.forgetting import Forgetter


@contextmanager
def open_forgetter(paths: Paths) -> Iterator[Forgetter]:
    """The host where one runs, between its turns; else this process, with the home's own store.

    Raises: HomeBusy, StoreProblem.
    """
    if read_address(paths) is not None:
        # Only now: HTTP takes longer to load than a list takes to show.
        from app.forgetting.remote import RemoteForgetting
        from app.host.connection import HostConnection
        from app.host.starting import find_host

        if (host := find_host(paths)) is not None:
            with closing(HostConnection(paths, host)) as connection:
                yield RemoteForgetting(connection)
            return
    from app.forgetting.forgetting import Forgetting

    with open_store(paths) as store:
        yield Forgetting(paths, store)


def forget_memory(paths: Paths, memory_id: int) -> Forgotten:
    """With all that it superseded, the words that it was written from, and all that was learned from them.

    Raises: UnknownName, ConversationBusy, HomeBusy, DiskFull, StoreProblem, AgentError.
    """
    with open_forgetter(paths) as forgetter:
        return forgetter.forget(Wanted(memory_id=memory_id))
