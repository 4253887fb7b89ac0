"""Remove a profile, and its model file only where this program fetched it and nobody else needs it."""

import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.bases import base_candidates
from app.models.disk import not_written
from app.models.naming import is_plain_name
from app.models.records import read_record, record_path
from app.paths import Paths
from app.settings import load_settings
from engine.assets import asset_path
from engine.errors import AgentError, UnknownName, UsageProblem
from engine.routing.profile import load_profile

FileFate = Literal["deleted", "shared", "foreign", "absent"]
"""What becomes of the model file: deleted; kept, as another profile needs it or it is not ours; or there is none."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What removing a profile would do, or did."""

    name: str
    folder: Path
    file: Path | None
    fate: FileFate
    freed_bytes: int


def plan_removal(paths: Paths, name: str) -> Removal:
    """Raises: UnknownName, UsageProblem for a profile that comes with the program or is in use."""
    folder = paths.profiles / name
    if not is_plain_name(name) or not (folder.is_dir() or folder.is_symlink()):
        if is_plain_name(name) and (asset_path("profiles") / name).is_dir():
            raise UsageProblem(f"The profile {name} comes with the program and stays.", "Remove one you added.")
        known = ", ".join(own_profiles(paths)) or "none"
        raise UnknownName(f"You have no profile `{name[:80]}`.", f"Profiles you added: {known}.")
    if load_settings(paths.settings).profile == name:
        raise UsageProblem(
            f"The profile {name} is in use.", "Choose another first, such as with `macaron models use starter`."
        )
    file = _base_of(paths, folder)
    fate = _fate(paths, folder, file)
    freed = 0 if folder.is_symlink() else _size(folder)
    if file is not None and fate == "deleted":
        freed += file.stat().st_size
    return Removal(name, folder, file, fate, freed)


def remove_profile(paths: Paths, removal: Removal) -> None:
    """Do it. Raises: AgentError when something cannot be deleted."""
    try:
        if removal.folder.is_symlink():
            removal.folder.unlink()  # what it points to is not ours
        else:
            aside = paths.home / f".removed-profile-{secrets.token_hex(4)}"
            os.replace(removal.folder, aside)
            shutil.rmtree(aside)
        if removal.file is not None and removal.fate == "deleted":
            removal.file.unlink()
            record_path(removal.file).unlink(missing_ok=True)
    except OSError as error:
        raise not_written(removal.folder, error) from error


def own_profiles(paths: Paths) -> tuple[str, ...]:
    """Names of the profiles in the home."""
    return tuple(sorted(file.parent.name for file in paths.profiles.glob("*/lora.md")))


def _fate(paths: Paths, folder: Path, file: Path | None) -> FileFate:
    if file is None:
        return "absent"
    if file.parent != paths.models or file.is_symlink() or read_record(file) is None:
        return "foreign"
    return "shared" if any(_same(file, other) for other in _other_bases(paths, folder)) else "deleted"


def _other_bases(paths: Paths, folder: Path) -> Iterator[Path]:
    """The bases of all other profiles of the user, and of the one in use wherever it is."""
    in_use = asset_path("profiles") / load_settings(paths.settings).profile
    others = [file.parent for file in paths.profiles.glob("*/lora.md")]
    for other in [*others, *([in_use] if (in_use / "lora.md").is_file() else [])]:
        if other != folder and (base := _base_of(paths, other)):
            yield base


def _base_of(paths: Paths, folder: Path) -> Path | None:
    """Where the profile's base is; None where it is gone or the profile cannot be read."""
    try:
        source = load_profile(folder).base
    except AgentError:
        return None
    return next((path for path in base_candidates(source, folder, paths) if path.is_file()), None)


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
