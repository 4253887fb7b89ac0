"""Read a task file: JSON Lines, one task a line. Every fault is found, with its line and the reason.

Rewards are built while reading, so that their parameters are known to be right before a run begins. Runs nothing.

    {"id": "capital-1", "prompt": "What is the capital of France?", "expert": "L0",
     "reward": [{"name": "exact", "expected": "Paris", "weight": 2}, {"name": "length", "most": 40}],
     "group": "capital-of-france", "tags": ["geography"]}

`prompt` is a text, or messages such as {"role": "user", "content": "…"}. `group`, `tags` and `source` may be missing;
`source` is the id of the turn that a task was made from, or a list of such ids. A task with `folds`, messages of the
user, is one of folding (`local_training.folding`): they are folded one after the other before `prompt`, one message,
is answered from what was kept.
"""

import math
from pathlib import Path
from typing import Any, Final

from engine.errors import UsageProblem
from engine.json_lines import Wrong, demand, refuse_unknown
from local_training.line_files import (
    ASKED_FIELDS,
    MOST_PROMPT_CHARACTERS,
    Fault,
    all_of,
    asked,
    listed,
    parse_lines,
    read_content,
)
from local_training.rewards import RewardProblem, build_reward
from local_training.tasks import RewardSpec, Task, TaskSet

_FIELDS: Final = ASKED_FIELDS | {"reward", "folds"}


class TaskFileProblem(UsageProblem):
    """A task file cannot be used; the problem lists the faults."""


def read_tasks(path: Path) -> TaskSet:
    """All tasks of a file.

    Raises: TaskFileProblem when there is no such file, it holds no task, or any line has a fault.
    """
    return task_set(read_task_content(path), path.name)


def read_task_content(path: Path) -> bytes:
    """Raises: TaskFileProblem when there is no such file."""
    return read_content(path, TaskFileProblem)


def task_set(content: bytes, name: str) -> TaskSet:
    """All tasks in the content of a file called `name`. Raises: TaskFileProblem, as `read_tasks`."""
    found = all_of(content, name, "task", _task, TaskFileProblem)
    return TaskSet(found.items, found.content_hash)


def parse_tasks(content: bytes) -> tuple[tuple[Task, ...], tuple[Fault, ...]]:
    """The tasks of the lines without a fault, and the faults of the others."""
    return parse_lines(content, _task)


def _task(value: dict[str, Any]) -> tuple[str, Task]:
    """Its id and the task. Raises: Wrong with what is wrong with the line."""
    refuse_unknown(value, _FIELDS, "the task")
    line = asked(value)
    rewards = _rewards(value.get("reward"))
    folds = _folds(value.get("folds", []))
    demand(not folds or len(line.messages) == 1, "a task with `folds` has one message as its `prompt`")
    return line.line_id, Task(
        line.line_id, line.messages, line.expert, rewards, line.group, line.tags, line.sources, folds
    )


def _folds(value: Any) -> tuple[str, ...]:
    messages = listed(value, "folds")
    demand(all(isinstance(one, str) and one.strip() for one in messages), "`folds` must be a list of texts")
    characters = sum(map(len, messages))
    demand(characters <= MOST_PROMPT_CHARACTERS, f"`folds` has more than {MOST_PROMPT_CHARACTERS:,} characters")
    return tuple(messages)


def _rewards(value: Any) -> tuple[RewardSpec, ...]:
    several = listed([value] if isinstance(value, dict) else value, "reward")
    demand(several != [], "`reward` must name at least one reward")
    specs = tuple(map(_reward, several))
    for spec in specs:
        try:
            build_reward(spec)
        except RewardProblem as problem:
            raise Wrong(str(problem)) from None
    return specs


def _reward(value: Any) -> RewardSpec:
    demand(isinstance(value, dict), "a reward is no JSON object")
    name, weight = value.get("name"), value.get("weight", 1.0)
    demand(isinstance(name, str), "a reward has no `name`")
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    demand(
        is_number and math.isfinite(weight) and weight > 0, f"reward `{name:.40}`: `weight` must be a number above 0"
    )
    parameters = {key: item for key, item in value.items() if key not in ("name", "weight")}
    return RewardSpec(name, parameters, float(weight))
