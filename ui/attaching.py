"""Text files that go with a message: which a text names with @, which a folder offers, and how one is read.

The only file of the faces that reads what the user has. Follows no link: neither the file nor a folder on the way to
it, below the folder it is given. What is read is checked on the open file, so that swapping it gains nothing.
"""

import os
import re
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from engine.errors import UsageProblem
from engine.values import Attachment
from ui.inert import display_line
from ui.strings import say

MAX_BYTES: Final = 512 * 1024
"""Of one file."""
MAX_FILES: Final = 8
"""With one message."""
MAX_MENTIONS: Final = 64
"""Words behind an @ that are looked up; a pasted text may hold thousands."""
MAX_LOOKED_AT: Final = 4000
"""Entries of a folder, and of those in it, that are looked at for an offer."""
MAX_DEPTH: Final = 8
"""Folders below the first that are looked into."""
_PEEK_BYTES: Final = 2048
"""What is read of a file to see whether it is text."""
_MAX_NAME_CHARACTERS: Final = 256
_MAX_SHOWN_CELLS: Final = 60

# No `@` inside a word, such as an address; a Chinese character before it is no part of a word.
_MENTION = re.compile(r"(?<![A-Za-z0-9_.%+\-@\"])@(?:\"([^\"\n]+)\"|([^\s\"@]+))")
_OPEN_MENTION = re.compile(r"(?<![A-Za-z0-9_.%+\-@\"])@(?:\"([^\"\n]*)|([^\s\"@]*))\Z")
_SKIPPED_FOLDERS: Final = {"__pycache__", "node_modules"}
# Absent on Windows, where a path can name no FIFO and a link needs rights of its own.
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_SAFE_OPEN: Final = (
    os.O_RDONLY
    | _NO_FOLLOW
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotAttached(UsageProblem):
    """A file that cannot go with a message, and why."""


def open_mention(before_cursor: str) -> tuple[str, str] | None:
    """(the path that is being typed behind an `@`, all of it as it is written); None when none is."""
    found = _OPEN_MENTION.search(before_cursor)
    if found is None:
        return None
    return (found[1] if found[1] is not None else found[2]), found[0]


def mention_of(path: str) -> str:
    """How a path is written in a message."""
    return f'@"{path}"' if re.search(r"[\s@]", path) else f"@{path}"


def mentioned(text: str, folder: Path) -> tuple[str, ...]:
    """The paths behind `@` in a message that name something below `folder`, in order, each once.

    A path without quotes ends where a name that exists ends, so that "看@笔记.txt。" and "(@a.txt)" name files.
    """
    found: dict[str, None] = {}
    for match in islice(_MENTION.finditer(text), MAX_MENTIONS):
        name = match[1] if match[1] is not None else _longest_existing(match[2], folder)
        if name and _is_below(name) and _exists(folder / name):
            found[PurePosixPath(name).as_posix()] = None
    return tuple(found)


def _longest_existing(run: str, folder: Path) -> str:
    run = run[:_MAX_NAME_CHARACTERS]
    for end in range(len(run), 0, -1):
        # "notes.txt" does not name the file "notes": a name ends before a sign or at a wide character.
        is_end = end == len(run) or not (run[end].isascii() and run[end].isalnum())
        if is_end and run[end - 1] not in "/." and _is_below(run[:end]) and _exists(folder / run[:end]):
            return run[:end]
    return ""


def _is_below(name: str) -> bool:
    """Whether a name stays below the folder it is looked up in."""
    path = Path(name)
    return not path.is_absolute() and not path.drive and ".." not in path.parts and path.parts != ()


def _exists(path: Path) -> bool:
    try:
        os.lstat(path)
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False
    return True


def attach_below(folder: Path, name: str, language: str) -> Attachment:
    """A file that a message names, read from below `folder`.

    Raises: NotAttached, also where a link stands in the path or the file has a second name elsewhere.
    """
    if not _is_below(name):
        raise _refused("missing", name, language)
    try:
        descriptor = _open_below(folder, PurePosixPath(name).parts)
    except (OSError, ValueError) as error:
        raise _not_opened(error, folder / name, name, language) from error
    return _read(descriptor, PurePosixPath(name).as_posix(), language, may_have_other_names=False)


def attach(path: Path, language: str) -> Attachment:
    """A file that the user named on purpose, anywhere. Raises: NotAttached."""
    try:
        descriptor = os.open(path, _SAFE_OPEN)
    except (OSError, ValueError) as error:
        raise _not_opened(error, path, str(path), language) from error
    return _read(descriptor, path.name, language, may_have_other_names=True)


def _open_below(folder: Path, parts: Sequence[str]) -> int:
    """Open step by step, so that no folder on the way can be exchanged for a link. Raises: OSError."""
    if os.open not in os.supports_dir_fd or not _NO_FOLLOW:
        path = folder.joinpath(*parts)
        if path.resolve() != folder.resolve().joinpath(*parts):
            raise OSError(f"{path} is reached by a link")
        return os.open(path, _SAFE_OPEN)
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW, dir_fd=here)
            os.close(here)
            here = below
        return os.open(parts[-1], _SAFE_OPEN, dir_fd=here)
    finally:
        os.close(here)


