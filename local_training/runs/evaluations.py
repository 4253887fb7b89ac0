"""What every held-out item got in one evaluation: a file per evaluation, a JSON object a line. Light: no torch.

The files lie in the run's folder `evaluations` and are named after the step, such as 000020.jsonl; 000000.jsonl is
from before the first. A line of a task, and one of an example:

    {"id": "sum-7", "text": "{\"sum\": 12}", "tokens": 9, "finish": "eos", "reward": 1.0, "correct": true}
    {"id": "letter-3", "loss": 1.42}

What an item does not have is left out of its line.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from engine import strict_json
from engine.adapters.files import put, written
from engine.errors import StoreProblem

Finish = Literal["eos", "length"]
_SUFFIX: Final = ".jsonl"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a character, which no encoding takes."""


@dataclass(frozen=True, slots=True)
class EvaluatedItem:
    """One held-out item. A task has all but `loss`; an example has `loss`, in preferences also `correct`."""

    item_id: str
    text: str | None = None
    """What was answered, as it came: untrusted."""
    tokens: int | None = None
    """Length of the answer."""
    finish: Finish | None = None
    reward: float | None = None
    correct: bool | None = None
    loss: float | None = None
    """Nats a token, or whatever the kind's loss is measured in."""


def evaluation_path(evaluations: Path, step: int) -> Path:
    """The file of the evaluation after `step` steps in the run's folder `evaluations`."""
    return evaluations / f"{step:06d}{_SUFFIX}"


def evaluated_steps(evaluations: Path) -> tuple[int, ...]:
    """The steps after which there was an evaluation, in their order; none where there is no such folder."""
    names = (path.name.removesuffix(_SUFFIX) for path in evaluations.glob(f"*{_SUFFIX}"))
    return tuple(sorted(int(name) for name in names if len(name) >= 6 and name.isascii() and name.isdecimal()))


def write_items(path: Path, items: Iterable[EvaluatedItem]) -> None:
    """The file whole, or none. Raises: DiskFull, AgentError; ValueError for a number that is not finite."""
    put(path, [(_to_line(item) + "\n").encode() for item in items])


def read_items(path: Path) -> tuple[EvaluatedItem, ...]:
    """All items, in their order; none where there is no file.

    Raises: AgentError when it cannot be read; StoreProblem for a line that is no item: figures over the rest would
    be of other items than they say.
    """
    if not path.exists():
        return ()
    with written(path):
        lines = path.read_bytes().split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return tuple(_from_line(line, path.name, number) for number, line in enumerate(lines, start=1))


def _to_line(item: EvaluatedItem) -> str:
    values = {
        "id": item.item_id,
        "text": item.text,
        "tokens": item.tokens,
        "finish": item.finish,
        "reward": item.reward,
        "correct": item.correct,
        "loss": item.loss,
    }
    present = {key: value for key, value in values.items() if value is not None}
    return _SURROGATE.sub("\ufffd", json.dumps(present, ensure_ascii=False, allow_nan=False))


def _from_line(line: bytes, name: str, number: int) -> EvaluatedItem:
    try:
        values = strict_json.loads(line.decode())
    except ValueError:
        values = None
    if not isinstance(values, dict) or not _is_item(values):
        raise StoreProblem(
            f"Line {number} of {name} is no evaluated item.",
            "Delete that file: the report then does without this evaluation.",
        )
    return EvaluatedItem(values.pop("id"), **values)


def _is_item(values: dict[str, Any]) -> bool:
    return (
        "id" in values and values.keys() <= _CHECKS.keys() and all(_CHECKS[key](value) for key, value in values.items())
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "id": lambda value: isinstance(value, str),
    "text": lambda value: isinstance(value, str),
    "tokens": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "finish": lambda value: value in ("eos", "length"),
    "reward": _is_number,
    "correct": lambda value: isinstance(value, bool),
    "loss": _is_number,
}
