"""What a tool, a call and a choice of tools are. Values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from engine.harness.formats import Family

Style = Literal["json", "xml", "bare"]
"""How a family writes a call: JSON in `<tool_call>`, XML in `<tool_call>`, or an object that is the whole answer."""

CALL_OPEN: Final = "<tool_call>"
CALL_CLOSE: Final = "</tool_call>"
RESULT_OPEN: Final = "<tool_response>"
RESULT_CLOSE: Final = "</tool_response>"


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schema of the arguments, an object."""
    strict: bool = False
    """An enforced call must match the schema wholly, and one that cannot be enforced is refused."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    arguments: str
    """A JSON object as text."""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """`auto` leaves it to the model; `required` makes it call a tool, `name` which one if it is given."""

    mode: Literal["none", "auto", "required"] = "auto"
    name: str | None = None
    most: int = 1
    """Calls at once, when they are required."""


def style_of(family: Family) -> Style:
    """Families that were trained on no format of their own read about the JSON one in the system text."""
    if family == "llama3":
        return "bare"
    return "xml" if family == "qwen35" else "json"


def offered(tools: Sequence[Tool], choice: ToolChoice) -> tuple[Tool, ...]:
    """The tools the model may call now."""
    if choice.mode == "none":
        return ()
    return tuple(tool for tool in tools if choice.name in (None, tool.name))
