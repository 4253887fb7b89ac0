"""What a backup says of itself: its format, what made it, and size and SHA-256 of every file.

Pure: values to JSON and back. Nothing in an archive is believed that its manifest does not name.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from engine.errors import UsageProblem

FORMAT: Final = "macaron-backup"
VERSION: Final = 1
NAME: Final = "manifest.json"
DATABASE: Final = "macaron.db"
KEPT: Final = (DATABASE, "settings.toml", "profiles", "adapters")
"""What of a home goes into a backup and is replaced by a restore: names below the home."""
MOST_FILES: Final = 20_000
MOST_BYTES: Final = 16 << 20
"""Of the manifest itself."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_HINT: Final = "Use another backup; `macaron verify FILE` says what is wrong with one."


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    """Below the home, with slashes."""
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Left:
    """A file that was named but not copied: a model, which can be fetched again."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    program: str
    """Version of the program that made it."""
    created_at: str
    """ISO 8601, UTC."""
    files: tuple[Entry, ...]
    models: tuple[Left, ...] = ()

    @property
    def size_bytes(self) -> int:
        return sum(entry.bytes for entry in self.files)

    def to_json(self) -> bytes:
        data = {"format": FORMAT, "version": VERSION, **asdict(self)}
        return json.dumps(data, ensure_ascii=False, indent=1).encode()


def parse_manifest(text: bytes) -> Manifest:
    """Raises: UsageProblem when it is not ours, is newer, or names a place outside what a backup holds."""
    try:
        data: dict[str, Any] = json.loads(text)
        if data["format"] != FORMAT:
            raise ValueError("it is of another kind")
        if data["version"] != VERSION:
            raise UsageProblem(
                f"This backup is of version {data['version']!r:.20}; this program reads version {VERSION}.",
                "Update the program.",
            )
        manifest = Manifest(
            str(data["program"]),
            str(data["created_at"]),
            tuple(_entry(item) for item in data["files"]),
            tuple(Left(str(item["path"]), int(item["bytes"])) for item in data["models"]),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageProblem(f"The manifest of this backup cannot be used: {str(error)[:80]}.", _HINT) from error
    paths = [entry.path.casefold() for entry in manifest.files]
    if len(set(paths)) < len(paths) or DATABASE not in paths:
        raise UsageProblem("The manifest of this backup names a file twice, or no database.", _HINT)
    return manifest


def _entry(item: dict[str, Any]) -> Entry:
    """Raises: ValueError, TypeError, KeyError."""
    path, size, digest = item["path"], item["bytes"], item["sha256"]
    if type(size) is not int or size < 0 or not _SHA256.fullmatch(digest):
        raise ValueError("a file has no size or hash")
    if not is_kept(path):
        raise ValueError(f"{path!r:.60} does not belong into a backup")
    return Entry(path, size, digest)


def is_kept(path: str) -> bool:
    """Whether this name below the home is one that a backup may hold."""
    parts = PurePosixPath(path).parts
    is_plain = path == "/".join(parts) and ".." not in parts and not re.search(r'[\\:*?"<>|\x00-\x1f\x7f]', path)
    return bool(parts) and is_plain and parts[0] in KEPT and (len(parts) > 1) == (parts[0] in ("profiles", "adapters"))
