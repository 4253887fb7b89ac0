"""The arms of the learning benchmark: runs of one recipe in real trainers, and one arm that only asks.

Each arm and seed has a folder, where it goes on when it broke off and where what it found stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.assets import asset_path
from local_training.rollouts import prompt_of
from local_training.runs.data import data_content, run_tasks
from local_training.runs.evaluating import evaluate_tasks
from local_training.runs.evaluations import EvaluatedItem, evaluation_path, read_items, write_items
from local_training.runs.folder import RunFolder
from local_training.runs.inputs import Inputs, tested_items
from local_training.runs.metrics import History, StepMetrics, read_history
from local_training.runs.recipe import read_recipe
from local_training.runs.sampler import EngineSettings, Sampler
from local_training.runs.signals import Signals
from local_training.runs.worktime import WorkTime
from local_training.tasks import Split, Task, TaskMessage
from tests.bench.training import edited, run_to_end
from tests.support.models import starter_base

RECIPE: Final = asset_path("recipes", "short-answers.toml")
PROFILE: Final = asset_path("profiles", "starter")
BRIEFLY: Final = " Answer briefly."

EDITS: Final = {
    "rl": (),
    "rft": (('kind = "rl"', 'kind = "rft"'),),
    "shuffled": (("[reward]", "[reward]\nshuffled = true"),),
}
"""What each trained arm changes in the recipe."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What one arm and seed has come to. `items` are of the same held-out tasks before and after, in one order."""

    name: str
    seed: int
    before: tuple[EvaluatedItem, ...]
    after: tuple[EvaluatedItem, ...]
    history: History
    worked_seconds: float
    """Of the whole run, loading and evaluations included."""
    reason: str
    """Why it ended."""

    @property
    def idle_share(self) -> float:
        """Of all its seconds: neither sampler nor trainer worked."""
        busy = sum(step.rollout_seconds + step.train_seconds for step in self.history.steps)
        busy += sum(evaluation.seconds for evaluation in self.history.evaluations)
        return max(0.0, 1.0 - busy / self.worked_seconds)


def recipe_text(name: str, seed: int, quick: bool) -> str:
    """The shipped recipe, with the arm's changes; `quick` makes it so small that it only shows that all works."""
    # One thread each, so that runs side by side do not take each other's core.
    edits = [*EDITS[name], ("threads = 0", "threads = 1"), ("seed = 0", f"seed = {seed}")]
    if quick:
        edits += [("steps = 20", "steps = 2"), ("items = 240", "items = 6"), ("prompts = 6", "prompts = 2")]
        edits += [
            ("branches = 8", "branches = 2"),
            ("max_tokens = 64", "max_tokens = 24"),
            ("max_tokens = 256", "max_tokens = 24"),
        ]
    return edited(RECIPE, edits)


def trained(folder: Path, name: str, seed: int, quick: bool) -> Arm | None:
    """Run this arm to its end in `folder`, or go on with it, or only read it. None when it did not finish."""
    run = RunFolder(folder / f"{name}-{seed}")
    run_to_end(run, recipe_text(name, seed, quick), PROFILE, _figures)
    return read_arm(folder, name, seed)


def read_arm(folder: Path, name: str, seed: int) -> Arm | None:
    """What is there of an arm that finished."""
    run = RunFolder(folder / f"{name}-{seed}")
    state = run.read_state()
    if state.state != "finished":
        return None
    history = read_history(run.metrics)
    before, after = (read_items(evaluation_path(run.evaluations, step)) for step in (0, state.step))
    return Arm(name, seed, before, after, history, state.worked_seconds, state.reason)


def _figures(step: StepMetrics) -> str:
    return f"accuracy {step.accuracy:.2f}, {step.length_tokens:.1f} tokens"


def told_to_be_brief(folder: Path, quick: bool) -> tuple[EvaluatedItem, ...]:
    """The untrained base's answers to the same held-out questions, each followed by a wish for brevity."""
    path = folder / "briefly.jsonl"
    if not path.exists():
        recipe_path = folder / "briefly.toml"
        folder.mkdir(parents=True, exist_ok=True)
        recipe_path.write_text(recipe_text("rl", 0, quick), encoding="utf-8")
        recipe = read_recipe(recipe_path)
        source = recipe_path.parent / recipe.data
        tasks = run_tasks(data_content(source, recipe), source.name, recipe)
        asked = [_briefly(task) for task in tested_items(tasks.held_out, recipe.evaluation.items)]
        nobody = Signals(RunFolder(folder / "briefly"), lambda _: None)
        settings = EngineSettings(recipe.rollouts.context_tokens, recipe.rollouts.together, recipe.limits.threads)
        sampler = Sampler(starter_base(), None, folder / "work", settings, signals=nobody, work=WorkTime())
        try:
            harness = sampler.harness(PROFILE)
            prompts = {task.task_id: prompt_of(task, harness, sampler.runtime) for task in asked}
            inputs = Inputs(Split((), tuple(asked)), prompts, (), (), ())
            write_items(path, evaluate_tasks(inputs, sampler, recipe, lambda *_: None))
        finally:
            sampler.close()
    return read_items(path)


def _briefly(task: Task) -> Task:
    last = task.messages[-1]
    return replace(task, messages=(*task.messages[:-1], TaskMessage(last.role, last.text + BRIEFLY)))


def accuracy(items: Sequence[EvaluatedItem]) -> float:
    return sum(item.correct is True for item in items) / len(items)


def mean_tokens(items: Sequence[EvaluatedItem]) -> float:
    return sum(item.tokens or 0 for item in items) / len(items)
