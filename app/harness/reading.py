"""The configuration files of one folder: which there are, whether they changed, and their bytes. Understands none.

Only plain files within the folder are read, few and small enough for every turn.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.harness.config.complaints import Complaint
from engine.harness.config.source import COVERED, Source

MOST_FILES: Final = 500
MOST_FILE_BYTES: Final = 1 << 20
MOST_BYTES: Final = 8 << 20
"""Of all files of one folder together."""
MOST_LEVELS: Final = 8

_PASSED_OVER: Final = frozenset((".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__", ".git"))
"""What other programs put there. It is not part of the configuration, so nothing of it is read, copied or run."""
_UNHURRIED: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
"""A pipe that took the place of a file must not make anybody wait."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What can be seen of the files without reading them. Equal stamps are equal files, if `newest_ns` is long ago."""

    files: tuple[tuple[str, int, int, int, int], ...]
    """(path, bytes, modified ns, changed ns, inode)"""
    problems: tuple[Complaint, ...]
    newest_ns: int


@dataclass(frozen=True, slots=True)
class _Found:
    path: str
    """From the folder, with slashes."""
    real: Path
    status: os.stat_result


def stamp_of(place: Path, *, is_home: bool = False) -> Stamp:
    """Looks at every file and opens none. `place` must be resolved."""
    found, problems = _survey(place, is_home)
    files = tuple(
        (file.path, file.status.st_size, file.status.st_mtime_ns, file.status.st_ctime_ns, file.status.st_ino)
        for file in found
    )
    newest_ns = max((max(modified, changed) for _, _, modified, changed, _ in files), default=0)
    return Stamp(files, tuple(problems), newest_ns)


def read_source(place: Path, *, is_home: bool = False) -> Source:
    """All configuration files of `place`, which must be resolved. Those that cannot be read are in its complaints."""
    found, problems = _survey(place, is_home)
    shown = Source(str(place), {}, is_home)
    files: dict[str, bytes] = {}
    left = MOST_BYTES
    for file in found:
        data = _read(file, shown.shown(file.path), min(left, MOST_FILE_BYTES))
        if isinstance(data, Complaint):
            problems.append(data)
        else:
            files[file.path] = data
            left -= len(data)
    return Source(str(place), files, is_home, tuple(problems), str(place) if is_home else "")


def _read(file: _Found, shown: str, most_bytes: int) -> bytes | Complaint:
    try:
        with os.fdopen(os.open(file.real, os.O_RDONLY | _UNHURRIED), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return _no_file(shown)
            data = opened.read(most_bytes + 1)
    except OSError as error:
        return _unreadable(shown, error)
    if len(data) <= most_bytes:
        return data
    hint = f"One file may have {MOST_FILE_BYTES >> 20} MiB, all of a folder's together {MOST_BYTES >> 20} MiB."
    return Complaint(shown, "It is too large.", hint)


def _survey(place: Path, is_home: bool) -> tuple[list[_Found], list[Complaint]]:
    """The files there are, in the order of their paths, and what is in the way of reading others."""
    shown = Source(str(place), {}, is_home)
    found: list[_Found] = []
    problems: list[Complaint] = []
    for one in _walk(place, shown):
        if isinstance(one, Complaint):
            problems.append(one)
        elif len(found) < MOST_FILES:
            found.append(one)
        else:
            hint = "Keep only what a model or a hook reads there."
            problems.append(Complaint(shown.shown(one.path), f"There are more than {MOST_FILES} files.", hint))
            break
    return sorted(found, key=lambda file: file.path), problems


def _walk(place: Path, shown: Source) -> Iterator[_Found | Complaint]:
    waiting = list(reversed(COVERED))
    while waiting:
        path = waiting.pop()
        one = _look(place, path, shown.shown(path))
        if isinstance(one, _Found) and stat.S_ISDIR(one.status.st_mode):
            below = _below(one, path, shown.shown(path))
            if isinstance(below, Complaint):
                yield below
            else:
                waiting += reversed(below)
        elif one is not None:
            yield one


def _look(place: Path, path: str, shown: str) -> _Found | Complaint | None:
    """A file or folder; the complaint where it may not be read; None where there is nothing."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return Complaint(ascii(shown), "Its name is not UTF-8.", "Rename it.")
    try:
        real = (place / path).resolve(strict=True)
        status = real.stat()
    except FileNotFoundError:
        is_link = (place / path).is_symlink()
        return Complaint(shown, "It is a link to nothing.", "Remove it.") if is_link else None
    except (OSError, RuntimeError) as error:  # a ring of links is a RuntimeError before Python 3.13
        return _unreadable(shown, error)
    if not real.is_relative_to(place):
        hint = "Put a copy of the file there instead of a link."
        return Complaint(shown, "It is a link that leads out of the folder.", hint)
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return _Found(path, real, status)
    return _no_file(shown)


def _below(folder: _Found, path: str, shown: str) -> list[str] | Complaint:
    """The paths within a folder, in order."""
    if path.count("/") + 1 >= MOST_LEVELS:
        return Complaint(shown, f"It is more than {MOST_LEVELS} folders deep.", "Put it further up.")
    try:
        with os.scandir(folder.real) as entries:
            names = sorted(entry.name for entry in entries if entry.name not in _PASSED_OVER)
    except OSError as error:
        return _unreadable(shown, error)
    return [f"{path}/{name}" for name in names]


def _unreadable(shown: str, error: OSError | RuntimeError) -> Complaint:
    reason = getattr(error, "strerror", None) or "it leads in a ring"
    return Complaint(shown, f"It cannot be read: {reason}.", "Check the file and its permissions.")


def _no_file(shown: str) -> Complaint:
    return Complaint(shown, "It is neither a file nor a folder.", "Remove it.")
