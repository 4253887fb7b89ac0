"""Where an export keeps its conversations: in one file or many, bare, in a folder or in a zip archive.

Nothing is unpacked to the disk, and no name within an archive leads anywhere. Knows no conversation.
"""

import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from app.archives import entry_problem, is_archive, open_archive, read_entry
from app.json_elements import begins_with_list
from engine.errors import UsageProblem

CHUNK_BYTES: Final = 1 << 20
MOST_ENTRIES: Final = 20_000
_MOST_UNPACKED_BYTES: Final = 16 << 30
"""Of all conversations in an archive. They are never all in memory."""
_BEGINNING_BYTES: Final = 4096
_NAME: Final = re.compile(r"conversations(?:[-_]?(\d{1,6}))?\.json")
_OTHER_FORMATS: Final = (".jsonl", ".ndjson")
_HINT: Final = "Give the .zip that ChatGPT sent, its conversations.json, or the folder with what was in it."


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file of conversations."""

    name: str
    """Empty where the file was given itself."""
    size_bytes: int
    """As it claims: good for showing how far it is read, and for nothing else."""
    read: Callable[[], Iterator[bytes]]
    problem: str = ""
    """Why it is not read."""


def is_export(path: Path) -> bool:
    """Whether this is an export of ChatGPT, by its content. Raises: OSError, UsageProblem."""
    if path.is_dir():
        return True
    if is_archive(path):
        with open_archive(path, most_entries=MOST_ENTRIES) as archive:
            return any(
                _holds_list(archive, entry) for entry in archive.infolist() if _number(entry.filename) is not None
            )
    if path.suffix.lower() in _OTHER_FORMATS:
        return False
    with path.open("rb") as file:
        return begins_with_list(file.read(_BEGINNING_BYTES))


@contextmanager
def open_export(path: Path) -> Iterator[list[ExportFile]]:
    """Its files, in their order. Raises: OSError, UsageProblem."""
    if path.is_dir():
        yield _in_folder(path)
    elif is_archive(path):
        with open_archive(path, most_entries=MOST_ENTRIES) as archive:
            yield _in_archive(archive)
    else:
        yield [_plain_file(path, "")]


def _in_folder(folder: Path) -> list[ExportFile]:
    """Raises: OSError, UsageProblem when there is none."""
    found = sorted((number, path.name, path) for path in folder.iterdir() if (number := _number(path.name)) is not None)
    if not found:
        raise UsageProblem(f"There is no conversations.json in {folder}.", _HINT)
    return [_plain_file(path, name) for _, name, path in found]


def _plain_file(path: Path, name: str) -> ExportFile:
    """A link is followed only where the user gave it. Raises: OSError."""
    found = path.lstat() if name else path.stat()
    problem = "" if stat.S_ISREG(found.st_mode) else "it is no file"
    return ExportFile(name, found.st_size, partial(_chunks, path), problem)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(lambda: file.read(CHUNK_BYTES), b"")


def _in_archive(archive: zipfile.ZipFile) -> list[ExportFile]:
    found = [(number, entry) for entry in archive.infolist() if (number := _number(entry.filename)) is not None]
    found.sort(key=lambda one: (one[0], one[1].filename))
    left = [_MOST_UNPACKED_BYTES]

    def read(entry: zipfile.ZipInfo) -> Iterator[bytes]:
        for chunk in read_entry(archive, entry, left[0]):
            left[0] -= len(chunk)
            yield chunk

    return [
        ExportFile(entry.filename, entry.file_size, partial(read, entry), entry_problem(entry)) for _, entry in found
    ]


def _holds_list(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bool:
    """Whether the entry is a list. One that is not read may be: what is wrong with it is to be told."""
    if entry_problem(entry):
        return True
    with archive.open(entry) as file:
        return begins_with_list(file.read(_BEGINNING_BYTES))


def _number(name: str) -> int | None:
    """The place of a file among its kind; None where it holds no conversations."""
    found = _NAME.fullmatch(re.split(r"[/\\]", name)[-1].lower())
    return int(found[1] or 0) if found else None
