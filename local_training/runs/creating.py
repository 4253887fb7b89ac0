"""Begin a run: check all that it is made of, and freeze it in a folder that is there whole or not at all.

Starts no training. Light: no torch.
"""

import errno
import hashlib
import os
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib import metadata
from itertools import count
from pathlib import Path
from typing import Final

from engine.adapters.files import put, written
from engine.errors import ModelMissing, ModelProblem, UsageProblem
from engine.runtime.identity import fingerprint
from local_training.runs.data import check_data, data_content
from local_training.runs.folder import Frozen, RunFolder, RunState, now
from local_training.runs.recipe import parse_recipe, recipe_content

PART_PREFIX: Final = ".part-"
"""Of folders that are being made; a kill leaves one behind, which is no run."""
_PACKAGES: Final = ("torch", "transformers", "peft", "llama-cpp-python")
"""Whose versions may change what a run computes."""
_MOST_NAME_CHARACTERS: Final = 40
_AS_IT_WAS: Final = "Put the file back as it was, or begin a new run."


def default_run_folder(runs: Path, recipe_path: Path, started: datetime) -> Path:
    """A folder in `runs` that is not there yet, such as 2026-11-29-1030-brief. `started` is local time."""
    stem = unicodedata.normalize("NFC", recipe_path.stem)
    words = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in stem).split()
    name = "-".join(words)[:_MOST_NAME_CHARACTERS].strip("-") or "run"
    wanted = f"{started:%Y-%m-%d-%H%M}-{name}"
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in count(1))
    return next(runs / name for name in names if not os.path.lexists(runs / name))


def create_run(folder: Path, recipe_path: Path, *, profile: Path, base: Path, expert_adapter: Path | None) -> RunFolder:
    """A new run in `folder`, which is made; an empty one may be there.

    Raises: UsageProblem when the recipe or its data cannot be used, or the folder holds something; ModelMissing when
    base or adapter cannot be read; DiskFull, AgentError. There is no run then.
    """
    folder = Path(os.path.abspath(folder))
    _refuse_occupied(folder)
    recipe_bytes = recipe_content(recipe_path)
    recipe = parse_recipe(recipe_bytes, recipe_path.name)
    data_path = recipe_path.parent / recipe.data
    data_bytes = data_content(data_path, recipe)
    sources = check_data(data_bytes, data_path.name, recipe)
    frozen = Frozen(
        kind=recipe.kind,
        title=recipe_path.stem,
        expert=recipe.expert,
        profile=os.path.abspath(profile),
        base=os.path.abspath(base),
        base_hash=_weights_hash(base, "base"),
        expert_adapter=os.path.abspath(expert_adapter) if expert_adapter else "",
        expert_adapter_hash=_weights_hash(expert_adapter, "expert's adapter") if expert_adapter else "",
        recipe_hash=hashlib.sha256(recipe_bytes).hexdigest(),
        data_hash=hashlib.sha256(data_bytes).hexdigest(),
        created_at=now(),
        versions={name: _version(name) for name in _PACKAGES},
        sources=sources,
    )
    with _made_whole(folder) as part:
        run = RunFolder(part)
        put(run.recipe, [recipe_bytes])
        put(run.data, [data_bytes])
        run.write_state(RunState("new", updated_at=frozen.created_at))
        run.write_frozen(frozen)
    return RunFolder(folder)


def check_frozen(folder: RunFolder) -> None:
    """That a run goes on with what it began with.

    Raises: UsageProblem when this is no run, or its recipe or data changed; ModelMissing, ModelProblem when its base or
    the expert's adapter is gone or another one.
    """
    frozen = folder.read_frozen()
    for what, path, known in (
        ("base", frozen.base, frozen.base_hash),
        ("expert's adapter", frozen.expert_adapter, frozen.expert_adapter_hash),
    ):
        if path and _weights_hash(Path(path), what) != known:
            raise ModelProblem(f"The {what} {path} changed since the run {folder.path.name} began.", _AS_IT_WAS)
    for what, copy, known in (
        ("recipe", folder.recipe, frozen.recipe_hash),
        ("data", folder.data, frozen.data_hash),
    ):
        if _content_hash(copy, what) != known:
            raise UsageProblem(f"The frozen {what} of the run {folder.path.name} changed since it began.", _AS_IT_WAS)


def _weights_hash(path: Path, what: str) -> str:
    try:
        return fingerprint(path)
    except OSError as error:
        raise ModelMissing(
            f"The {what} {path} cannot be read: {error.strerror or error}.", "Put the file back, or choose another."
        ) from error


def _content_hash(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageProblem(
            f"The frozen {what} {path} cannot be read: {error.strerror or error}.", _AS_IT_WAS
        ) from error


def _version(package: str) -> str:
    """Empty where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _refuse_occupied(folder: Path) -> None:
    with written(folder):
        if os.path.lexists(folder) and not (folder.is_dir() and next(folder.iterdir(), None) is None):
            raise _occupied(folder)


def _occupied(folder: Path) -> UsageProblem:
    return UsageProblem(
        f"{folder} is there already and not an empty folder.",
        "Name a new one, or go on with the run in it where it holds one.",
    )


@contextmanager
def _made_whole(folder: Path) -> Iterator[Path]:
    """A folder beside `folder` that gets its name when the block ends well, and is removed otherwise."""
    with written(folder):
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=PART_PREFIX, dir=folder.parent))  # with mode 0700
    try:
        yield part
        with written(folder):
            _give_name(part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _give_name(part: Path, folder: Path) -> None:
    """Raises: UsageProblem when something came to lie in `folder` meanwhile; OSError."""
    try:
        if folder.is_dir():
            folder.rmdir()  # Windows does not rename onto a folder, not even an empty one
        part.rename(folder)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise _occupied(folder) from error
        raise
