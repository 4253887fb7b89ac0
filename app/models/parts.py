"""A file that is being fetched: its bytes in chunks, and a journal that says which chunks are truly on the disk.

A chunk counts once its bytes are synced and its digest is in the journal. What the disk lost or changed meanwhile is
found again by comparing, so that a resumed download fetches only what is missing or bad. Knows no network.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.models.disk import make_folder, not_written, sync_folder

CHUNK_BYTES: Final = 8 << 20
_READ_BYTES: Final = 1 << 20

Watch = Callable[[int], None]
"""Told how many bytes have been read so far."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk that is on the disk."""

    digest: str
    etag: str
    """What the source called the file when it gave this chunk."""


class PartFile:
    """The chunks of one file, by its final SHA-256. One process at a time; the caller holds the lock."""

    def __init__(self, folder: Path, sha256: str, size_bytes: int, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.path = folder / f"{sha256}.part"
        self.journal_path = folder / f"{sha256}.journal"
        self.sha256 = sha256
        self.size_bytes = size_bytes
        self.chunk_bytes = chunk_bytes
        self.entries: dict[int, Entry] = {}

    @property
    def chunk_count(self) -> int:
        return -(-self.size_bytes // self.chunk_bytes)

    def length(self, chunk: int) -> int:
        """Bytes of one chunk; the last one is shorter."""
        return min(self.chunk_bytes, self.size_bytes - chunk * self.chunk_bytes)

    @property
    def done_bytes(self) -> int:
        return sum(self.length(chunk) for chunk in self.entries)

    def missing(self) -> list[int]:
        return [chunk for chunk in range(self.chunk_count) if chunk not in self.entries]

    def resume(self, watch: Watch = lambda read: None) -> int:
        """Take up what an earlier try left, if its chunks are still as the journal says. Returns how many were bad.

        Raises: DiskFull, AgentError.
        """
        with self._writing():
            make_folder(self.path.parent)
            claimed = self._read_journal()
            if claimed is None or not self.path.exists():
                self._begin()
                return 0
            self.entries = {}
            with self.path.open("rb") as file:
                for chunk, entry in sorted(claimed.items()):
                    if digest_of(self._read_chunk(file, chunk)) == entry.digest:
                        self.entries[chunk] = entry
                    watch(self.done_bytes)
            if self.path.stat().st_size > self.size_bytes:
                os.truncate(self.path, self.size_bytes)
            return len(claimed) - len(self.entries)

    def store(self, chunk: int, data: bytes, etag: str) -> None:
        """Write one chunk, sync it, then enter it in the journal. Raises: DiskFull, AgentError."""
        entry = Entry(digest_of(data), etag)
        with self._writing():
            self.entries.pop(chunk, None)
            with self.path.open("r+b") as file:
                file.seek(chunk * self.chunk_bytes)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            self._append({"chunk": chunk, "digest": entry.digest, "etag": etag})
            self.entries[chunk] = entry

    def whole_sha256(self, watch: Watch = lambda read: None) -> str:
        """Of the file as it is on the disk. Raises: AgentError."""
        digest, read = hashlib.sha256(), 0
        with self._writing(), self.path.open("rb") as file:
            while data := file.read(_READ_BYTES):
                digest.update(data)
                read += len(data)
                watch(read)
        return digest.hexdigest()

    def move_to(self, final: Path) -> None:
        """Give the complete file its name, at once. Raises: DiskFull, AgentError."""
        with self._writing():
            make_folder(final.parent)
            os.chmod(self.path, 0o600)
            os.replace(self.path, final)
            sync_folder(final.parent)
            self.journal_path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Forget everything that was fetched."""
        self.entries = {}
        for path in (self.path, self.journal_path):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _begin(self) -> None:
        self.discard()
        os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        os.close(os.open(self.journal_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        self._append({"size_bytes": self.size_bytes, "chunk_bytes": self.chunk_bytes})
        sync_folder(self.path.parent)

    def _append(self, line: dict[str, Any]) -> None:
        with self.journal_path.open("ab") as file:
            # It begins with a line end: what a crash left of the line before is then a line of its own.
            file.write(b"\n" + json.dumps(line).encode())
            file.flush()
            os.fsync(file.fileno())

    def _read_journal(self) -> dict[int, Entry] | None:
        """What the journal claims; None when it is of another file or of other chunks."""
        try:
            lines = [line for line in self.journal_path.read_bytes().split(b"\n") if line]
        except OSError:
            return None
        values = [value for line in lines if (value := _parse(line)) is not None]
        if not values or values[0] != {"size_bytes": self.size_bytes, "chunk_bytes": self.chunk_bytes}:
            return None
        claimed: dict[int, Entry] = {}
        for value in values[1:]:
            match value:
                case {"chunk": int(chunk), "digest": str(digest), "etag": str(etag)} if 0 <= chunk < self.chunk_count:
                    claimed[chunk] = Entry(digest, etag)
        return claimed

    def _read_chunk(self, file: Any, chunk: int) -> bytes:
        file.seek(chunk * self.chunk_bytes)
        data: bytes = file.read(self.length(chunk))
        return data

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise not_written(self.path, error) from error


def digest_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _parse(line: bytes) -> dict[str, Any] | None:
    """The object on one line of a journal; None where a crash cut it short."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
