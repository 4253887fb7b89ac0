"""Whether a call can be run, and if not, one line that says why. Pure; runs nothing."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from engine.harness.tool_calls.calls import Tool, ToolCall
from engine.harness.tool_calls.decoding import NoCall, UnknownTool, call_of_xml, calls_of_text
from engine.harness.tool_calls.fitting import fitted
from engine.harness.tool_calls.loose_json import read_value
from engine.harness.tool_calls.naming import meant_name

_MOST_FAULTS: Final = 4
"""Said of one call; a model corrects few at once."""
_MOST_NAMES: Final = 30
_MOST_CHARACTERS: Final = 20_000
"""Of a broken call that are looked at."""
_OPENING: Final = re.compile(
    r"\s*(?:<\|?(?:tool_calls?|toolcall|function_call|python_tag)\|?>|\[TOOL_CALLS\]|```\w*)\s*", re.I
)
_CLOSING: Final = re.compile(r"</(?:tool_calls?|toolcall|function_call)>|<\|/tool_call\|>", re.I)
_FUNCTION: Final = re.compile(r"<function(?:=|\s)", re.I)

FaultKind = Literal["form", "name", "arguments"]


@dataclass(frozen=True, slots=True)
class CallFault:
    """Why a call was not run."""

    kind: FaultKind
    """What is wrong: how it is written, the tool it names, or what it gives to it."""
    text: str
    """A clause on one line, for the model."""
    tool: str = ""
    """Where it is known."""


def check_call(call: ToolCall, tools: Sequence[Tool]) -> ToolCall | CallFault:
    """The call with its arguments as the tool's schema wants them, or what is wrong with it."""
    by_name = {tool.name: tool for tool in tools}
    name = meant_name(call.name, by_name)
    if name is None:
        return _unknown(call.name, tools)
    try:
        arguments = read_value(call.arguments) if call.arguments.strip() else {}
    except ValueError as error:
        return CallFault("arguments", f"the arguments of `{name}` cannot be read: {_one_line(str(error))}", name)
    if not isinstance(arguments, dict):
        return CallFault("arguments", f"the arguments of `{name}` must be an object", name)
    arguments, faults = fitted(arguments, by_name[name].parameters)
    if faults:
        more = f"; and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
        said = _one_line("; ".join(faults[:_MOST_FAULTS]))
        return CallFault("arguments", f"in the call of `{name}`, {said}{more}", name)
    return ToolCall(name, json.dumps(arguments, ensure_ascii=False))


def fault_of_text(text: str, tools: Sequence[Tool]) -> CallFault:
    """What is wrong with something that had the look of a call and stayed text."""
    schemas = {tool.name: tool.parameters for tool in tools}
    text = text[:_MOST_CHARACTERS]
    closing = _CLOSING.search(text)
    is_closed = closing is not None
    if closing:
        text = text[: closing.start()]
    opening = _OPENING.match(text)
    function = _FUNCTION.search(text)
    try:
        call = (
            call_of_xml(text[function.start() :], schemas)
            if function
            else calls_of_text(text[opening.end() :] if opening else text, schemas, may_close=is_closed)[0]
        )
    except UnknownTool as error:
        return _unknown(error.name, tools)
    except NoCall as error:
        ending = "" if is_closed else ", and it was never closed"
        return CallFault("form", f"a call cannot be read: {_one_line(str(error))}{ending}")
    if opening is None or "```" in opening[0]:
        reason = f"a call of `{call.name}` stands within other text, so it is not known whether it is meant"
        return CallFault("form", reason, call.name)
    return CallFault("form", f"a call of `{call.name}` was not finished", call.name)


def _unknown(name: str, tools: Sequence[Tool]) -> CallFault:
    names = ", ".join(f"`{tool.name}`" for tool in tools[:_MOST_NAMES])
    more = f" and {len(tools) - _MOST_NAMES} more" if len(tools) > _MOST_NAMES else ""
    return CallFault("name", f"there is no tool `{_one_line(name):.60}`; there are {names or 'none'}{more}")


def _one_line(text: str) -> str:
    return " ".join(text.split())
