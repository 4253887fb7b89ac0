"""Read a zip archive that anyone may have made: bounded in entries, in bytes and in memory, and nothing but files.

Nothing is ever extracted by the name an archive gives. Knows no content.
"""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from engine.errors import UsageProblem
from ui.inert import display_line

_ENTRY_MARK: Final = b"PK\x01\x02"
"""Begins every entry of an archive's directory. Counting it tells how many there can be before any is believed."""
_CHUNK_BYTES: Final = 1 << 20
_ENCRYPTED: Final = 0x1
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""Other methods need memory of the archive's own choosing."""


@contextmanager
def open_archive(path: Path, *, most_entries: int) -> Iterator[zipfile.ZipFile]:
    """Raises: UsageProblem when it is no archive, is damaged, or has too many entries."""
    try:
        marks = _count(path, _ENTRY_MARK, most_entries)
        if marks > most_entries:
            raise UsageProblem(
                f"{path} has more than {most_entries:,} entries.",
                "Divide it into smaller archives, or take files from it.",
            )
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OverflowError) as error:
        raise UsageProblem(
            f"{path} is no archive or is damaged: {error}.", "Get or make the file once more."
        ) from error
    except OSError as error:
        raise UsageProblem(
            f"{path} cannot be read: {error.strerror or error}.", "Check its name and rights."
        ) from error


def is_archive(path: Path) -> bool:
    """By its first bytes, whatever its name. Raises: OSError."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def entry_problem(entry: zipfile.ZipInfo) -> str:
    """Why this entry is not read; empty when it is a plain file with a plain name."""
    name = entry.filename
    parts = name.replace("\\", "/").split("/")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if name != entry.orig_filename or "\\" in name or name.startswith("/") or ":" in name or ".." in parts:
        return "its name leads out of the archive"
    if "" in parts or "." in parts or len(name) > 500 or any(not sign.isprintable() for sign in name):
        return "its name is not a plain one"
    if kind not in (0, stat.S_IFREG):
        return "it is no file"
    if entry.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if entry.compress_type not in _METHODS:
        return "it is packed in a way that is not read"
    return ""


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most_bytes: int) -> Iterator[bytes]:
    """The content in pieces. What the archive says of its size is not believed.

    Raises: UsageProblem when there is more of it than `most_bytes`; and as `open_archive` where that is open.
    """
    left = most_bytes
    with archive.open(entry) as file:
        while piece := file.read(min(_CHUNK_BYTES, left + 1)):
            left -= len(piece)
            if left < 0:
                raise UsageProblem(
                    f"{display_line(entry.filename, 80)} holds more than {most_bytes / 2**20:,.0f} MB.",
                    "This is not what an export or a backup looks like.",
                )
            yield piece


def _count(path: Path, mark: bytes, enough: int) -> int:
    """How often `mark` is in the file; counting ends beyond `enough`."""
    found, tail = 0, b""
    with path.open("rb") as file:
        while found <= enough and (piece := file.read(_CHUNK_BYTES)):
            piece = tail + piece
            found += piece.count(mark)
            tail = piece[-(len(mark) - 1) :]
    return found
