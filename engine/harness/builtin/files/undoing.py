"""What each file was before the last write to it, so that the write can be taken back.

One file of JSON for each path in a folder of the program's own home, readable by its owner only. Holds the last write
of a file, not its history, and forgets the oldest when there are many.
"""

import base64
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

import engine.strict_json as strict_json
from engine.errors import UnknownName
from engine.harness.builtin.files.opening import attributed

MOST_FILES: Final = 200
MOST_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Undo:
    """How to take back a write."""

    before: bytes | None
    """None where the file was new."""
    after_digest: str
    """Of what the write left; empty where it removed the file."""


def digest_of(data: bytes | None) -> str:
    return "" if data is None else blake2b(data, digest_size=16).hexdigest()


class UndoFolder:
    """Thread-safe: every entry is replaced as a whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def keeping(self, path: Path, before: bytes | None, after: bytes | None) -> Iterator[None]:
        """Around a write: what is kept of an earlier one is replaced only once this one has succeeded.

        Raises: DiskFull, UsageProblem before anything is written, so that no write is without a way back.
        """
        entry = {
            "path": str(path),
            "before": None if before is None else base64.b64encode(before).decode(),
            "after_digest": digest_of(after),
        }
        target = self._file_of(path)
        partial = target.with_suffix(f".{secrets.token_hex(8)}.part")
        with attributed("the folder that writes are taken back from"):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                    json.dump(entry, file)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
        try:
            yield
            with attributed("the folder that writes are taken back from"):
                os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)
        self._forget_oldest()

    def last(self, path: Path) -> Undo:
        """Raises: UnknownName where nothing is kept of this file."""
        try:
            entry = strict_json.loads(self._file_of(path).read_text(encoding="utf-8"))
            before = entry["before"]
            return Undo(None if before is None else base64.b64decode(before), str(entry["after_digest"]))
        except (OSError, ValueError, KeyError, TypeError):
            raise UnknownName(
                f"No write to {path.name} is kept that could be taken back.", "Read the file to see what it holds."
            ) from None

    def _file_of(self, path: Path) -> Path:
        return self._folder / f"{blake2b(os.fsencode(path), digest_size=16).hexdigest()}.json"

    def _forget_oldest(self) -> None:
        """Also parts that a write left behind when the process died, once they are a day old."""
        found = []
        with suppress(OSError):
            for entry in os.scandir(self._folder):
                with suppress(OSError):  # another thread was faster
                    info = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(".part"):
                        if info.st_mtime < time.time() - 86_400:
                            os.unlink(entry.path)
                    else:
                        found.append((info.st_mtime_ns, info.st_size, entry.path))
        kept_bytes = 0
        for number, (_, size_bytes, path) in enumerate(sorted(found, reverse=True)):
            kept_bytes += size_bytes
            if number and (number >= MOST_FILES or kept_bytes > MOST_BYTES):
                with suppress(OSError):
                    os.unlink(path)
