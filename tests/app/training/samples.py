"""Runs as they lie in a home, and the scripted trainer for them."""

import subprocess
import sys
from pathlib import Path

from app.paths import Paths
from app.training.trainer import TrainerProgram
from local_training.runs.folder import Frozen, RunFolder
from tests.app.running import environment

SCRIPT = Path(__file__).with_name("scripted_trainer.py")


def make_run(home: Path, name: str = "first", *, steps: int = 5) -> RunFolder:
    """A run that was made and not begun."""
    run = RunFolder(Paths(home).runs / name)
    run.inputs.mkdir(parents=True)
    run.recipe.write_text(f'kind = "rl"\ndata = "questions.jsonl"\nsteps = {steps}\n', encoding="utf-8")
    run.write_frozen(
        Frozen(
            kind="rl",
            title="brief",
            expert="L0",
            profile="",
            base="",
            base_hash="",
            expert_adapter="",
            expert_adapter_hash="",
            recipe_hash="",
            data_hash="",
            created_at=0.0,
            versions={},
        )
    )
    return run


def scripted(scenario: str) -> TrainerProgram:
    return TrainerProgram(
        command=lambda run: [sys.executable, "-P", str(SCRIPT), str(run.path), scenario], require=lambda: None
    )


def watch(run: RunFolder, scenario: str, *options: str, **changes: str | None) -> subprocess.Popen[bytes]:
    """Watch it beside the test; use it in a `with` statement."""
    command = [sys.executable, "-m", "tests.app.training.watching_process", str(run.path), scenario, *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environment(**changes))
