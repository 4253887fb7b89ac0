"""What a run and the gate read of a lesson: examples, held-out prompts and the recipe, as files; and back.

Knows the formats of `local_training.example_files` and of recipes; trains nothing.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine import strict_json
from local_training.examples import AnswerExample
from local_training.lessons.building import HeldOutItem, LessonData
from local_training.lessons.stored import lesson_from, lesson_value
from local_training.lessons.wording import Language

EXAMPLES: Final = "lesson.jsonl"
RECIPE: Final = "recipe.toml"
HELD_OUT: Final = "held-out.json"
_PARITY_ANSWERS: Final = 24
"""The gate asks for 16; each costs seconds of the lesson."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """How the run is held to what it says on everyday requests, as in a recipe's table `[anchor]`."""

    weight: float
    requests: int = 64
    tokens: int = 48
    batch: int = 8
    within_nats: float | None = None
    leave_out: tuple[Language, ...] = ()


@dataclass(frozen=True, slots=True)
class LessonRecipe:
    """The settings of a lesson's run."""

    minutes: float = 4.5
    """Of the run up to its last step; from them the steps follow."""
    start_seconds: float = 20.0
    """Of them, before the first step."""
    seconds_per_step: float = 3.0
    """What one optimizer step takes on this machine."""
    passes: float = 4.0
    """How often each example is seen, where the time allows."""
    batch_examples: int = 8
    rate: float = 3e-4
    familiar: float = 0.2
    """What the expert would say anyway with at least this probability is not learned: it would only make it surer."""
    threads: int = 0
    anchor: Anchor | None = None

    def steps(self, examples: int) -> int:
        affordable = math.floor((60 * self.minutes - self.start_seconds) / self.seconds_per_step)
        return max(1, min(affordable, math.ceil(self.passes * examples / self.batch_examples)))


def write_lesson(folder: Path, data: LessonData, recipe: LessonRecipe, seed: int) -> Path:
    """The three files in an existing folder; returns the path of the recipe. Raises: OSError."""
    (folder / EXAMPLES).write_text(example_lines(data.examples), encoding="utf-8", newline="\n")
    (folder / HELD_OUT).write_text(held_out_text(data), encoding="utf-8", newline="\n")
    path = folder / RECIPE
    path.write_text(recipe_text(data, recipe, seed), encoding="utf-8", newline="\n")
    return path


def example_lines(examples: Iterable[AnswerExample]) -> str:
    """JSON Lines of the kind sft."""
    return "".join(json.dumps(_line(example), ensure_ascii=False) + "\n" for example in examples)


def _line(example: AnswerExample) -> Mapping[str, Any]:
    return {
        "id": example.example_id,
        "prompt": [{"role": message.role, "content": message.text} for message in example.messages],
        "expert": example.expert,
        "answer": example.answer,
        "group": example.group,
        "tags": list(example.tags),
        **({"source": list(example.sources)} if example.sources else {}),
        **({} if example.ends else {"ends": False}),
    }


def recipe_text(data: LessonData, recipe: LessonRecipe, seed: int) -> str:
    """TOML. All examples are trained on: what the lesson is tested with is apart from them already."""
    steps = recipe.steps(len(data.examples))
    lines = [
        'kind = "sft"',
        f'data = "{EXAMPLES}"',
        f"expert = {json.dumps(data.examples[0].expert, ensure_ascii=False)}",
        f"steps = {steps}",
        f"seed = {seed}",
        "",
        "[optimizer]",
        f"rate = {recipe.rate!r}",
        'schedule = "linear"',
        f"warmup_steps = {min(4, steps - 1)}",
        "",
        "[batch]",
        f"examples = {recipe.batch_examples}",
        "",
        "[loss]",
        f"familiar = {recipe.familiar!r}",
        "",
        "[evaluation]",
        "held_out = 0.0",
        "items = 0",
        f"parity = {_PARITY_ANSWERS}",
        "",
        "[limits]",
        f"minutes = {float(recipe.minutes)!r}",
        f"threads = {recipe.threads}",
    ]
    if recipe.anchor is not None:
        anchor = recipe.anchor
        lines += ["", "[anchor]", f"weight = {float(anchor.weight)!r}", f"requests = {anchor.requests}"]
        lines += [f"tokens = {anchor.tokens}", f"batch = {anchor.batch}"]
        lines += [f"leave_out = {json.dumps(list(anchor.leave_out))}"] if anchor.leave_out else []
        lines += [f"within_nats = {float(anchor.within_nats)!r}"] if anchor.within_nats is not None else []
    return "\n".join(lines) + "\n"


def held_out_text(data: LessonData) -> str:
    """JSON of what the lesson is tested with, and of the lesson itself, so that a later program judges alike."""
    value = {
        "lesson": lesson_value(data.lesson),
        "held_out": [{"id": item.item_id, "prompt": item.prompt, "wanted": item.wanted} for item in data.held_out],
        "off_target": list(data.off_target),
    }
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def read_held_out(text: str) -> LessonData:
    """What `held_out_text` wrote, without the examples. Raises: ValueError where it is something else."""
    value = strict_json.loads(text)
    try:
        items = tuple(HeldOutItem(str(one["id"]), str(one["prompt"]), str(one["wanted"])) for one in value["held_out"])
        return LessonData(lesson_from(value["lesson"]), (), items, tuple(map(str, value["off_target"])))
    except (KeyError, TypeError) as error:
        raise ValueError(f"it holds no held-out prompts of a lesson: {error!r}") from error
