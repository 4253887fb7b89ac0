"""What a run trains on and is tested with, in token ids. Built once, by the engine and harness that serve, and kept.

A run that goes on reads the very ids it began with, whatever became of profile and harness since.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from engine.adapters.files import put
from engine.errors import StoreProblem, UsageProblem
from engine.harness.encoding import encode_parts
from engine.harness.prompt import Harness
from engine.runtime.protocol import AdapterStack, Encoder, Tokens
from local_training.examples import AnswerExample
from local_training.folding import FoldingPrompts
from local_training.lessons.wording import language_of
from local_training.policy import Example
from local_training.rollouts import RolloutSettings, TaskPrompt, prompt_of
from local_training.runs.data import data_content, run_examples, run_tasks
from local_training.runs.folder import RunFolder
from local_training.runs.general_texts import ANSWER_TOKENS, GENERAL_REQUESTS, everyday_requests
from local_training.runs.recipe import SAMPLING_KINDS, AnchorTable, Recipe
from local_training.runs.sampler import Sampler
from local_training.tasks import Split, Task, TaskMessage

_GENERAL_SEED: Final = 20_000

_Item = TypeVar("_Item", Task, AnswerExample)


@dataclass(frozen=True, slots=True)
class TokenExample:
    """An example of sft, dpo or kto. `rejected` is empty but in dpo."""

    example_id: str
    prompt: Tokens
    answer: Tokens
    """With the token that ends it."""
    rejected: Tokens
    is_good: bool


@dataclass(frozen=True, slots=True)
class Inputs:
    """Of rl and rft the tasks and their prompts, of the other kinds the examples; the others are empty."""

    tasks: Split[Task]
    prompts: Mapping[str, Tokens]
    """Of every task, by its id."""
    training: tuple[TokenExample, ...]
    held_out: tuple[TokenExample, ...]
    general: tuple[Example, ...]
    """General requests with the anchor's own answers."""
    anchor: tuple[Example, ...] = ()
    """Everyday requests with the anchor's own answers, where the recipe holds the policy to them."""
    folding: Mapping[str, FoldingPrompts] = field(default_factory=dict)
    """Of tasks of folding, by their ids. Not frozen: what they read depends on what is written."""

    def prompt(self, task_id: str, adapters: AdapterStack) -> TaskPrompt:
        return TaskPrompt(task_id, self.prompts[task_id], adapters, self.folding.get(task_id))


def load_inputs(folder: RunFolder, recipe: Recipe, sampler: Sampler, profile: Path) -> Inputs:
    """From the frozen data, and the frozen token ids where there are any; otherwise those are made and frozen.

    Raises: UsageProblem, ModelProblem, RuntimeFailed, DiskFull; StoreProblem when frozen ids are damaged.
    """
    content = data_content(folder.data, recipe)
    if recipe.kind in SAMPLING_KINDS:
        tasks = run_tasks(content, folder.data.name, recipe)
        tasks = Split(tasks.training, tested_items(tasks.held_out, recipe.evaluation.items))
        names = [task.task_id for task in (*tasks.training, *tasks.held_out)]
        folding = _folding(tasks, sampler, profile)
        prompts = _frozen(folder.prompts, names, lambda: _task_prompts(tasks, folding, sampler, profile))
        _check_lengths({name: len(tokens) for name, tokens in prompts.items()}, recipe)
        return Inputs(tasks, prompts, (), (), *_anchor_answers(folder, recipe, sampler, profile), folding)
    given = run_examples(content, folder.data.name, recipe)
    tested = tested_items(given.held_out, recipe.evaluation.items)
    names = [name for example in (*given.training, *tested) for name in _names(example)]
    ids = _frozen(folder.prompts, names, lambda: _example_ids((*given.training, *tested), sampler, profile))
    training, held_out = _in_tokens(given.training, ids), _in_tokens(tested, ids)
    return Inputs(Split((), ()), {}, training, held_out, *_anchor_answers(folder, recipe, sampler, profile))


def tested_items(held_out: Sequence[_Item], items: int) -> tuple[_Item, ...]:
    """At most `items`, chosen by their ids alone, in their order in the file."""
    ids = [item.task_id if isinstance(item, Task) else item.example_id for item in held_out]
    chosen = set(sorted(ids, key=lambda name: hashlib.sha256(f"tested\0{name}".encode()).digest())[:items])
    return tuple(item for item, name in zip(held_out, ids, strict=True) if name in chosen)


def _task_prompts(
    tasks: Split[Task], folding: Mapping[str, FoldingPrompts], sampler: Sampler, profile: Path
) -> dict[str, Tokens]:
    """Of a task of folding, the longest of those that are not yet written to."""
    harness, encoder = sampler.harness(profile), sampler.runtime
    return {
        task.task_id: folding[task.task_id].longest(encoder)
        if task.task_id in folding
        else prompt_of(task, harness, encoder)
        for task in (*tasks.training, *tasks.held_out)
    }


def _folding(tasks: Split[Task], sampler: Sampler, profile: Path) -> dict[str, FoldingPrompts]:
    folded = [task for task in (*tasks.training, *tasks.held_out) if task.folds]
    if not folded:
        return {}
    harness = sampler.harness(profile)
    return {task.task_id: FoldingPrompts(task.expert, harness, task.folds, task.messages[-1].text) for task in folded}


