"""Find a run or a recipe by its name or path, and tell whether somebody works on a run. Changes nothing."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psutil

from app.paths import Paths, find_home
from engine.assets import asset_path
from engine.errors import UnknownName, UsageProblem
from local_training.runs.folder import RunFolder, RunState

_CLOCK_SLACK_S: Final = 2.0
_WORKING: Final = ("running", "paused")


def find_run(paths: Paths, name_or_folder: Path) -> RunFolder:
    """A name of a run in the home, or a folder. Raises: UnknownName listing the runs there are, UsageProblem."""
    is_name = name_or_folder.name == str(name_or_folder)
    try:
        named = name_or_folder.expanduser()
    except RuntimeError as error:
        raise UsageProblem(f"There is no home folder for {name_or_folder}.", "Write the whole path.") from error
    for folder in ([paths.runs / name_or_folder] if is_name else []) + [named.absolute()]:
        if (run := RunFolder(folder)).exists():
            run.read_frozen()  # says so where another version made it
            return run
    known = ", ".join(run.path.name for run in runs_of(paths))
    raise UnknownName(
        f"There is no run {name_or_folder}.",
        f"Runs of this home: {known or 'none'}. Or give the folder that `macaron train run` made.",
    )


def find_recipe(name_or_path: Path) -> Path:
    """A recipe file, or by its name one that comes with the program.

    Raises: UnknownName listing those there are, UsageProblem.
    """
    try:
        path = name_or_path.expanduser().absolute()
    except RuntimeError as error:
        raise UsageProblem(f"There is no home folder for {name_or_path}.", "Write the whole path.") from error
    if path.exists() or name_or_path.name != str(name_or_path):
        return path
    shipped = {recipe.stem: recipe for recipe in asset_path("recipes").glob("*.toml")}
    if name_or_path.name not in shipped:
        raise UnknownName(
            f"There is no recipe {name_or_path}.",
            f"Give a TOML file, or a recipe that comes with the program: {', '.join(sorted(shipped))}.",
        )
    return shipped[name_or_path.name]


def runs_of(paths: Paths) -> list[RunFolder]:
    """Those in the home, by name, which begins with the time they were made at; none that was only half made."""
    return [run for run in map(RunFolder, sorted(paths.runs.glob("[!.]*"))) if run.exists()]


def is_working(state: RunState) -> bool:
    """Whether the process that the state names is still there; a later one that got its number does not count."""
    if state.state not in _WORKING or not state.pid:
        return False
    try:
        process = psutil.Process(state.pid)
        began_at, status = process.create_time(), process.status()
    except psutil.Error:
        return False
    return bool(began_at <= state.updated_at + _CLOCK_SLACK_S and status != psutil.STATUS_ZOMBIE)


def was_cut_off(state: RunState) -> bool:
    """It was being trained when everything ended, so that nobody could write down why."""
    return state.state in _WORKING and not is_working(state)


def name_for_commands(paths: Paths, run: RunFolder, environment: Mapping[str, str]) -> str:
    """How the user names this run to a next command: its name where that is enough, else its folder."""
    is_usual_home = find_home(None, environment).runs == run.path.parent and paths.runs == run.path.parent
    return shlex.quote(run.path.name if is_usual_home else str(run.path))
