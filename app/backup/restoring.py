"""`macaron restore`: what a backup holds takes the place of what is here, all of it or nothing.

The backup is unpacked and proved beside the home first; what is here is put aside, as a backup where it can be read and
as it is where it cannot. The swap itself can be cut off anywhere: the next start finishes it.
"""

import shutil
from pathlib import Path

from app.backup.checking import check_database, read_manifest, unpack
from app.backup.making import MOST_KEPT, PUT_ASIDE, make_backup, new_name, remove_older
from app.backup.manifest import DATABASE, KEPT, Manifest
from app.backup.progress import Progress
from app.files import written
from app.history import language_of
from app.home_lock import hold_home
from app.home_swap import finish_restore, make_ready, swap
from app.output import print_json, print_note, print_text
from app.paths import Paths, make_home
from engine.errors import DiskFull, HomeBusy, StoreProblem
from engine.store import Store
from ui.present import display_line
from ui.strings import say

_SIDE_FILES = tuple(f"{DATABASE}{ending}" for ending in ("-wal", "-shm", "-journal"))
"""They belong to the database that leaves; beside another one they would destroy it."""
_MARGIN_BYTES = 64 << 20


def run_restore(paths: Paths, file: str, *, as_json: bool) -> int:
    """Raises: HomeBusy, UsageProblem, BackupDamaged, DatabaseTooNew, DiskFull, AgentError."""
    make_home(paths)
    language = language_of(paths)
    source = Path(file).expanduser().absolute()
    progress = Progress(language)
    try:
        with hold_home(paths):
            finish_restore(paths)
            manifest, put_aside = restore(paths, source, progress)
    except HomeBusy as busy:
        raise HomeBusy(
            busy.problem, "End it with `macaron serve --stop`, close what else uses it, and try again."
        ) from busy
    finally:
        progress.end()
    missing = [left.path for left in manifest.models if not (paths.home / left.path).exists()]
    if as_json:
        print_json(
            {
                "restored": [entry.path for entry in manifest.files],
                "created_at": manifest.created_at,
                "put_aside": str(put_aside) if put_aside else None,
                "missing_models": missing,
            }
        )
        return 0
    print_text(say("backup.restored", language, files=len(manifest.files), created=display_line(manifest.created_at)))
    if put_aside:
        print_note(say("backup.put_aside", language, place=put_aside))
    if missing:
        print_note(say("backup.models", language, names=", ".join(missing)))
    return 0


def restore(paths: Paths, source: Path, progress: Progress) -> tuple[Manifest, Path | None]:
    """(the manifest, where what was here is now). The home must be held. Raises: as `run_restore`."""
    _require_room(paths, read_manifest(source).size_bytes)
    try:
        new = make_ready(paths)
        manifest = unpack(source, new, progress.show)
        check_database(new)
        with written(paths.backups):
            paths.backups.mkdir(mode=0o700, exist_ok=True)
        target = new_name(paths.backups, PUT_ASIDE)
        put_aside = _put_aside(paths, target, progress)
        # Without a readable backup the files themselves are kept.
        folder = "" if put_aside == target else target.stem
        swap(paths, (*KEPT, *_SIDE_FILES), keep_old_in=folder)
    finally:
        _forget_what_was_made_ready(paths)
    remove_older(paths.backups, PUT_ASIDE, MOST_KEPT, spare=source)
    return manifest, put_aside


def _put_aside(paths: Paths, target: Path, progress: Progress) -> Path | None:
    """A backup of what is here, at `target`; the folder that will hold the files where they are no database any more;
    None where there is nothing. Raises: DiskFull, AgentError."""
    if not paths.database.exists():
        is_empty = not any((paths.home / name).exists() for name in KEPT)
        return None if is_empty else target.with_suffix("")
    try:
        with Store.open(paths.database) as store:
            make_backup(paths, target, store.backup, progress.show)
    except DiskFull:
        raise
    except StoreProblem:
        return target.with_suffix("")
    return target


def _forget_what_was_made_ready(paths: Paths) -> None:
    """Where the swap has begun its plan is left for the next start."""
    if not (paths.restore / "plan.json").exists():
        shutil.rmtree(paths.restore, ignore_errors=True)


def _require_room(paths: Paths, size_bytes: int) -> None:
    """For what is unpacked; the backup of what is here looks for itself. Raises: DiskFull."""
    free = shutil.disk_usage(paths.home).free
    if free < size_bytes + _MARGIN_BYTES:
        raise DiskFull(
            f"{paths.home} has {free / 2**20:,.0f} MB free; the backup needs {size_bytes / 2**20:,.0f}.",
            "Free some space and try again. Nothing of your home was changed.",
        )
