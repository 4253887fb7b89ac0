"""Is a backup whole? Every file against size and hash of the manifest, the database by the store itself.

Unpacks into a folder it is given; touches no home.
"""

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from app.archives import entry_problem, open_archive, read_entry
from app.backup.manifest import DATABASE, MOST_BYTES, MOST_FILES, NAME, Entry, Manifest, parse_manifest
from app.files import written
from engine.errors import AgentError, StoreProblem, UsageProblem
from engine.store import Store

_HINT: Final = "Use another backup. Nothing of your home was changed."


class BackupDamaged(AgentError):
    """A backup that is not what its manifest says."""


def read_manifest(file: Path) -> Manifest:
    """Reads no more than that. Raises: UsageProblem, BackupDamaged."""
    with open_archive(file, most_entries=MOST_FILES) as archive:
        return _manifest(archive, file)


def _manifest(archive: zipfile.ZipFile, file: Path) -> Manifest:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if NAME not in names:
        raise UsageProblem(f"{file} is no backup of this program.", "Make one with `macaron backup`.")
    for entry in entries:
        if problem := entry_problem(entry):
            raise BackupDamaged(f"{file} holds an entry that no backup has: {problem}.", _HINT)
    manifest = parse_manifest(b"".join(read_entry(archive, archive.getinfo(NAME), MOST_BYTES)))
    if sorted(names) != sorted([NAME, *(entry.path for entry in manifest.files)]):
        raise BackupDamaged(f"{file} does not hold the files that its manifest names.", _HINT)
    return manifest


def unpack(file: Path, folder: Path, show: Callable[[int, int], None]) -> Manifest:
    """Write every file below `folder`, which is empty, and hold it to the manifest.

    Raises: UsageProblem, BackupDamaged, DiskFull, AgentError.
    """
    with open_archive(file, most_entries=MOST_FILES) as archive:
        manifest = _manifest(archive, file)
        done = 0
        for entry in manifest.files:
            target = folder / entry.path
            with written(target):
                _make_folder(target.parent, folder)
            _unpack_one(archive, entry, target, file)
            done += entry.bytes
            show(done, manifest.size_bytes)
    return manifest


def _make_folder(place: Path, within: Path) -> None:
    """Private, with all between: `parents` of mkdir would leave those open to others."""
    if place != within and not place.exists():
        _make_folder(place.parent, within)
        place.mkdir(mode=0o700)


def _unpack_one(archive: zipfile.ZipFile, entry: Entry, target: Path, file: Path) -> None:
    digest = hashlib.sha256()
    try:
        pieces = read_entry(archive, archive.getinfo(entry.path), entry.bytes)
        with written(target):
            target.touch(mode=0o600)
        with target.open("wb") as output:
            for piece in pieces:
                digest.update(piece)
                with written(target):
                    output.write(piece)
            size = output.tell()
    except (UsageProblem, zipfile.BadZipFile) as error:  # longer than it says, or a wrong checksum
        raise BackupDamaged(f"{entry.path} in {file} is damaged: {error}.", _HINT) from error
    if size != entry.bytes or digest.hexdigest() != entry.sha256:
        raise BackupDamaged(f"{entry.path} in {file} is not what its manifest says.", _HINT)


def check_database(folder: Path) -> None:
    """Open the unpacked database as the program would, which brings an older one up to date.

    Raises: DatabaseTooNew, DatabaseDamaged, StoreProblem.
    """
    with Store.open(folder / DATABASE) as store:
        found = store.integrity()
    if found != "ok":
        raise StoreProblem(f"The database in this backup is not in order: {found}.", _HINT)
