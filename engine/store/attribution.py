"""What SQLite and the file system raise, as errors of ours that say what happened and what to do next."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from engine.errors import AgentError, DatabaseDamaged, DiskFull, StoreProblem

MISSING_ROW: Final = "a row is missing"
"""How an sqlite3.DatabaseError of ours begins: what was read cannot have been written like this."""
_PERMISSION_HINT: Final = (
    "Make sure that you may read and write this file and its folder, or choose another one with --home."
)
_SIGNS_OF_DAMAGE: Final = (
    MISSING_ROW,
    "Could not decode to UTF-8",
    "invalid fts5 file format",
    "constraint failed",
    "no such table: messages_fts",
    "no such table: memories_fts",
    "no such fts5 table",
)
"""What Python's sqlite3 and the search index say of content that neither of them has written, and SQLite of an index
whose mending was cut off. Constraints of tables begin with their kind, such as UNIQUE."""


@contextmanager
def attributed(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into our errors; the only place that does.

    Raises: DiskFull, DatabaseDamaged, StoreProblem, with the cause attached.
    """
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise _meaning(error, path) from error


def _meaning(error: sqlite3.Error | OSError, path: Path) -> AgentError:
    if isinstance(error, OSError):
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return _disk_full(path)
        return StoreProblem(f"{path} cannot be used: {error.strerror}.", _PERMISSION_HINT)
    if str(error).startswith(_SIGNS_OF_DAMAGE):
        return damaged(path, str(error))
    # The low byte is the kind of error, the rest its details; misuse such as a closed connection has no code.
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return _disk_full(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damaged(path, str(error))
        case sqlite3.SQLITE_IOERR:
            return StoreProblem(
                f"The disk that holds {path} failed: {error}.",
                "Check the disk and its free space, then try again; everything saved before is still there.",
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreProblem(f"Another program is using {path}.", "Close that program and try again.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreProblem(f"{path} cannot be used: {error}.", _PERMISSION_HINT)
        case _:
            return StoreProblem(f"The database {path} refused: {error}.", "Start the program again and try once more.")


def _disk_full(path: Path) -> DiskFull:
    return DiskFull(
        f"The disk that holds {path} is full.", "Free some space and try again; everything saved before is still there."
    )


def damaged(path: Path, detail: str) -> DatabaseDamaged:
    return DatabaseDamaged(
        f"{path} is damaged or is not a database: {detail}.",
        "Nothing more is written to it. Go back to a backup with `macaron restore`, or save what can still be read "
        "into a new file with `macaron verify --salvage FILE`.",
    )
