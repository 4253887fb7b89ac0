"""One process per home: the second one is told who holds it. The lock goes with the process, however it ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from app.files import private_opener
from app.paths import Paths
from engine.errors import AgentError, HomeBusy


@contextmanager
def hold_home(paths: Paths) -> Iterator[None]:
    """Raises: HomeBusy; AgentError when the home cannot be locked at all."""
    lock = FileLock(paths.lock, mode=0o600)
    holder = paths.lock.with_suffix(".pid")
    try:
        lock.acquire(blocking=False)
    except Timeout as error:
        # A lock file that cannot be made for want of its folder looks the same to the library.
        if not paths.lock.exists():
            raise _not_lockable(paths, "its lock file cannot be made") from error
        raise HomeBusy(
            f"Another macaron{_process(holder)} is using {paths.home}.",
            "Close it first, or give this one a home of its own with --home.",
        ) from error
    except OSError as error:
        raise _not_lockable(paths, error.strerror or str(error)) from error
    except NotImplementedError as error:  # a file system without locks
        raise _not_lockable(paths, "its file system has no locks") from error
    try:
        # Only for the message above; a disk too full for it must not keep anyone from reading their history.
        with suppress(OSError), open(holder, "w", encoding="ascii", opener=private_opener) as file:
            file.write(str(os.getpid()))
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def _not_lockable(paths: Paths, reason: str) -> AgentError:
    return AgentError(
        f"The home {paths.home} cannot be locked: {reason}.",
        "Choose a folder on a local disk that you may write, with --home or MACARON_HOME.",
    )


def _process(holder: Path) -> str:
    """Who holds the home, where that is known: it has not yet written its id in its first moment."""
    try:
        return f" (process {int(holder.read_text(encoding='ascii'))})"
    except (OSError, ValueError):
        return ""
