"""Folders and errors of the files that models are kept in."""

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from engine.errors import AgentError, DiskFull

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def make_folder(path: Path) -> None:
    """Make a folder that only its owner may read. Raises: DiskFull, AgentError."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(path, error) from error


def sync_folder(folder: Path) -> None:
    """Let a rename in `folder` survive a power cut, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def not_written(path: Path, error: OSError) -> AgentError:
    """The error that says why `path` could not be written, for the caller to raise."""
    if error.errno in _FULL:
        return DiskFull(f"There is no room to write {path}: {error.strerror}.", "Free some space and try again.")
    return AgentError(f"{path} cannot be written: {error.strerror}.", "Check the folder and its permissions.")
