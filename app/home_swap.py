"""Put other files into a home in the place of its own, in steps that can be cut off anywhere and are then finished.

What is to come in lies in `new` below the home's restore folder, what leaves goes to `old` beside it, and `plan.json`
says which names are meant and how far it is. Without a plan nothing of the home has been touched yet. Whoever calls
holds the home. Knows neither what the files are nor where they come from.
"""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from app.paths import Paths
from engine.errors import AgentError

Step = Literal["aside", "place", "clean"]


@dataclass(frozen=True, slots=True)
class _Plan:
    names: tuple[str, ...]
    """What leaves the home, where it is there."""
    keep_old_in: str
    """Name of the folder below the home's backups that keeps what left; empty: it is deleted."""
    step: Step


def make_ready(paths: Paths) -> Path:
    """An empty folder for what is to come in; what an earlier attempt left there is gone. Raises: AgentError."""
    with _attributed(paths):
        if paths.restore.exists():
            shutil.rmtree(paths.restore)
        for folder in (paths.restore, paths.restore / "new", paths.restore / "old"):
            folder.mkdir(mode=0o700)
    return paths.restore / "new"


def swap(paths: Paths, names: Sequence[str], *, keep_old_in: str = "") -> None:
    """Replace `names` of the home by all that was made ready.

    Raises: AgentError when the disk fails; `finish_restore` then goes on with it.
    """
    with _attributed(paths):
        _sync_tree(paths.restore / "new")
        _write(paths, _Plan(tuple(names), keep_old_in, "aside"))
    finish_restore(paths)


def finish_restore(paths: Paths) -> None:
    """Go on with a swap that was cut off; away with files that were made ready and never used.

    Costs one look at the disk when there is nothing to do. Raises: AgentError when the disk fails.
    """
    if not paths.restore.exists():
        return
    with _attributed(paths):
        plan = _read(paths)
        if plan is not None:
            _finish(paths, plan)
        shutil.rmtree(paths.restore)


def _finish(paths: Paths, plan: _Plan) -> None:
    new, old = paths.restore / "new", paths.restore / "old"
    if plan.step == "aside":
        for name in plan.names:
            if os.path.lexists(paths.home / name):
                os.rename(paths.home / name, _free_name(old / name))
        plan = _go_on(paths, plan, "place")
    if plan.step == "place":
        for item in sorted(new.iterdir()):
            os.rename(item, paths.home / item.name)
        plan = _go_on(paths, plan, "clean")
    if plan.keep_old_in and old.is_dir() and any(old.iterdir()):
        paths.backups.mkdir(mode=0o700, exist_ok=True)
        os.rename(old, paths.backups / plan.keep_old_in)
    # The plan goes last: with `old` still there and no plan, nobody could tell a home that was emptied from one that
    # was never touched.
    for folder in (new, old):
        if folder.exists():
            shutil.rmtree(folder)


def _free_name(path: Path) -> Path:
    """`path`, or a name like it that is not taken: what was put aside is never overwritten."""
    free, number = path, 1
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free


def _go_on(paths: Paths, plan: _Plan, step: Step) -> _Plan:
    """What was done so far is on the disk before the plan says so."""
    for folder in (paths.home, paths.restore / "new", paths.restore / "old"):
        _sync(folder)
    plan = replace(plan, step=step)
    _write(paths, plan)
    return plan


def _write(paths: Paths, plan: _Plan) -> None:
    part = paths.restore / "plan.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump(asdict(plan), file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, paths.restore / "plan.json")
    _sync(paths.restore)


def _read(paths: Paths) -> _Plan | None:
    """None when nothing was planned yet. Raises: AgentError when the plan is not ours."""
    try:
        plan: dict[str, Any] = json.loads((paths.restore / "plan.json").read_text(encoding="utf-8"))
        return _Plan(tuple(plan["names"]), plan["keep_old_in"], plan["step"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise AgentError(
            f"A restore was cut off, and its plan {paths.restore / 'plan.json'} cannot be read.",
            f"Your files are in {paths.restore}: move them back into {paths.home} by hand.",
        ) from error


def _sync_tree(folder: Path) -> None:
    for where, _, files in os.walk(folder):
        for name in files:
            _sync(Path(where, name))
        _sync(Path(where))


def _sync(path: Path) -> None:
    """Onto the disk. Windows knows no such thing for folders, nor for files that are only read."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _attributed(paths: Paths) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AgentError(
            f"Files of the home {paths.home} cannot be exchanged: {error.strerror or error}.",
            "Free some space and check the disk; the next start of macaron goes on with it.",
        ) from error