def _not_opened(error: Exception, path: Path, name: str, language: str) -> NotAttached:
    if isinstance(error, FileNotFoundError | ValueError):
        return _refused("missing", name, language)
    try:
        kind = os.lstat(path).st_mode
    except OSError:
        kind = 0
    if isinstance(error, NotADirectoryError) or stat.S_ISLNK(kind):
        return _refused("link", name, language)
    if stat.S_ISDIR(kind):  # Windows does not open a folder
        return _refused("folder", name, language)
    if kind and not stat.S_ISREG(kind):  # a socket cannot be opened at all
        return _refused("special", name, language)
    return _refused("unreadable", name, language, reason=error)


def _read(descriptor: int, name: str, language: str, *, may_have_other_names: bool) -> Attachment:
    """What an open file holds, if it is text. Closes it. Raises: NotAttached."""
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise _refused("folder", name, language)
        if not stat.S_ISREG(status.st_mode):
            raise _refused("special", name, language)
        if status.st_nlink > 1 and not may_have_other_names:
            raise _refused("names", name, language)
        with open(descriptor, "rb", closefd=False) as file:
            # One byte more than may be, whatever its size was said to be: a file can grow.
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _refused("unreadable", name, language, reason=error) from error
    finally:
        os.close(descriptor)
    if len(content) > MAX_BYTES:
        raise _refused("big", name, language, limit=MAX_BYTES // 1024)
    if b"\0" in content:
        raise _refused("binary", name, language)
    try:
        return Attachment(name, content.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise _refused("encoding", name, language) from error


def _refused(reason_key: str, name: str, language: str, **values: object) -> NotAttached:
    shown = display_line(name, _MAX_SHOWN_CELLS)
    return NotAttached(
        say(f"attach.{reason_key}", language, name=shown, **values),
        say(f"attach.{reason_key}.hint", language, name=shown),
    )


def files_below(folder: Path) -> tuple[str, ...]:
    """Paths below `folder` that an offer may hold, nearest first: no hidden names, no links, at most a few thousand."""
    found = []
    for entry in _entries(folder):
        # A name that a terminal cannot show as it is could not be put into a message either.
        if entry.is_file(follow_symlinks=False) and display_line(entry.name) == entry.name:
            found.append(Path(entry.path).relative_to(folder).as_posix())
    return tuple(found)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Everything in `folder`, then in its folders; folders that cannot be read hold nothing."""
    waiting = deque([(str(folder), 0)])
    looked_at = 0
    while waiting:
        path, depth = waiting.popleft()
        try:
            with os.scandir(path) as scan:
                entries = [entry for entry in scan if not entry.name.startswith(".")]
        except OSError:
            continue
        for entry in sorted(entries, key=lambda entry: entry.name):
            looked_at += 1
            if looked_at > MAX_LOOKED_AT:
                return
            yield entry
            if depth < MAX_DEPTH and entry.name not in _SKIPPED_FOLDERS and entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, depth + 1))


def looks_like_text(folder: Path, name: str) -> bool:
    """Whether the first bytes of a file may be UTF-8; False also for one that may not be read."""
    try:
        descriptor = _open_below(folder, PurePosixPath(name).parts)
    except (OSError, ValueError):
        return False
    try:
        start = os.read(descriptor, _PEEK_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b"\0"
    except OSError:
        return False
    finally:
        os.close(descriptor)
    # The cut may go through a character of up to four bytes.
    return b"\0" not in start and any(_is_utf8(start[: len(start) - cut]) for cut in range(4 if start else 1))


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def shown_size(text: str) -> str:
    """How big an attachment is, such as "1.2 KB"."""
    size_bytes = len(text.encode("utf-8", "surrogatepass"))
    return f"{size_bytes} B" if size_bytes < 1024 else f"{size_bytes / 1024:.1f} KB"
