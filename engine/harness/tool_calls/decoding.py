"""The text of calls, already cut out, as calls; a reason why where it is none. Pure.

All or nothing: where one of several calls cannot be read, none is taken.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.harness.tool_calls.calls import ToolCall
from engine.harness.tool_calls.loose_json import read_python_calls, read_value
from engine.harness.tool_calls.naming import meant_name

Schemas = Mapping[str, Mapping[str, Any]]
"""Parameters of every tool that may be called, by its name."""

_NAME_KEYS: Final = ("name", "tool_name", "function_name", "tool", "function")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "params", "input", "tool_input", "kwargs")
_WRAPPERS: Final = ("function", "function_call", "tool_call")
_LISTS: Final = ("tool_calls", "calls")
FIRST_KEYS: Final = frozenset((*_NAME_KEYS, *_ARGUMENT_KEYS, *_WRAPPERS, *_LISTS, "type", "id"))
"""With which the object of a call may begin where no markup says that it is one."""

_FENCE: Final = re.compile(r"```[\w+-]*[ \t]*\n?")
_NAMED: Final = re.compile(r"([\w.:/-]{1,128})\s*(?:\[ARGS\]\s*)?(?=\{|\Z)", re.IGNORECASE)
_FUNCTION: Final = re.compile(r"<function(?:=|\s{1,9}name=)([^>\n]{1,128})[>\n]", re.IGNORECASE)
_PARAMETER: Final = re.compile(r"<parameter(?:=|\s{1,9}name=)([^>\n]{1,128})>", re.IGNORECASE)
_VALUE_END: Final = "</parameter>"
_MOST_SPACE: Final = 200
"""Characters before a parameter among which the end of the last one is looked for."""


class NoCall(Exception):
    """Why a text is no call, as a clause."""


class UnknownTool(NoCall):
    """Nor is it like the name of a tool that there is."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no tool `{name:.60}`")
        self.name = name


def calls_of_text(
    text: str, schemas: Schemas, *, is_bare: bool = False, is_marked: bool = True, may_close: bool = False
) -> tuple[ToolCall, ...]:
    """One or more calls as JSON, as Python, or as a name before its arguments; a code fence around them is passed over.

    Without markup around it (`is_marked`), an object says by its keys that it is a call. Raises: NoCall.
    """
    body = _unfenced(text.strip())
    try:
        if body[:1] in "[{\"'“":
            try:
                value = read_value(body, may_close=may_close)
                if isinstance(value, str):  # the whole call once more as a JSON text
                    value = read_value(value, may_close=may_close)
            except ValueError:
                if not body.startswith("["):
                    raise
                return _python_calls(body, schemas)
            return _calls(value, schemas, is_bare, is_marked)
        named = _NAMED.match(body)
        if named and is_marked:
            arguments = read_value(body[named.end() :], may_close=may_close) if named.end() < len(body) else {}
            return (_call(named[1], arguments, schemas),)
        return _python_calls(body, schemas)
    except ValueError as error:
        raise NoCall(str(error)) from None


def call_of_xml(text: str, schemas: Schemas) -> ToolCall:
    """`text` from `<function=` on, with or without what closes it. Raises: NoCall."""
    opening = _FUNCTION.match(text)
    if opening is None:
        raise NoCall("the name of the function is not closed")
    name, body = _known(opening[1], schemas), text[opening.end() :]
    if body.lstrip().startswith("{"):
        try:
            return _call(name, read_value(_without(body, "</function>").strip(), may_close=False), schemas)
        except ValueError as error:
            raise NoCall(str(error)) from None
    return _checked(name, _parameters(_without(body, "</function>"), schemas[name]))


def _unfenced(text: str) -> str:
    fence = _FENCE.match(text)
    if fence:
        return text[fence.end() :].rstrip().removesuffix("```").strip()
    return text.strip("`").strip()


def _without(text: str, closing: str) -> str:
    """`text` up to the last `closing`, where only space follows that."""
    stripped = text.rstrip()
    return stripped[: -len(closing)] if stripped.lower().endswith(closing) else text


def _python_calls(text: str, schemas: Schemas) -> tuple[ToolCall, ...]:
    return tuple(_call(name, arguments, schemas) for name, arguments in read_python_calls(text))


def _calls(value: Any, schemas: Schemas, is_bare: bool, is_marked: bool) -> tuple[ToolCall, ...]:
    """Of an object, of a list of them, or of what wraps either."""
    if isinstance(value, dict):
        listed = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
        value = [value] if listed is None else listed
    if not isinstance(value, list) or not value:
        raise NoCall("it is neither an object nor a list of objects")
    return tuple(_of_object(one, schemas, is_bare, is_marked) for one in value)


