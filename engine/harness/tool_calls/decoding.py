"""The text of one call, already cut out, as a call; None for what is none. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.harness.tool_calls.calls import ToolCall

Schemas = Mapping[str, Mapping[str, Any]]
"""Parameters of every tool that may be called, by its name."""

_FUNCTION: Final = re.compile(r"<function=([^>\n]*)>(.*)\Z", re.DOTALL)
# A value ends where its tag closes before the next parameter or the end, so it may hold the tag itself.
_PARAMETER: Final = re.compile(
    r"<parameter=([^>\n]*)>\n?(.*?)\n?(?:</parameter>\s*(?=<parameter=|\Z)|(?=<parameter=)|\Z)", re.DOTALL
)


def call_from_json(text: str, schemas: Schemas, keys: Sequence[str]) -> ToolCall | None:
    """`text` is a JSON object; its arguments stand under the first of `keys` that it has."""
    try:
        # Not strict: models write line breaks inside texts.
        value = json.loads(text, strict=False, parse_constant=_no_constant)
        if not isinstance(value, dict):
            return None
        name = value.get("name")
        arguments: Any = next((value[key] for key in keys if key in value), {})
        if isinstance(arguments, str):
            arguments = json.loads(arguments, strict=False, parse_constant=_no_constant) if arguments.strip() else {}
        if not isinstance(name, str) or name not in schemas or not isinstance(arguments, dict):
            return None
        return _checked_call(name, arguments)
    except (ValueError, RecursionError):
        return None


def call_from_xml(text: str, schemas: Schemas) -> ToolCall | None:
    """`text` from `<function=` on, without the closing tag."""
    match = _FUNCTION.match(text)
    if match is None or match[1].strip() not in schemas:
        return None
    name = match[1].strip()
    described = schemas[name].get("properties", {})
    arguments: dict[str, Any] = {}
    for parameter in _PARAMETER.finditer(match[2]):
        schema = described.get(parameter[1].strip(), {}) if isinstance(described, dict) else {}
        arguments[parameter[1].strip()] = _typed(parameter[2], schema)
    if not arguments and match[2].strip():
        return None
    try:
        return _checked_call(name, arguments)
    except ValueError:
        return None


def _checked_call(name: str, arguments: dict[str, Any]) -> ToolCall:
    """Raises: ValueError where the arguments hold half a character or no number."""
    text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    text.encode("utf-8")
    return ToolCall(name, text)


def _typed(text: str, schema: Any) -> Any:
    """A value of the type its schema names. Texts stand unquoted, everything else as JSON."""
    kinds = _kinds(schema)
    if not kinds or ("string" in kinds and not ("null" in kinds and text.strip() == "null")):
        return text
    try:
        return json.loads(text, strict=False, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        spoken = {"true": True, "false": False, "none": None}
        return spoken.get(text.strip().lower(), text)


def _kinds(schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    kinds: set[str] = set()
    for option in (schema, *_list_of(schema.get("anyOf")), *_list_of(schema.get("oneOf"))):
        kind = option.get("type") if isinstance(option, dict) else None
        kinds.update(one for one in (kind if isinstance(kind, list) else [kind]) if isinstance(one, str))
    return kinds


def _list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