def _example_ids(examples: Sequence[AnswerExample], sampler: Sampler, profile: Path) -> dict[str, Tokens]:
    harness, encoder = sampler.harness(profile), sampler.runtime
    found: dict[str, Tokens] = {}
    for example in examples:
        as_task = Task(example.example_id, example.messages, example.expert, ())
        found[f"prompt {example.example_id}"] = prompt_of(as_task, harness, encoder)
        found[f"answer {example.example_id}"] = _answer(example.answer, harness, encoder, ends=example.ends)
        if example.rejected is not None:
            found[f"rejected {example.example_id}"] = _answer(example.rejected, harness, encoder)
    return found


def _names(example: AnswerExample) -> tuple[str, ...]:
    """Under which the ids of an example are kept."""
    parts = ("prompt", "answer") if example.rejected is None else ("prompt", "answer", "rejected")
    return tuple(f"{part} {example.example_id}" for part in parts)


def _answer(text: str, harness: Harness, encoder: Encoder, *, ends: bool = True) -> Tokens:
    """The ids as the policy would write them, up to the token that ends an answer, where it does end."""
    if not ends:
        return encoder.encode(text)
    closing = encode_parts(harness.chat_format.assistant_close(), encoder, harness.markup)
    return (*encoder.encode(text), *closing[:1])


def _in_tokens(examples: Sequence[AnswerExample], ids: Mapping[str, Tokens]) -> tuple[TokenExample, ...]:
    return tuple(
        TokenExample(
            example.example_id,
            ids[f"prompt {example.example_id}"],
            ids[f"answer {example.example_id}"],
            ids.get(f"rejected {example.example_id}", ()),
            example.is_good is not False,
        )
        for example in examples
    )


def anchor_requests(settings: AnchorTable) -> tuple[str, ...]:
    """Everyday requests that the policy is held to, spread over all of the file."""
    free = [one for one in everyday_requests() if language_of(one) not in settings.leave_out]
    return tuple(free[:: max(1, len(free) // settings.requests)][: settings.requests])


def _anchor_answers(
    folder: RunFolder, recipe: Recipe, sampler: Sampler, profile: Path
) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """To the general requests, and to those that the policy is held to."""
    harness, settings = sampler.harness(profile), recipe.anchor
    asked = anchor_requests(settings)
    answered = partial(_answered, harness=harness, expert=recipe.expert, sampler=sampler)
    general = answered(folder.general, GENERAL_REQUESTS, ANSWER_TOKENS, recipe.rollouts.together)
    if settings.weight == 0 and settings.within_nats is None:
        return general, ()
    return general, answered(folder.anchor, asked, settings.tokens, recipe.rollouts.together)


def _answered(
    path: Path,
    requests: Sequence[str],
    tokens: int,
    together: int,
    *,
    harness: Harness,
    expert: str,
    sampler: Sampler,
) -> tuple[Example, ...]:
    """Sampled from the anchor at temperature 1, so that the mean log-ratio estimates a KL; kept in the file `path`."""

    def draw() -> dict[str, Tokens]:
        asked = [Task(str(number), (TaskMessage("user", text),), expert, ()) for number, text in enumerate(requests)]
        prompts = [
            TaskPrompt(task.task_id, prompt_of(task, harness, sampler.runtime), sampler.adapters) for task in asked
        ]
        settings = RolloutSettings(1, tokens, together=together)
        found: dict[str, Tokens] = {}
        for group in sampler.roll_out(prompts, settings, seed=_GENERAL_SEED, step=0):
            segment = group.rollouts[0].segment
            found |= {f"prompt {group.task_id}": segment.prompt, f"answer {group.task_id}": segment.completion}
        return found

    names = [(f"prompt {number}", f"answer {number}") for number in range(len(requests))]
    ids = _frozen(path, [name for pair in names for name in pair], draw)
    return tuple(Example(ids[prompt], ids[answer]) for prompt, answer in names)


def _frozen(path: Path, names: Sequence[str], make: Callable[[], Mapping[str, Tokens]]) -> dict[str, Tokens]:
    """The ids kept under `names` in this file, which is made where it is missing. Raises: StoreProblem, DiskFull."""
    if not path.exists():
        put(path, [json.dumps(make(), ensure_ascii=False).encode()])
    try:
        values = json.loads(path.read_bytes())
        return {name: tuple(int(token) for token in values[name]) for name in names}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise StoreProblem(f"{path.name} of this run is damaged.", "Begin a new run from the same recipe.") from error


def _check_lengths(lengths: Mapping[str, int], recipe: Recipe) -> None:
    room = recipe.rollouts.context_tokens - max(recipe.rollouts.max_tokens, recipe.evaluation.max_tokens)
    name, longest = max(lengths.items(), key=lambda one: one[1])
    if longest > room:
        raise UsageProblem(
            f"The prompt of task `{name}` has {longest} tokens; with the answer it does not fit into "
            f"rollouts.context_tokens ({recipe.rollouts.context_tokens}).",
            f"Set that to {longest + recipe.rollouts.context_tokens - room} or more.",
        )