def _of_object(value: Any, schemas: Schemas, is_bare: bool, is_marked: bool) -> ToolCall:
    if not isinstance(value, dict):
        raise NoCall("it is neither an object nor a list of objects")
    for wrapper in _WRAPPERS:
        if isinstance(value.get(wrapper), dict):
            value = {**{key: one for key, one in value.items() if key != wrapper}, **value[wrapper]}
    keys = ("parameters", *_ARGUMENT_KEYS) if is_bare else _ARGUMENT_KEYS
    name_key = next((key for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    key = next((key for key in keys if key in value), None)
    if name_key is None:
        return _of_name_alone(value, schemas, is_marked)
    if key is not None:
        return _call(value[name_key], value[key], schemas)
    if not is_marked and not is_bare:
        raise NoCall("it has no `arguments`")
    name = _known(value[name_key], schemas)
    beside = {one: value[one] for one in value if one not in (name_key, "type", "id")}
    if beside and not beside.keys() <= _properties(schemas[name]).keys():
        raise NoCall("it has no `arguments`")
    return _checked(name, beside)


def _of_name_alone(value: Mapping[str, Any], schemas: Schemas, is_marked: bool) -> ToolCall:
    """`{"get_weather": {"city": "Oslo"}}`, within markup only."""
    if is_marked and len(value) == 1:
        ((name, arguments),) = value.items()
        if isinstance(arguments, dict) and name not in FIRST_KEYS:
            return _call(name, arguments, schemas)
    raise NoCall("it has no `name`")


def _call(name: str, arguments: Any, schemas: Schemas) -> ToolCall:
    known = _known(name, schemas)
    if isinstance(arguments, str):
        try:
            arguments = read_value(arguments) if arguments.strip() else {}
        except ValueError as error:
            raise NoCall(f"its arguments are a text that cannot be read: {error}") from None
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise NoCall("its arguments are no object")
    return _checked(known, arguments)


def _known(name: str, schemas: Schemas) -> str:
    meant = meant_name(name.strip().strip("\"'"), schemas)
    if meant is None:
        raise UnknownTool(name.strip())
    return meant


def _checked(name: str, arguments: dict[str, Any]) -> ToolCall:
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except ValueError:
        raise NoCall("its arguments hold half of a character, or no number") from None
    return ToolCall(name, text)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    described = schema.get("properties", {})
    return described if isinstance(described, dict) else {}


def _parameters(body: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Every `<parameter=…>` with its value, which may hold the tags of others. Raises: NoCall."""
    described = _properties(schema)
    openings = _openings(body, described)
    if not openings and body.strip():
        raise NoCall("it has no `<parameter=…>`")
    found: dict[str, Any] = {}
    ends = [following.start() for following in openings[1:]] + [len(body)]
    for opening, end in zip(openings, ends, strict=False):
        name = opening[1].strip().strip("\"'")
        text = body[opening.end() : end]
        value = _typed(_without_line_breaks(text), described.get(name, {}))
        if name in found and found[name] != value:
            raise NoCall(f"it gives `{name:.40}` twice")
        found[name] = value
    return found


def _openings(body: str, described: Mapping[str, Any]) -> list[re.Match[str]]:
    """Where parameters begin. A tag within a value is none: no value ends before it, or it names no parameter."""
    openings: list[re.Match[str]] = []
    first = len(body) - len(body.lstrip())
    names: set[str] = set()
    for opening in _PARAMETER.finditer(body):
        name = opening[1].strip().strip("\"'")
        before = body[max(0, opening.start() - _MOST_SPACE) : opening.start()]
        follows_end = before.rstrip().lower().endswith(_VALUE_END) if openings else opening.start() == first
        if follows_end or (name in described and name not in names):
            openings.append(opening)
            names.add(name)
    return openings


def _without_line_breaks(text: str) -> str:
    """A value between its tags, without the one line break that belongs to each of them."""
    value = _without(text, _VALUE_END)
    return value.removeprefix("\n").removesuffix("\n")


def _typed(text: str, schema: Any) -> Any:
    """A value of the type its schema names. Texts stand unquoted, everything else as JSON."""
    kinds = _kinds(schema)
    if not kinds or ("string" in kinds and not ("null" in kinds and text.strip() == "null")):
        return text
    try:
        return read_value(text.strip())
    except ValueError:
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


def _list_of(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []
