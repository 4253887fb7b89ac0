"""Shipped recipes run by real trainers for benchmarks: changed where a benchmark must, in folders where they go on."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import tests
from local_training.runs.creating import create_run
from local_training.runs.events import Progress, read_event
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import StepMetrics
from tests.bench.report import progress
from tests.support.models import starter_base


def edited(recipe: Path, edits: Sequence[tuple[str, str]]) -> str:
    """The text of a shipped recipe after `edits`, old and new, with its data found from anywhere.

    Raises: ValueError when there is nothing to change.
    """
    text = recipe.read_text(encoding="utf-8")
    for old, new in (*edits, ("../tasks/", f"{recipe.parents[1].as_posix()}/tasks/")):
        if old not in text:
            raise ValueError(f"the recipe has no {old!r} to change")
        text = text.replace(old, new)
    return text


def run_to_end(run: RunFolder, text: str, profile: Path, figures: Callable[[StepMetrics], str]) -> None:
    """Train the starter by the recipe `text`, or go on with that; nothing where it is finished.

    A run of another recipe is replaced. `figures` says of a step what is shown while it trains.
    """
    if run.exists() and run.recipe.read_text(encoding="utf-8") != text:
        shutil.rmtree(run.path)
    if not run.exists():
        run.path.parent.mkdir(parents=True, exist_ok=True)
        recipe = run.path.with_name(f"{run.path.name}.toml")
        recipe.write_text(text, encoding="utf-8")
        create_run(run.path, recipe, profile=profile, base=starter_base(), expert_adapter=None)
    if run.read_state().state != "finished":
        _train(run, figures)


def _train(run: RunFolder, figures: Callable[[StepMetrics], str]) -> None:
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
            progress(f"{run.path.name}: step {event.step}, {figures(event)}, {event.seconds:.0f} s")
        elif event is not None and not isinstance(event, Progress):
            progress(f"{run.path.name}: {event}")
    trainer.wait()
