"""The run that trains the router by the shipped recipe, in a folder where it goes on when it broke off."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.assets import asset_path
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import read_history
from tests.bench.router_sides import PROFILE
from tests.bench.training import edited, run_to_end

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
    edits = [("seed = 0", f"seed = {seed}"), ("threads = 0", f"threads = {threads}")]
    if quick:
        edits += [("steps = 480", "steps = 2"), ("examples = 16", "examples = 2"), ("items = 80", "items = 2")]
    return edited(RECIPE, edits)


def trained(folder: Path, seed: int, *, quick: bool, threads: int) -> Trained:
    """Run the recipe to its end in `folder`, or go on with it, or only read what it came to."""
    run = RunFolder(folder / f"seed-{seed}")
    run_to_end(run, recipe_text(seed, quick, threads), PROFILE, lambda step: f"loss {step.loss:.4f}")
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
