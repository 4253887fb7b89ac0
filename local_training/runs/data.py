"""What a run learns from and is tested with: the data its recipe names, read, checked and split. Light: no torch."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol, TypeVar

from engine.errors import UsageProblem
from local_training.example_files import example_set, read_example_content
from local_training.examples import AnswerExample, ExampleKind, has_both_labels
from local_training.runs.recipe import SAMPLING_KINDS, Recipe
from local_training.task_files import read_task_content, task_set
from local_training.tasks import Split, Splittable, Task, split_items


class _Line(Splittable, Protocol):
    @property
    def expert(self) -> str: ...


_Item = TypeVar("_Item", bound=_Line)


def data_content(path: Path, recipe: Recipe) -> bytes:
    """All bytes of the data file. Raises: UsageProblem."""
    return read_task_content(path) if recipe.kind in SAMPLING_KINDS else read_example_content(path)


def check_data(content: bytes, name: str, recipe: Recipe) -> dict[str, str]:
    """That a run can learn from the content of a file called `name`; the sources of what it trains on.

    Each source comes with a hash, 64 hex digits of SHA-256, of all that was made from it. What is held out teaches
    nothing, so its sources are none of the adapter's.

    Raises: UsageProblem with every fault of a line, or when the lines are for another expert, or when one side of the
    split is empty that must not be.
    """
    if recipe.kind in SAMPLING_KINDS:
        return sources_of(run_tasks(content, name, recipe).training)
    return sources_of(run_examples(content, name, recipe).training)


def sources_of(items: Iterable[Task | AnswerExample]) -> dict[str, str]:
    """Source → hash of the items that name it, in their order."""
    made_from: dict[str, list[bytes]] = {}
    for item in items:
        for source in item.sources:
            plain = json.dumps(asdict(item), ensure_ascii=False, sort_keys=True).encode()
            made_from.setdefault(source, []).append(plain)
    return {source: hashlib.sha256(b"\n".join(lines)).hexdigest() for source, lines in made_from.items()}


def run_tasks(content: bytes, name: str, recipe: Recipe) -> Split[Task]:
    """The two sides of a recipe of rl or rft. Raises: UsageProblem, as `check_data`."""
    return _split(task_set(content, name).tasks, name, recipe, "tasks")


def run_examples(content: bytes, name: str, recipe: Recipe) -> Split[AnswerExample]:
    """The two sides of a recipe of sft, dpo or kto. Raises: UsageProblem, as `check_data`."""
    split = _split(example_set(content, name, _example_kind(recipe)).examples, name, recipe, "examples")
    if recipe.kind == "kto" and not has_both_labels(split.training):
        raise UsageProblem(
            f"Of the examples in {name} that are trained on, `good` is the same in all {len(split.training)}; kto"
            " learns from what sets good answers apart from bad ones.",
            "Add examples of the other kind, or choose another evaluation.held_out.",
        )
    return split


def _example_kind(recipe: Recipe) -> ExampleKind:
    match recipe.kind:
        case "sft" | "dpo" | "kto":
            return recipe.kind
        case "rl" | "rft":
            raise UsageProblem(f"A recipe of {recipe.kind} has tasks, no examples.", "Read its tasks.")


def _split(items: Sequence[_Item], name: str, recipe: Recipe, noun: str) -> Split[_Item]:
    others = Counter(item.expert for item in items if item.expert != recipe.expert)
    if others:
        listed = ", ".join(f"{count} for {expert}" for expert, count in others.most_common())
        raise UsageProblem(
            f"Of {len(items)} {noun} in {name} there are {listed}, but the recipe trains {recipe.expert}.",
            "Set `expert` in the recipe, or move these lines into a file of their own.",
        )
    evaluation = recipe.evaluation
    if evaluation.items and evaluation.held_out == 0.0:
        raise UsageProblem(
            f"Up to {evaluation.items} {noun} are to be evaluated, but evaluation.held_out is 0, so none is held out.",
            "Set evaluation.held_out, such as to 0.2, or evaluation.items to 0 for no evaluation.",
        )
    return split_items(items, evaluation.held_out, noun, needs_held_out=evaluation.items > 0)
