"""Hands for logic tests: tools that a test makes of plain functions, and permissions it sets."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.hands import Offer, Offered
from engine.harness.approvals import Approvals
from engine.harness.permissions import Circumstances, Mode, Rule
from engine.harness.tool_calls import Tool, ToolCall
from engine.harness.tools.values import Invocation, Preview, Reach, ToolResult, ToolSpec
from engine.remembering import RecallLimits

Work = Callable[[Mapping[str, Any]], str | ToolResult]


@dataclass
class FunctionToolbox:
    """One tool; `ran` are the arguments it was run with."""

    spec: ToolSpec
    work: Work
    ran: list[Mapping[str, Any]] = field(default_factory=list)

    def specs(self) -> tuple[ToolSpec, ...]:
        return (self.spec,)

    def preview(self, invocation: Invocation) -> Preview:
        return Preview(f"Run {invocation.call.name}", invocation.call.arguments)

    def run(self, invocation: Invocation) -> ToolResult:
        arguments = json.loads(invocation.call.arguments)
        self.ran.append(arguments)
        found = self.work(arguments)
        return found if isinstance(found, ToolResult) else ToolResult(found, is_tainted=False)


def tool_of(
    name: str, work: Work, *, reach: Reach = "nothing", changes: bool = False, **parameters: Mapping[str, Any]
) -> FunctionToolbox:
    """`parameters` are JSON Schemas by name, all required."""
    schema = {"type": "object", "properties": parameters, "required": list(parameters), "additionalProperties": False}
    return FunctionToolbox(ToolSpec(Tool(name, f"Does {name}.", schema), reach, changes), work)


@dataclass
class TestHands:
    """The same tools for every expert of `readers`."""

    __test__ = False

    toolboxes: list[Any]
    readers: tuple[str, ...] = ("L1",)
    mode: Mode = "ask"
    can_ask: bool = True
    most_calls: int = 8
    tool_seconds: float = 600.0
    thinking_tokens: int | None = None
    memory: RecallLimits = field(default_factory=RecallLimits)
    heads: dict[str, str] = field(default_factory=dict)
    remembered: list[Rule] = field(default_factory=list)
    seen: list[Circumstances] = field(default_factory=list)
    approvals: Approvals = field(default_factory=Approvals)

    def current(self) -> Offer:
        offered = tuple(Offered(spec, box) for box in self.toolboxes for spec in box.specs())
        return Offer(
            dict.fromkeys(self.readers, offered),
            dict(self.heads),
            self.most_calls,
            tool_seconds=self.tool_seconds,
            thinking_tokens=self.thinking_tokens,
            memory=self.memory,
        )

    def circumstances(self, conversation_id: str, *, is_tainted: bool) -> Circumstances:
        self.seen.append(Circumstances(self.mode, tuple(self.remembered), is_tainted, can_ask=self.can_ask))
        return self.seen[-1]

    def remember(self, rule: Rule) -> None:
        self.remembered.append(rule)


def call_text(name: str, /, **arguments: Any) -> str:
    """A call as a ChatML model writes it."""
    call = ToolCall(name, json.dumps(arguments))
    return f'<tool_call>\n{{"name": "{call.name}", "arguments": {call.arguments}}}\n</tool_call>'
