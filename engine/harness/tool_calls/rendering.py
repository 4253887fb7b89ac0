"""Tools, calls and results as the parts of a prompt. Markup is ours; names, schemas, arguments and results are not.

What calls look like must stay as each family learned it; the sentences around them are our own.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from engine.harness.formats import Part, Trusted, Untrusted
from engine.harness.tool_calls.calls import CALL_CLOSE, CALL_OPEN, RESULT_CLOSE, RESULT_OPEN, Style, Tool, ToolCall

_JSON_HOW: Final = (
    "To call one, write its name and its arguments as one JSON object, in this form and nothing after it:\n"
    f'{CALL_OPEN}\n{{"name": "the name", "arguments": {{"argument": "value"}}}}\n{CALL_CLOSE}'
)
_XML_HOW: Final = (
    "To call one, write its name and every argument in this form and nothing after it; "
    "a value may have several lines:\n"
    f"{CALL_OPEN}\n<function=the_name>\n<parameter=argument>\nvalue\n</parameter>\n</function>\n{CALL_CLOSE}"
)
_BARE_HOW: Final = (
    "To call one, answer with one JSON object in this form and nothing else:\n"
    '{"name": "the name", "parameters": {"argument": "value"}}'
)


def system_content(system: str, tools: Sequence[Tool], style: Style) -> tuple[Part, ...]:
    """The system text with the tools in it, where the family looks for them."""
    if not tools:
        return (Untrusted(system),) if system else ()
    described = _described(tools, style)
    if not system:
        return described
    if style == "xml":
        return (*described, Trusted("\n\n"), Untrusted(system))
    return (Untrusted(system), Trusted("\n\n"), *described)


def assistant_content(text: str, calls: Sequence[ToolCall], style: Style) -> tuple[Part, ...]:
    """A message of the past: what was said, then the calls."""
    parts: list[Part] = [Untrusted(text)] if text else []
    for call in calls:
        if parts:
            parts.append(Trusted("\n\n" if style == "xml" and len(parts) == 1 else "\n"))
        parts += _call(call, style)
    return tuple(parts)


def results_content(results: Sequence[str], style: Style) -> tuple[tuple[Part, ...], ...]:
    """What tools gave back, oldest first, as the contents of as many messages as the family takes."""
    if style == "bare":
        return tuple((Untrusted(result),) for result in results)
    parts: list[Part] = []
    for result in results:
        parts += [Trusted(f"{RESULT_OPEN}\n"), Untrusted(result), Trusted(f"\n{RESULT_CLOSE}\n")]
    return ((*parts[:-1], Trusted(f"\n{RESULT_CLOSE}")),)


def _described(tools: Sequence[Tool], style: Style) -> tuple[Part, ...]:
    how = {"json": _JSON_HOW, "xml": _XML_HOW, "bare": _BARE_HOW}[style]
    listed = "\n".join(json.dumps(_as_function(tool), ensure_ascii=False) for tool in tools)
    return (
        Trusted("# Tools\n\nYou may call these functions:\n<tools>\n"),
        Untrusted(listed),
        Trusted(f"\n</tools>\n\n{how}"),
    )


def _as_function(tool: Tool) -> dict[str, Any]:
    parameters = dict(tool.parameters) or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _call(call: ToolCall, style: Style) -> list[Part]:
    arguments = _object(call.arguments)
    if style == "xml" and arguments is not None:
        return _xml_call(call.name, arguments)
    shown = call.arguments if arguments is None else json.dumps(arguments, ensure_ascii=False)
    name = json.dumps(call.name, ensure_ascii=False)
    if style == "bare":
        return [Untrusted(f'{{"name": {name}, "parameters": {shown}}}')]
    return [
        Trusted(f"{CALL_OPEN}\n"),
        Untrusted(f'{{"name": {name}, "arguments": {shown}}}'),
        Trusted(f"\n{CALL_CLOSE}"),
    ]


def _xml_call(name: str, arguments: dict[str, Any]) -> list[Part]:
    parts: list[Part] = [Trusted(f"{CALL_OPEN}\n<function="), Untrusted(name), Trusted(">\n")]
    for key, value in arguments.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        parts += [
            Trusted("<parameter="),
            Untrusted(key),
            Trusted(">\n"),
            Untrusted(shown),
            Trusted("\n</parameter>\n"),
        ]
    return [*parts, Trusted(f"</function>\n{CALL_CLOSE}")]


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None where it is none, as clients may send what they were once given."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
