"""Where the base GGUF of a profile is on this machine. Looks; never downloads."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from app.paths import Paths
from engine.errors import ModelMissing
from engine.routing.profile import BaseSource, Profile


def find_base(profile: Profile, paths: Paths) -> Path:
    """An explicit path, then the package that carries it, then the home's models folder, then the profile's own.

    Raises: ModelMissing saying how to get it.
    """
    source = profile.base
    for candidate in base_candidates(source, profile.folder, paths):
        if candidate.is_file():
            return candidate
    raise ModelMissing(
        f"The base of the profile {profile.name}{_in_words(profile)} is not on this machine.", _hint(source, paths)
    )


def base_candidates(source: BaseSource, profile_folder: Path, paths: Paths) -> Iterator[Path]:
    """Every place where the base may be, the one that is used first."""
    if source.path:
        yield source.path
    if source.module and source.file and (folder := _package_folder(source.module)):
        yield folder / source.file
    if source.file:
        yield paths.models / source.file
        yield profile_folder / source.file


def _hint(source: BaseSource, paths: Paths) -> str:
    by_hand = (
        f"put {source.file or 'its GGUF file'} into {paths.models}, or name its path in the profile's profile.toml"
    )
    if source.package:
        return f"Run `pip install {source.package}`. Or {by_hand}."
    from app.models.catalogue import catalogue_base_of_file  # only who lacks a base reads the catalogue

    known = catalogue_base_of_file(source.file)
    if known:
        return f"Run `macaron models pull {known.name}`. Or {by_hand}."
    return f"Get one with `macaron models pull`, or a file you have with `macaron models add`. Or {by_hand}."


def _package_folder(module: str) -> Path | None:
    """Where a package is installed. Nothing of it runs; looking for a dotted name would run the package around it."""
    if not module.isidentifier():
        return None
    spec = importlib.util.find_spec(module)
    return Path(spec.origin).parent if spec and spec.origin else None


def _in_words(profile: Profile) -> str:
    return f", {profile.base_model}," if profile.base_model else ""
