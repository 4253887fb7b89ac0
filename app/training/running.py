"""`macaron train run` and `resume`: make a run or find one, see it through, and say what came of it."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from app.bases import find_base
from app.output import is_terminal, print_error, print_json, print_text
from app.paths import Paths, make_home
from app.profiles import load_chosen_profile
from app.settings import load_settings, screen_language
from app.training.figures import change_line
from app.training.finding import find_recipe, find_run, is_working, name_for_commands
from app.training.outcome import Outcome
from app.training.reporting import report_at_end
from app.training.shows import JsonShow, PlainShow, Show
from app.training.supervising import supervise
from app.training.trainer import OUR_TRAINER, TrainerProgram
from engine.errors import HomeBusy, UsageProblem
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import History, read_history
from local_training.runs.recipe import read_recipe
from ui.inert import display_line
from ui.strings import say

_SIMPLE_TERMINALS: Final = ("", "dumb", "unknown")


def run_recipe(
    paths: Paths,
    environment: Mapping[str, str],
    recipe: Path,
    *,
    out: Path | None,
    profile: str | None,
    as_json: bool,
    trainer: TrainerProgram = OUR_TRAINER,
) -> int:
    """Raises: UsageProblem, UnknownName, ModelProblem, DiskFull, AgentError."""
    from local_training.runs.creating import create_run, default_run_folder  # reads whole bases

    trainer.require()
    make_home(paths)
    recipe = find_recipe(recipe)
    chosen = load_chosen_profile(paths, profile or load_settings(paths.settings).profile)
    expert = chosen.expert(read_recipe(recipe).expert)
    base = find_base(chosen, paths)
    folder = _expanded(out) if out else default_run_folder(paths.runs, recipe, datetime.now())
    run = create_run(folder, recipe, profile=chosen.folder, base=base, expert_adapter=expert.adapter)
    return _see_through(paths, environment, run, as_json=as_json, trainer=trainer)


def resume_run(
    paths: Paths,
    environment: Mapping[str, str],
    name_or_folder: Path,
    *,
    as_json: bool,
    trainer: TrainerProgram = OUR_TRAINER,
) -> int:
    """Go on from the last checkpoint; one that is finished is only shown. Raises: as `run_recipe`, HomeBusy."""
    run = find_run(paths, name_or_folder)
    state = run.read_state()
    if state.state == "finished":
        _tell_end(paths, environment, run, Outcome("finished", state.step, 0), as_json=as_json)
        return 0
    name = name_for_commands(paths, run, environment)
    if is_working(state):
        hint = f"let it go on with `macaron train pause {name} --off`, or" if run.pause.exists() else "wait for it, or"
        raise HomeBusy(
            f"The run {run.path.name} is already being trained.",
            f"{hint[0].upper()}{hint[1:]} end it with `macaron train stop {name}`.",
        )
    trainer.require()
    return _see_through(paths, environment, run, as_json=as_json, trainer=trainer)


def _see_through(
    paths: Paths, environment: Mapping[str, str], run: RunFolder, *, as_json: bool, trainer: TrainerProgram
) -> int:
    language = _language(paths, environment, as_json=as_json)
    go_on = f"macaron train resume {display_line(name_for_commands(paths, run, environment))}"
    show = _choose_show(environment, language, as_json=as_json)
    outcome = supervise(run, trainer.command(run), show, go_on=go_on, language=language)
    _tell_end(paths, environment, run, outcome, as_json=as_json)
    return outcome.exit_code


def _choose_show(environment: Mapping[str, str], language: str, *, as_json: bool) -> Show:
    if as_json:
        return JsonShow()
    term = environment.get("TERM", "" if sys.platform != "win32" else "windows")
    if not is_terminal(sys.stdout) or term in _SIMPLE_TERMINALS:
        return PlainShow(language)
    from rich.console import Console

    from app.training.live import LiveShow

    return LiveShow(Console(file=sys.stdout, highlight=False), language)


def _tell_end(paths: Paths, environment: Mapping[str, str], run: RunFolder, outcome: Outcome, *, as_json: bool) -> None:
    language = _language(paths, environment, as_json=as_json)
    history = read_history(run.metrics)
    report = report_at_end(run, history, language, is_quiet=as_json)
    if as_json:
        print_json(_as_json(run, outcome, history, report))
        return
    name = display_line(name_for_commands(paths, run, environment))
    if outcome.state != "failed":
        reason = display_line(run.read_state().reason)
        why = f" {reason}" if reason else ""
        print_text(say(f"train.end.{outcome.state}", language, step=outcome.step, why=why, name=name))
    if change := change_line(history.evaluations, language):
        print_text(change)
    if outcome.state != "failed" and run.adapter_gguf.is_file():
        print_text(say("train.adapter", language, path=display_line(str(run.adapter_gguf))))
    if report:
        print_text(say("train.report", language, path=display_line(str(report))))
    if outcome.state == "failed":
        print_error(outcome.problem, outcome.hint, as_json=False)


def _as_json(run: RunFolder, outcome: Outcome, history: History, report: Path | None) -> dict[str, Any]:
    evaluations = [asdict(one) for one in history.evaluations]
    failed = outcome.state == "failed"
    return {
        "kind": "result",
        "folder": str(run.path),
        "state": outcome.state,
        "step": outcome.step,
        "reason": run.read_state().reason,
        "before": evaluations[0] if evaluations else None,
        "after": evaluations[-1] if evaluations else None,
        "adapter": str(run.adapter_gguf) if run.adapter_gguf.is_file() and not failed else None,
        "report": str(report) if report else None,
        **({"error": {"problem": outcome.problem, "hint": outcome.hint}} if failed else {}),
    }


def _language(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> str:
    return "en" if as_json else screen_language(load_settings(paths.settings), environment)


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise UsageProblem(f"There is no home folder for {path}.", "Write the whole path.") from error
