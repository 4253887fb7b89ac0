"""`macaron backup`: the database, the settings, the profiles and the adapters of a home in one archive.

The database is copied by SQLite itself, so that other processes may go on writing. Secrets are never copied, models
are only named.
"""

import hashlib
import os
import re
import shutil
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from app import __version__
from app.backup.manifest import DATABASE, KEPT, MOST_FILES, NAME, Entry, Left, Manifest
from app.backup.progress import Progress
from app.copies_made import note_copy
from app.files import put_in_place, refuse_taken, written
from app.history import language_of
from app.opening import open_store
from app.output import print_json, print_note, print_text
from app.paths import Paths, make_home
from engine.errors import AgentError, DiskFull, HomeBusy, UsageProblem
from ui.present import display_line
from ui.strings import say

AUTOMATIC: Final = "macaron"
PUT_ASIDE: Final = "before-restore"
MOST_KEPT: Final = 5
_NAMES: Final = r"-(\d{8}-\d{6})(?:-(\d+))?\.zip"
"""What follows the beginning of the name of a backup that was given none by the user."""
_LARGEST_WEIGHTS_BYTES: Final = 512 << 20
"""Larger files of profiles and adapters are published models, which can be fetched again."""
_MARGIN_BYTES: Final = 64 << 20
_DAY_S: Final = 24 * 3600
_CHUNK_BYTES: Final = 1 << 20
_PACKED: Final = frozenset({".gguf", ".safetensors", ".zip", ".gz", ".png", ".jpg"})
"""Packing these once more costs time and saves nothing."""

CopyDatabase = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Made:
    target: Path
    manifest: Manifest
    size_bytes: int
    removed: tuple[Path, ...] = ()


def run_backup(paths: Paths, file: str | None, *, keep: int, force: bool, as_json: bool) -> int:
    """Raises: UsageProblem, DiskFull, StoreProblem, AgentError."""
    make_home(paths)
    language = language_of(paths)
    with written(paths.backups):
        paths.backups.mkdir(mode=0o700, exist_ok=True)
        _remove_abandoned(paths.backups)
    target = Path(file).expanduser().absolute() if file else new_name(paths.backups, AUTOMATIC)
    progress = Progress(language)
    try:
        with database_copier(paths) as copy_database:
            made = make_backup(paths, target, copy_database, progress.show, overwrite=force)
    finally:
        progress.end()
    removed = remove_older(paths.backups, AUTOMATIC, keep) if file is None else ()
    if file is not None:
        note_copy(paths, "backup", [made.target])
    report(Made(made.target, made.manifest, made.size_bytes, removed), language, as_json=as_json)
    return 0


def report(made: Made, language: str, *, as_json: bool) -> None:
    manifest = made.manifest
    if as_json:
        print_json(
            {
                "file": str(made.target),
                "bytes": made.size_bytes,
                "files": [entry.path for entry in manifest.files],
                "models": [left.path for left in manifest.models],
                "removed": [str(path) for path in made.removed],
            }
        )
        return
    size = f"{made.size_bytes / 2**20:,.1f}"
    target = display_line(str(made.target))
    print_text(say("backup.written", language, target=target, files=len(manifest.files), size=size))
    if manifest.models:
        print_note(say("backup.models", language, names=", ".join(left.path for left in manifest.models)))
    if made.removed:
        print_note(say("backup.removed", language, names=", ".join(path.name for path in made.removed)))
    print_note(say("export.not_forgotten", language))


@contextmanager
def database_copier(paths: Paths) -> Iterator[CopyDatabase]:
    """How to copy the database: through the store, or beside the process that holds the home."""
    with ExitStack() as stack:
        try:
            copy = stack.enter_context(open_store(paths)).backup
        except HomeBusy:
            copy = partial(copy_beside, paths.database)
        yield copy


def copy_beside(database: Path, target: Path) -> None:
    """One consistent state, read by SQLite under its own locks. Raises: AgentError."""
    try:
        with (
            closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=10.0)) as source,
            closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, no side files
    except sqlite3.Error as error:
        raise AgentError(f"{database} cannot be copied: {error}.", "Try again, or end the host first.") from error


def make_backup(
    paths: Paths,
    target: Path,
    copy_database: CopyDatabase,
    show: Callable[[int, int], None],
    *,
    overwrite: bool = False,
) -> Made:
    """Write the archive under its final name only when it is complete. `show` gets (bytes done, bytes in all).

    Raises: UsageProblem when the target is taken; DiskFull, StoreProblem, AgentError.
    """
    refuse_taken(target, overwrite=overwrite)
    files, models = what_to_keep(paths)
    size = sum(file.stat().st_size for file in files.values()) + (
        paths.database.stat().st_size if paths.database.exists() else 0
    )
    with written(target), tempfile.TemporaryDirectory(prefix=".part-", dir=paths.backups) as folder:
        _require_room(paths.backups, size)
        _require_room(target.parent, size)
        database = Path(folder, DATABASE)
        copy_database(database)
        files = {DATABASE: database, **files}
        descriptor, part = tempfile.mkstemp(prefix=f".part-{target.name[:40]}.", dir=target.parent)  # with mode 0600
        os.close(descriptor)
        try:
            manifest = _pack(Path(part), files, models, show)
            put_in_place(Path(part), target, overwrite=overwrite)
        finally:
            Path(part).unlink(missing_ok=True)
    return Made(target, manifest, target.stat().st_size)


