"""Read an example file: JSON Lines, one example a line. Every fault is found, with its line and the reason.

    sft  {"id": "tea-1", "prompt": "How long does green tea steep?", "expert": "L0", "answer": "Two minutes."}
    dpo  {"id": "tea-1", "prompt": "…", "expert": "L0", "chosen": "Two minutes.", "rejected": "It depends on you."}
    kto  {"id": "tea-1", "prompt": "…", "expert": "L0", "answer": "Two minutes.", "good": true}

`prompt` is as in task files; `group`, `tags` and `source` may be missing. Answers are kept to the letter.
Light: no torch.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from engine.errors import UsageProblem
from engine.json_lines import demand, refuse_unknown
from local_training.examples import AnswerExample, ExampleKind, ExampleSet, has_both_labels
from local_training.line_files import (
    ASKED_FIELDS,
    Fault,
    all_of,
    asked,
    parse_lines,
    read_content,
)

_FIELDS: Final[Mapping[ExampleKind, tuple[str, ...]]] = {
    "sft": ("answer",),
    "dpo": ("chosen", "rejected"),
    "kto": ("answer", "good"),
}

_OPTIONAL: Final[Mapping[ExampleKind, tuple[str, ...]]] = {"sft": ("ends",)}


class ExampleFileProblem(UsageProblem):
    """An example file cannot be used; the problem lists the faults."""


def read_examples(path: Path, kind: ExampleKind) -> ExampleSet:
    """All examples of a file.

    Raises: ExampleFileProblem when there is no such file, it holds no example, any line has a fault, or all examples
    of kto have the same label.
    """
    return example_set(read_example_content(path), path.name, kind)


def read_example_content(path: Path) -> bytes:
    """Raises: ExampleFileProblem when there is no such file."""
    return read_content(path, ExampleFileProblem)


def example_set(content: bytes, name: str, kind: ExampleKind) -> ExampleSet:
    """All examples in the content of a file called `name`. Raises: ExampleFileProblem, as `read_examples`."""
    found = all_of(content, name, "example", _maker(kind), ExampleFileProblem)
    if kind == "kto" and not has_both_labels(found.items):
        label, missing = ("true", "bad") if found.items[0].is_good else ("false", "good")
        raise ExampleFileProblem(
            f"In {name} `good` is {label} in all {len(found.items)} lines; kto learns from what sets good answers apart"
            " from bad ones.",
            f"Add {missing} answers, or use the kind sft for good answers alone.",
        )
    return ExampleSet(found.items, found.content_hash)


def parse_examples(content: bytes, kind: ExampleKind) -> tuple[tuple[AnswerExample, ...], tuple[Fault, ...]]:
    """The examples of the lines without a fault, and the faults of the others."""
    return parse_lines(content, _maker(kind))


def _maker(kind: ExampleKind) -> Callable[[dict[str, Any]], tuple[str, AnswerExample]]:
    return partial(_example, kind)


def _example(kind: ExampleKind, value: dict[str, Any]) -> tuple[str, AnswerExample]:
    """Its id and the example. Raises: Wrong with what is wrong with the line."""
    _refuse_other_kinds(kind, value)
    optional = _OPTIONAL.get(kind, ())
    refuse_unknown(value, ASKED_FIELDS.union(_FIELDS[kind], optional), "the example")
    line = asked(value)
    for field in _FIELDS[kind]:
        demand(field in value, f"`{field}` is missing; {kind} needs it")
    answer = _answer(value, "chosen" if kind == "dpo" else "answer")
    rejected = _answer(value, "rejected") if kind == "dpo" else None
    demand(answer != rejected, "`chosen` and `rejected` are the same text")
    is_good = value.get("good")
    demand(kind != "kto" or isinstance(is_good, bool), "`good` must be true or false")
    ends = value.get("ends", True)
    demand(isinstance(ends, bool), "`ends` must be true or false")
    return line.line_id, AnswerExample(
        line.line_id, line.messages, line.expert, answer, rejected, is_good, line.group, line.tags, line.sources, ends
    )


def _refuse_other_kinds(kind: ExampleKind, value: dict[str, Any]) -> None:
    demand("reward" not in value, f"`reward` belongs to the tasks of rl and rft; {kind} learns from given answers")
    for field in (one for fields in _FIELDS.values() for one in fields if one not in _FIELDS[kind]):
        owners = " and ".join(other for other, fields in _FIELDS.items() if field in fields)
        demand(field not in value, f"`{field}` belongs to {owners}, and this is {kind}")


def _answer(value: dict[str, Any], field: str) -> str:
    text = value[field]
    demand(isinstance(text, str) and text.strip() != "", f"`{field}` must be a text that is not empty")
    return str(text)
