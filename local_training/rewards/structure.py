"""Rewards for answers that programs read: JSON of a schema, and calls of tools. They decide."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, get_args

from engine import strict_json
from engine.harness.tool_calls import Style, Tool, ToolCall, parser_for
from local_training.rewards.json_schema import mismatch, schema_fault
from local_training.rewards.parameters import Parameters
from local_training.rewards.values import Judgement, Outcome, right_if

_FENCED: Final = re.compile(r"\A```(?:json)?[ \t]*\n(.*?)\n```\Z", re.DOTALL)
_TOOL_FIELDS: Final = frozenset({"name", "description", "parameters"})


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """The whole answer is one JSON value that matches the schema; a single code fence around it is allowed."""

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = True
    schema: Any

    @classmethod
    def read(cls, parameters: Parameters) -> "JsonSchema":
        schema = parameters.given("schema")
        if fault := schema_fault(schema):
            raise parameters.problem(f"`schema`: {fault}")
        return cls(schema)

    def judge(self, outcome: Outcome) -> Judgement:
        text = outcome.text.strip()
        fenced = _FENCED.match(text)
        try:
            value = strict_json.loads(fenced[1] if fenced else text)
        except ValueError as error:
            return right_if(False, str(error))
        found = mismatch(value, self.schema)
        return right_if(not found, found or "it matches the schema")


@dataclass(frozen=True, slots=True)
class ValidToolCall:
    """At least one call, all of known tools with arguments that match; if one is expected, exactly that one."""

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = True
    tools: tuple[Tool, ...]
    style: Style
    expected_name: str = ""
    expected_arguments: Mapping[str, Any] | None = None

    @classmethod
    def read(cls, parameters: Parameters) -> "ValidToolCall":
        listed = parameters.given("tools")
        if not isinstance(listed, list) or not listed:
            raise parameters.problem("`tools` must be a list of tools")
        tools = tuple(_tool(one, parameters) for one in listed)
        style = parameters.choice("style", get_args(Style), "json")
        name, arguments = parameters.text("expected_name", ""), parameters.given("expected_arguments")
        if name and name not in {tool.name for tool in tools}:
            raise parameters.problem(f"`expected_name` is {name!r:.40}, which is none of the tools")
        if arguments is not None and not (name and isinstance(arguments, dict)):
            raise parameters.problem("`expected_arguments` must be an object and go with an `expected_name`")
        return cls(tools, style, name, arguments)

    def judge(self, outcome: Outcome) -> Judgement:
        calls = self._calls(outcome)
        if not calls:
            return right_if(False, "it holds no call of a known tool")
        for call in calls:
            if found := self._fault(call):
                return right_if(False, found)
        if not self.expected_name:
            return right_if(True, f"it calls {calls[0].name:.40}")
        if len(calls) > 1 or calls[0].name != self.expected_name:
            return right_if(
                False, f"it calls {', '.join(call.name for call in calls):.80}, not {self.expected_name:.40}"
            )
        is_same = self.expected_arguments is None or strict_json.same(
            strict_json.loads(calls[0].arguments), self.expected_arguments
        )
        return right_if(is_same, f"it calls {calls[0].name:.40}{'' if is_same else ' with other arguments'}")

    def _calls(self, outcome: Outcome) -> tuple[ToolCall, ...]:
        if outcome.tool_calls is not None:
            return outcome.tool_calls
        parser = parser_for(self.style, self.tools)
        parsed = (*parser.feed(outcome.text), *parser.finish())
        return tuple(one for one in parsed if isinstance(one, ToolCall))

    def _fault(self, call: ToolCall) -> str:
        tool = next((tool for tool in self.tools if tool.name == call.name), None)
        if tool is None:
            return f"there is no tool {call.name:.40}"
        try:
            arguments = strict_json.loads(call.arguments)
        except ValueError as error:
            return f"the arguments of {call.name:.40} cannot be read: {error}"
        if not isinstance(arguments, dict):
            return f"the arguments of {call.name:.40} are no object"
        found = mismatch(arguments, {"type": "object", **tool.parameters})
        return f"the call of {call.name:.40}: {found}" if found else ""


def _tool(value: Any, parameters: Parameters) -> Tool:
    if not isinstance(value, dict) or value.keys() - _TOOL_FIELDS:
        raise parameters.problem("a tool must have `name`, and may have `description` and `parameters`")
    name, schema = value.get("name"), value.get("parameters", {})
    if not isinstance(name, str) or not name or not isinstance(value.get("description", ""), str):
        raise parameters.problem("a tool has no name, or a description that is no text")
    if not isinstance(schema, dict) or (fault := schema_fault(schema)):
        reason = "they are no object" if not isinstance(schema, dict) else fault
        raise parameters.problem(f"the parameters of tool {name:.40}: {reason}")
    return Tool(name, value.get("description", ""), schema)
