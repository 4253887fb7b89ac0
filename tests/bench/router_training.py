"""The run that trains the router by the shipped recipe, in a folder where it goes on when it broke off."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tests
from engine.assets import asset_path
from local_training.runs.creating import create_run
from local_training.runs.events import Progress, read_event
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import StepMetrics, read_history
from tests.bench.report import progress
from tests.bench.router_sides import PROFILE
from tests.support.models import starter_base

RECIPE: Final = asset_path("recipes", "router.toml")


@dataclass(frozen=True, slots=True)
class Trained:
    """`adapter` is None when the run did not finish, and `reason` then says why."""

    adapter: Path | None
    reason: str
    steps: int
    kl_general_nats: float | None
    """From the base on general texts, a token, after the last step."""
    worked_minutes: float


def recipe_text(seed: int, quick: bool, threads: int) -> str:
    """The shipped recipe; `quick` makes it so small that it only shows that all works."""
    edits = [
        ("seed = 0", f"seed = {seed}"),
        ("threads = 0", f"threads = {threads}"),
        ("../tasks/", f"{RECIPE.parents[1].as_posix()}/tasks/"),
    ]
    if quick:
        edits += [("steps = 194", "steps = 2"), ("examples = 16", "examples = 2"), ("items = 80", "items = 2")]
    text = RECIPE.read_text(encoding="utf-8")
    for old, new in edits:
        if old not in text:
            raise ValueError(f"the recipe has no {old!r} to change")
        text = text.replace(old, new)
    return text


def trained(folder: Path, seed: int, *, quick: bool, threads: int) -> Trained:
    """Run the recipe to its end in `folder`, or go on with it, or only read what it came to."""
    run = RunFolder(folder / f"seed-{seed}")
    text = recipe_text(seed, quick, threads)
    if run.exists() and run.recipe.read_text(encoding="utf-8") != text:
        shutil.rmtree(run.path)  # it was of another recipe
    if not run.exists():
        folder.mkdir(parents=True, exist_ok=True)
        recipe = folder / f"seed-{seed}.toml"
        recipe.write_text(text, encoding="utf-8")
        create_run(run.path, recipe, profile=PROFILE, base=starter_base(), expert_adapter=None)
    if run.read_state().state != "finished":
        _train(run)
    return _outcome(run)


def _outcome(run: RunFolder) -> Trained:
    state, history = run.read_state(), read_history(run.metrics)
    is_finished = state.state == "finished"
    return Trained(
        adapter=run.adapter_gguf if is_finished else None,
        reason=state.reason or state.problem,
        steps=state.step,
        kl_general_nats=history.steps[-1].kl_general_nats if history.steps else None,
        worked_minutes=state.worked_seconds / 60,
    )


def _train(run: RunFolder) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(tests.__file__).parents[1])}
    with run.log.open("ab") as log:
        trainer = subprocess.Popen(
            [sys.executable, "-P", "-m", "local_training.runs", str(run.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            text=True,
        )
    assert trainer.stdout is not None
    for line in trainer.stdout:
        event = read_event(line)
        if isinstance(event, StepMetrics):
            progress(f"{run.path.name}: step {event.step}, loss {event.loss:.4f}, {event.seconds:.0f} s")
        elif event is not None and not isinstance(event, Progress):
            progress(f"{run.path.name}: {event}")
    trainer.wait()
