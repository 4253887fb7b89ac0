"""`macaron train pause`, `stop`, `report` and `list`: what one says to runs, and sees of them, from outside."""

import time
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from app.files import written
from app.models.wording import table
from app.output import print_json, print_text
from app.paths import Paths
from app.settings import load_settings, screen_language
from app.training.figures import accuracy_text, length_text
from app.training.finding import find_run, is_working, name_for_commands, runs_of, was_cut_off
from app.training.reporting import write_report_in
from app.training.supervising import ask_to_stop
from engine.errors import AgentError, UsageProblem
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import EvaluationMetrics, StepMetrics, read_history
from local_training.runs.recipe import read_recipe
from ui.inert import display_line
from ui.strings import say

PAUSE_WAIT_S: Final = 10.0
_POLL_S: Final = 0.05


def pause_run(
    paths: Paths,
    environment: Mapping[str, str],
    name_or_folder: Path,
    *,
    off: bool,
    as_json: bool,
    wait_s: float = PAUSE_WAIT_S,
) -> int:
    """Ask a run to wait, and see that it does; `off` lets it go on.

    Raises: UsageProblem when nobody works on it, AgentError when it does not wait in time, DiskFull.
    """
    run = find_run(paths, name_or_folder)
    name = name_for_commands(paths, run, environment)
    _require_work(run, name)
    with written(run.pause):
        if off:
            run.pause.unlink(missing_ok=True)
        else:
            run.pause.touch()
    if not off:
        _wait_for_pause(run, name, wait_s)
    if as_json:
        print_json({"folder": str(run.path), "paused": not off})
    else:
        key = "train.goes_on" if off else "train.paused"
        print_text(say(key, _language(paths, environment), name=display_line(name)))
    return 0


def stop_run(paths: Paths, environment: Mapping[str, str], name_or_folder: Path, *, as_json: bool) -> int:
    """Ask a run to end as soon as it can. Raises: UsageProblem when nobody works on it, DiskFull, AgentError."""
    run = find_run(paths, name_or_folder)
    name = name_for_commands(paths, run, environment)
    _require_work(run, name)
    with written(run.stop):
        ask_to_stop(run)
    if as_json:
        print_json({"folder": str(run.path), "stopping": True})
    else:
        print_text(say("train.asked_to_stop", _language(paths, environment), name=display_line(name)))
    return 0


def report_run(
    paths: Paths, environment: Mapping[str, str], name_or_folder: Path, *, opens: bool, as_json: bool
) -> int:
    """Write the report of what there is so far. Raises: UsageProblem, DiskFull, AgentError."""
    run = find_run(paths, name_or_folder)
    language = _language(paths, environment)
    report = write_report_in(run, language)
    opened = opens and webbrowser.open(report.absolute().as_uri())
    if as_json:
        print_json({"folder": str(run.path), "report": str(report), "opened": opened})
        return 0
    print_text(say("train.report", language, path=display_line(str(report))))
    if opens and not opened:
        print_text(say("train.report.unopened", language))
    return 0


@dataclass(frozen=True, slots=True)
class Listed:
    """One run of the home."""

    name: str
    folder: str
    kind: str
    expert: str
    state: str
    """As the folder says, or `cut_off` where its trainer is gone without a word."""
    step: int
    steps: int
    """0 where the recipe cannot be read."""
    accuracy: float | None
    length_tokens: float | None
    """Both of the newest evaluation, or step."""
    problem: str


def list_runs(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> int:
    found = [_listed(run) for run in runs_of(paths)]
    if as_json:
        print_json({"runs": [asdict(one) for one in found]})
        return 0
    language = _language(paths, environment)
    if not found:
        print_text(say("train.list.none", language))
        return 0
    heads = [say(f"train.list.{head}", language) for head in ("name", "state", "step", "accuracy", "length", "problem")]
    for line in table([heads, *(_row(one, language) for one in found)]):
        print_text(line.rstrip())
    return 0


def _listed(run: RunFolder) -> Listed:
    state = run.read_state()
    try:
        frozen = run.read_frozen()
        kind, expert, steps = frozen.kind, frozen.expert, read_recipe(run.recipe).steps
    except UsageProblem:
        kind, expert, steps = "", "", 0
    history = read_history(run.metrics)
    told: Sequence[EvaluationMetrics | StepMetrics] = history.evaluations or history.steps
    newest = told[-1] if told else None
    return Listed(
        name=run.path.name,
        folder=str(run.path),
        kind=kind,
        expert=expert,
        state="cut_off" if was_cut_off(state) else state.state,
        step=state.step,
        steps=steps,
        accuracy=newest.accuracy if newest else None,
        length_tokens=newest.length_tokens if newest else None,
        problem=state.problem,
    )


def _row(one: Listed, language: str) -> list[str]:
    step = f"{one.step}/{one.steps}" if one.steps else str(one.step)
    state = say(f"train.state.{one.state}", language)
    figures = [accuracy_text(one.accuracy), length_text(one.length_tokens)]
    return [display_line(one.name), state, step, *figures, display_line(one.problem)]


def _require_work(run: RunFolder, name: str) -> None:
    state = run.read_state()
    if not is_working(state):
        how = "It is finished." if state.state == "finished" else f"Go on with it: `macaron train resume {name}`."
        raise UsageProblem(f"Nobody works on the run {run.path.name}.", how)


def _wait_for_pause(run: RunFolder, name: str, wait_s: float) -> None:
    """Raises: AgentError."""
    deadline = time.monotonic() + wait_s
    while (state := run.read_state()).state != "paused":
        if not is_working(state):
            raise AgentError(f"The run {run.path.name} ended before it could wait.", "See `macaron train list`.")
        if time.monotonic() > deadline:
            raise AgentError(
                f"The run {run.path.name} does not wait yet, after {wait_s:.0f} s.",
                f"It will when what it is doing is done; `macaron train pause {name} --off` takes the wish back.",
            )
        time.sleep(_POLL_S)


def _language(paths: Paths, environment: Mapping[str, str]) -> str:
    return screen_language(load_settings(paths.settings), environment)
