"""Write a file that only its owner may read, whole or not at all. Knows no format."""

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import AgentError, DiskFull, UsageProblem


def write_private(path: Path, parts: Iterable[bytes], *, overwrite: bool = False) -> None:
    """Raises: UsageProblem when the file exists and may not be overwritten; DiskFull, AgentError."""
    refuse_taken(path, overwrite=overwrite)
    with written(path):
        descriptor, part = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)  # with mode 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(parts)
            put_in_place(Path(part), path, overwrite=overwrite)
        finally:
            Path(part).unlink(missing_ok=True)


def private_opener(path: str, flags: int) -> int:
    """For `open`: a file that is made is its owner's alone from the first byte."""
    return os.open(path, flags, 0o600)


def put_in_place(part: Path, path: Path, *, overwrite: bool) -> None:
    """Give a complete file its final name, its content on the disk first. Raises: UsageProblem, OSError."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    if not overwrite:
        try:
            os.link(part, path)  # unlike a rename it fails when another program was faster
            return
        except FileExistsError:
            raise _taken(path) from None
        except OSError:  # a file system without links
            refuse_taken(path, overwrite=False)
    os.replace(part, path)


def refuse_taken(path: Path, *, overwrite: bool) -> None:
    """Raises: UsageProblem when there is something at `path` that may not be replaced."""
    if path.is_dir():
        raise UsageProblem(f"{path} is a folder.", "Name a file in it.")
    if not overwrite and os.path.lexists(path):
        raise _taken(path)


def _taken(path: Path) -> UsageProblem:
    return UsageProblem(f"{path} already exists.", "Choose another name, or overwrite it with --force.")


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Say of `path` what the file system refused. Raises: DiskFull, AgentError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"The disk that holds {path} is full.", "Free some space, or choose another disk."
            ) from error
        raise AgentError(
            f"{path} cannot be written: {error.strerror or error}.",
            "Choose a folder that is there and that you may write.",
        ) from error
