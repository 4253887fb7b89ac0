"""A TOML text or a ready mapping checked against a model; every mistake becomes a complaint with its line and key."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from engine.harness.config.complaints import Complaint
from engine.harness.config.parts import Part
from engine.harness.config.toml_lines import Step, line_of

_MOST_COMPLAINTS: Final = 10
"""Of one file; whoever has more has not written for this format."""
_POSITION: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")

Model = TypeVar("Model", bound=Part)


def read_toml(text: str, model: type[Model], file: str) -> Model | tuple[Complaint, ...]:
    """What `text` says, or everything that is wrong with it."""
    try:
        values = tomllib.loads(text)
    except ValueError as error:  # a number of too many digits is a plain one
        found = _POSITION.search(str(error))
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        reason = _POSITION.sub("", str(error))
        return (Complaint(file, f"It is not valid TOML: {reason}.", "Correct that line.", line),)
    except RecursionError:
        return (Complaint(file, "It is nested too deep.", "Write tables with [headings]."),)
    return checked(values, model, file, lambda path: line_of(text, path))


def checked(
    values: Mapping[str, Any], model: type[Model], file: str, line_at: Callable[[Sequence[Step]], int | None]
) -> Model | tuple[Complaint, ...]:
    """The model that `values` make, or everything that is wrong with them."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        details = error.errors(include_url=False)[:_MOST_COMPLAINTS]
        found = [_complaint(detail, model, file, line_at) for detail in details]
        return tuple(sorted(found, key=lambda complaint: complaint.line or 0))


def _complaint(
    detail: ErrorDetails, model: type[Part], file: str, line_at: Callable[[Sequence[Step]], int | None]
) -> Complaint:
    path = tuple(step for step in detail["loc"] if step != "[key]")
    key = ".".join(str(step) for step in path)
    problem, hint = _wording(detail, path, model)
    return Complaint(file, problem, hint, line_at(path), key)


def _wording(detail: ErrorDetails, path: Sequence[Step], model: type[Part]) -> tuple[str, str]:
    known = known_keys(model, path[:-1])
    kind, message = detail["type"], detail["msg"]
    if kind == "extra_forbidden":
        close = get_close_matches(str(path[-1]), known, n=1)
        hint = f"Did you mean `{close[0]}`?" if close else f"Known keys there: {', '.join(known)}."
        return "There is no such key.", hint
    if kind == "missing":
        return "It is missing.", f"Add `{path[-1]}` there."
    if kind == "value_error":
        return f"{message.removeprefix('Value error, ')}.", "Correct it."
    if detail["loc"][-1:] == ("[key]",):
        return f"The name is not possible: {message[:1].lower()}{message[1:]}.", "Choose another name."
    return f"{message}.", "Correct the value."


def known_keys(model: type[Part], path: Sequence[Step]) -> tuple[str, ...]:
    """The keys that the table at `path` may have."""
    schema = model.model_json_schema(by_alias=True)
    here: Any = schema
    for step in path:
        here = _resolved(here, schema)
        if isinstance(step, int):
            here = here.get("items", {})
        else:
            here = here.get("properties", {}).get(step) or here.get("additionalProperties") or {}
    return tuple(_resolved(here, schema).get("properties", ()))


def _resolved(node: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while isinstance(node, dict) and "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return node if isinstance(node, dict) else {}
