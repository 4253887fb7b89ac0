"""The schema of a tool's arguments as a server wrote it, made fit to be shown to a model, or refused. Pure."""

import json
from collections.abc import Mapping
from typing import Any, Final

from engine.harness.mcp.cleaning import is_plain, prose
from engine.harness.schema_nodes import SchemaProblem
from engine.harness.schema_reading import read_schema

MOST_TOOL_SCHEMA_CHARACTERS: Final = 20_000
MOST_PROSE_CHARACTERS: Final = 500
"""Of one description within a schema."""

_PROSE: Final = ("description", "title")
_VALUES: Final = ("default", "const", "enum", "examples")
"""What stands there is data of any shape, not a schema."""


def clean_schema(schema: Any) -> dict[str, Any]:
    """`schema` with its descriptions cleaned. What a call must repeat exactly is left alone, or refused.

    Raises: SchemaProblem.
    """
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise SchemaProblem("Its arguments are not described as an object.", "Describe them as an object.")
    read_schema({**schema, "type": "object"}, strict=False)  # bounds its size and depth, so that what follows ends
    cleaned = _cleaned({**schema, "type": "object"})
    try:
        characters = len(json.dumps(cleaned, ensure_ascii=False, allow_nan=False))
    except ValueError:
        raise SchemaProblem("Its schema holds a number that is none.", "Leave it out.") from None
    if characters > MOST_TOOL_SCHEMA_CHARACTERS:
        raise SchemaProblem(f"Its schema has more than {MOST_TOOL_SCHEMA_CHARACTERS} characters.", "Make it smaller.")
    return cleaned


def _cleaned(schema: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in schema.items():
        _check(key)
        if key == "$comment":
            continue
        if key in _PROSE and isinstance(value, str):
            found[key] = prose(value, MOST_PROSE_CHARACTERS)
        elif key in _VALUES:
            _check_within(value)
            found[key] = value
        else:
            found[key] = _cleaned_value(value)
    return found


def _cleaned_value(value: Any) -> Any:
    if isinstance(value, dict):
        return _cleaned(value)
    if isinstance(value, list):
        return [_cleaned_value(one) for one in value]
    if isinstance(value, str):
        _check(value)
    return value


def _check_within(value: Any) -> None:
    if isinstance(value, dict):
        for key, one in value.items():
            _check(key)
            _check_within(one)
    elif isinstance(value, list):
        for one in value:
            _check_within(one)
    elif isinstance(value, str):
        _check(value)


def _check(text: str) -> None:
    """Raises: SchemaProblem."""
    if not is_plain(text):
        raise SchemaProblem(
            "Its schema holds characters that cannot be seen, or a control token, outside its descriptions.",
            "Use visible text.",
        )