def what_to_keep(paths: Paths) -> tuple[dict[str, Path], tuple[Left, ...]]:
    """(file by its name below the home, files that are only named), without the database. Links are not followed.

    Raises: UsageProblem when there are more files than a backup takes.
    """
    kept: dict[str, Path] = {}
    left = []
    for top in KEPT:
        for file in sorted(_files_in(paths.home / top)):
            name = file.relative_to(paths.home).as_posix()
            if name == DATABASE:
                continue
            size = file.stat().st_size if file.exists() else 0
            if file.is_symlink() or size > _LARGEST_WEIGHTS_BYTES:
                left.append(Left(name, size))
            else:
                kept[name] = file
    for file in sorted(_files_in(paths.models)):
        left.append(Left(file.relative_to(paths.home).as_posix(), file.stat().st_size if file.exists() else 0))
    if len(kept) > MOST_FILES - 2:
        raise UsageProblem(
            f"{paths.home} has more than {MOST_FILES:,} files to keep.", "Move what is not a profile or adapter away."
        )
    return kept, tuple(left)


def _files_in(place: Path) -> Iterator[Path]:
    if place.is_symlink() or place.is_file():
        yield place
        return
    for folder, _, names in os.walk(place):
        yield from (Path(folder, name) for name in names if not name.startswith(".") and not name.endswith(".part"))


def _pack(part: Path, files: dict[str, Path], models: Sequence[Left], show: Callable[[int, int], None]) -> Manifest:
    """The archive with the manifest as its last entry, which is written when all hashes are known."""
    total = sum(file.stat().st_size for file in files.values())
    entries, done = [], 0
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, file in files.items():
            digest, size = hashlib.sha256(), 0
            with file.open("rb") as source, archive.open(_info(name), "w", force_zip64=True) as target:
                while piece := source.read(_CHUNK_BYTES):
                    target.write(piece)
                    digest.update(piece)
                    size += len(piece)
                    show(done + size, total)
            done += size
            entries.append(Entry(name, size, digest.hexdigest()))
        manifest = Manifest(__version__, _now().isoformat(timespec="seconds"), tuple(entries), tuple(models))
        archive.writestr(_info(NAME), manifest.to_json())
    return manifest


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _now().timetuple()[:6])
    info.external_attr = 0o100600 << 16
    info.compress_type = zipfile.ZIP_STORED if Path(name).suffix.lower() in _PACKED else zipfile.ZIP_DEFLATED
    return info


def _require_room(folder: Path, size_bytes: int) -> None:
    """Raises: DiskFull, before anything is written."""
    free = shutil.disk_usage(folder).free
    if free < size_bytes + _MARGIN_BYTES:
        raise DiskFull(
            f"{folder} has {free / 2**20:,.0f} MB free; the backup may need {size_bytes / 2**20:,.0f}.",
            "Free some space, or name a file on another disk.",
        )


def new_name(folder: Path, beginning: str) -> Path:
    """Named after the time, in UTC; the second of one second has a 2 at its end."""
    stem = f"{beginning}-{_now():%Y%m%d-%H%M%S}"
    candidate, number = folder / f"{stem}.zip", 1
    while candidate.exists():
        number += 1
        candidate = folder / f"{stem}-{number}.zip"
    return candidate


def remove_older(folder: Path, beginning: str, keep: int, spare: Path | None = None) -> tuple[Path, ...]:
    """Remove all but the newest `keep` backups that the program named itself; what the user named stays."""
    matches = {path: re.fullmatch(re.escape(beginning) + _NAMES, path.name) for path in folder.iterdir()}
    age = {path: (found[1], int(found[2] or 1)) for path, found in matches.items() if found}
    oldest_first = sorted(age, key=age.__getitem__)
    removed = tuple(path for path in oldest_first[: max(0, len(age) - keep)] if path != spare)
    for path in removed:
        path.unlink()
    return removed


def _remove_abandoned(folder: Path) -> None:
    """Parts of backups whose process was killed: nothing takes a day."""
    for part in folder.glob(".part-*"):
        if time.time() - part.stat().st_mtime > _DAY_S:
            shutil.rmtree(part) if part.is_dir() else part.unlink()


def _now() -> datetime:
    return datetime.now(UTC)
