"""Write a file that only its owner may read, whole or not at all. Knows no format."""

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import AgentError, DiskFull


def put(target: Path, parts: Iterable[bytes]) -> None:
    """Write `parts` to `target`. Raises: DiskFull, AgentError."""
    with part_of(target.parent) as part, written(target):
        with part.open("wb") as file:
            file.writelines(parts)
        settle(part, target)


@contextmanager
def part_of(folder: Path) -> Iterator[Path]:
    """An empty file in `folder`, which is made where it is missing; removed in the end where it still is.

    Raises: DiskFull, AgentError.
    """
    with written(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".part-", dir=folder)  # with mode 0600
        os.close(descriptor)
    part = Path(name)
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def settle(part: Path, target: Path) -> None:
    """Give a complete file its name, its content on the disk first. Raises: OSError."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(part, target)


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Say of `path` what the file system refused. Raises: DiskFull, AgentError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"The disk that holds {path} is full.", "Free some space and try again.") from error
        reason = error.strerror or str(error)
        raise AgentError(f"{path} cannot be written: {reason}.", "Check the folder and its permissions.") from error
