"""Read a task file: JSON Lines, one task a line. Every fault is found, with its line and the reason.

A fault is never passed over: a task that was read wrongly would be learned wrongly. Rewards are built while reading,
so that their parameters are known to be right before a run begins. Runs nothing.

    {"id": "capital-1", "prompt": "What is the capital of France?", "expert": "L0",
     "reward": [{"name": "exact", "expected": "Paris", "weight": 2}, {"name": "length", "most": 40}],
     "group": "capital-of-france", "tags": ["geography"]}

`prompt` is a text, or messages such as {"role": "user", "content": "…"}; `group` and `tags` may be missing.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.errors import UsageProblem
from local_training import strict_json
from local_training.rewards import RewardProblem, build_reward
from local_training.tasks import RewardSpec, Task, TaskMessage, TaskSet

MOST_FILE_BYTES: Final = 256 << 20
MOST_LINE_BYTES: Final = 1 << 20
MOST_PROMPT_CHARACTERS: Final = 200_000
MOST_NAME_CHARACTERS: Final = 200
"""Of an id, a group, an expert or a tag."""
MOST_LISTED: Final = 64
"""Messages, rewards or tags of one task."""
_BOM: Final = b"\xef\xbb\xbf"
_FIELDS: Final = frozenset({"id", "prompt", "expert", "reward", "group", "tags"})
_FAULTS_SHOWN: Final = 20


class TaskFileProblem(UsageProblem):
    """A task file cannot be used; the problem lists the faults."""


@dataclass(frozen=True, slots=True)
class Fault:
    line: int
    """From 1."""
    reason: str


def read_tasks(path: Path) -> TaskSet:
    """All tasks of a file.

    Raises: TaskFileProblem when there is no such file, it holds no task, or any line has a fault.
    """
    try:
        if path.stat().st_size > MOST_FILE_BYTES:
            raise TaskFileProblem(f"{path.name} is larger than {MOST_FILE_BYTES >> 20} MiB.", "Split it into several.")
        content = path.read_bytes()
    except OSError as error:
        raise TaskFileProblem(
            f"{path.name} cannot be read: {error.strerror or error}.", "Check its path and whether you may read it."
        ) from error
    tasks, faults = parse_tasks(content)
    if faults:
        shown = "\n".join(f"  line {fault.line}: {fault.reason}" for fault in faults[:_FAULTS_SHOWN])
        more = f"\n  and {len(faults) - _FAULTS_SHOWN} more" if len(faults) > _FAULTS_SHOWN else ""
        raise TaskFileProblem(
            f"{path.name} has {len(faults)} {'fault' if len(faults) == 1 else 'faults'}:\n{shown}{more}",
            "Correct these lines. Nothing of the file was used.",
        )
    if not tasks:
        raise TaskFileProblem(f"{path.name} holds no task.", "Write one task a line, as JSON.")
    return TaskSet(tasks, hashlib.sha256(content).hexdigest())


def parse_tasks(content: bytes) -> tuple[tuple[Task, ...], tuple[Fault, ...]]:
    """The tasks of the lines without a fault, and the faults of the others."""
    faults: list[Fault] = []
    tasks: dict[str, tuple[int, Task]] = {}
    if content.startswith(_BOM):
        faults.append(Fault(1, "it begins with a byte order mark; save the file as UTF-8 without one"))
        content = content.removeprefix(_BOM)
    for number, line in _lines(content):
        try:
            task = _task(line)
            if task.task_id in tasks:
                raise _Wrong(f"the id `{task.task_id}` is already that of line {tasks[task.task_id][0]}")
        except (_Wrong, RewardProblem) as wrong:
            faults.append(Fault(number, str(wrong)))
        else:
            tasks[task.task_id] = (number, task)
    return tuple(task for _, task in tasks.values()), tuple(faults)


class _Wrong(Exception):
    """The reason why a line is no task, as a clause."""


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    # Only "\n" ends a line: JSON texts may hold other line separators.
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    yield from enumerate((line.removesuffix(b"\r") for line in lines), start=1)


def _task(line: bytes) -> Task:
    """Raises: _Wrong or RewardProblem with what is wrong with the line."""
    _demand(line.strip() != b"", "it is empty")
    _demand(len(line) <= MOST_LINE_BYTES, f"it is longer than {MOST_LINE_BYTES >> 10} KiB")
    try:
        value = strict_json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _Wrong(f"it is not valid UTF-8 at byte {error.start + 1}") from None
    except ValueError as error:
        raise _Wrong(str(error)) from None
    _demand(isinstance(value, dict), "it is no JSON object")
    _refuse_unknown(value, _FIELDS, "the task")
    return Task(
        _name(value, "id"),
        _messages(value.get("prompt")),
        _name(value, "expert"),
        _rewards(value.get("reward")),
        _name(value, "group") if "group" in value else "",
        tuple(_named(tag, "a tag") for tag in _list(value.get("tags", []), "tags")),
    )


def _messages(prompt: Any) -> tuple[TaskMessage, ...]:
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    _demand(isinstance(prompt, list) and prompt != [], "`prompt` must be a text or a list of messages")
    messages = tuple(map(_message, _list(prompt, "prompt")))
    _demand(
        sum(len(message.text) for message in messages) <= MOST_PROMPT_CHARACTERS,
        f"`prompt` has more than {MOST_PROMPT_CHARACTERS:,} characters",
    )
    spoken = messages[1:] if messages[0].role == "system" else messages
    wanted = [("user", "assistant")[place % 2] for place in range(len(spoken))]
    _demand(
        [message.role for message in spoken] == wanted and len(spoken) % 2 == 1,
        "`prompt` must be user and assistant by turns, perhaps after one system message, and end with the user",
    )
    return messages


def _message(value: Any) -> TaskMessage:
    _demand(isinstance(value, dict), "a message is no JSON object")
    _refuse_unknown(value, frozenset({"role", "content"}), "a message")
    role, text = value.get("role"), value.get("content")
    _demand(role in ("system", "user", "assistant"), f"there is no role {role!r:.40}")
    _demand(isinstance(text, str) and text.strip() != "", f"the {role} message has no text as its `content`")
    return TaskMessage(role, text)


def _rewards(value: Any) -> tuple[RewardSpec, ...]:
    listed = _list([value] if isinstance(value, dict) else value, "reward")
    _demand(listed != [], "`reward` must name at least one reward")
    specs = tuple(map(_reward, listed))
    for spec in specs:
        build_reward(spec)
    return specs


def _reward(value: Any) -> RewardSpec:
    _demand(isinstance(value, dict), "a reward is no JSON object")
    name, weight = value.get("name"), value.get("weight", 1.0)
    _demand(isinstance(name, str), "a reward has no `name`")
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    _demand(
        is_number and math.isfinite(weight) and weight > 0, f"reward `{name:.40}`: `weight` must be a number above 0"
    )
    parameters = {key: item for key, item in value.items() if key not in ("name", "weight")}
    return RewardSpec(name, parameters, float(weight))


def _name(value: dict[str, Any], field: str) -> str:
    _demand(field in value, f"`{field}` is missing")
    return _named(value[field], f"`{field}`")


def _named(value: Any, what: str) -> str:
    is_name = isinstance(value, str) and value.strip() == value != "" and value.isprintable()
    _demand(is_name, f"{what} must be a text that can be read, without space around it")
    _demand(len(value) <= MOST_NAME_CHARACTERS, f"{what} has more than {MOST_NAME_CHARACTERS} characters")
    return str(value)


def _list(value: Any, field: str) -> list[Any]:
    _demand(isinstance(value, list), f"`{field}` must be a list")
    _demand(len(value) <= MOST_LISTED, f"`{field}` lists more than {MOST_LISTED}")
    return list(value)


def _refuse_unknown(value: dict[str, Any], known: frozenset[str], what: str) -> None:
    unknown = sorted(value.keys() - known)
    _demand(not unknown, f"{what} has the unknown field `{', '.join(unknown):.80}`")


def _demand(is_so: bool, reason: str) -> None:
    if not is_so:
        raise _Wrong(reason)
