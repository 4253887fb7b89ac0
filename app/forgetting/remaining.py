"""Copies that forgetting does not touch, each with the command that removes it. Reads no copy but its own account."""

import os
import shlex
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from app.backup.checking import read_manifest
from app.backup.making import PUT_ASIDE
from app.copies_made import copies_made
from app.forgetting.files import own_files
from app.paths import Paths
from engine.errors import AgentError
from engine.forgetting import Remaining, RemainingKind
from engine.store.spans import Spans


def remaining_copies(paths: Paths, spans: Spans, conversations: Collection[str], since: str) -> tuple[Remaining, ...]:
    """Those made at or after `since` (ISO 8601, UTC; empty: ever), of these conversations or of all; and own files."""
    found = {one.path: one for one in (*_backups(paths), *_noted(paths, conversations))}
    recent = [one for one in found.values() if not one.made_at or _moment(one.made_at) >= _moment(since)]
    own = [Remaining("file", str(file), "", edit_command(file)) for file in own_files(paths, spans)]
    return (*recent, *own)


def remove_command(path: Path) -> str:
    if os.name == "nt":
        return f'{"rmdir /s" if path.is_dir() else "del"} "{path}"'
    return f"rm {'-r ' if path.is_dir() else ''}{shlex.quote(str(path))}"


def edit_command(path: Path) -> str:
    """For what is the user's own, and more than these words."""
    return f'notepad "{path}"' if os.name == "nt" else f"${{EDITOR:-vi}} {shlex.quote(str(path))}"


def _backups(paths: Paths) -> Iterator[Remaining]:
    """In the home's own folder. One that cannot be read is named too: it may hold everything."""
    if not paths.backups.is_dir():
        return
    for path in sorted(paths.backups.iterdir()):
        if path.name.startswith(".part-"):
            continue
        made_at = ""
        if path.suffix == ".zip":
            with suppress(AgentError):
                made_at = read_manifest(path).created_at
        kind: RemainingKind = "put_aside" if path.name.startswith(PUT_ASIDE) else "backup"
        yield Remaining(kind, str(path), made_at, remove_command(path))


def _noted(paths: Paths, conversations: Collection[str]) -> Iterator[Remaining]:
    for one in copies_made(paths):
        if not one.conversations or set(one.conversations) & set(conversations):
            yield Remaining(one.kind, one.path, one.made_at, remove_command(Path(one.path)))


def _moment(text: str) -> datetime:
    """The manifest of a backup counts in whole seconds, so all moments do."""
    if not text:
        return datetime.min.replace(tzinfo=UTC)
    return datetime.fromisoformat(text).astimezone(UTC).replace(microsecond=0)
