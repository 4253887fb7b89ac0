"""What chat completions and responses share: sampling, tools and output formats, from their bodies to the engine.

Knows no HTTP and renders no answer.
"""

import random
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from app.openai_api.bodies import Body, unsupported
from app.openai_api.problems import ApiProblem
from engine.errors import UsageProblem
from engine.harness.schema_grammar import json_object_grammar, schema_grammar
from engine.harness.schema_nodes import SchemaProblem
from engine.harness.schema_reading import read_schema
from engine.harness.tool_calls import Tool, ToolChoice

MODEL: Final = "macaron"
"""The model that routes; with ":L2" behind it, it pins that expert."""
MOST_MESSAGES: Final = 2048
MOST_TOOLS: Final = 128
MOST_CALLS: Final = 8
"""Calls at once that a required choice allows where a client asks for parallel ones."""
MOST_TOKENS: Final = 1 << 20
"""The largest number of tokens one may ask for; what the context has no room for is never written."""
_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")

TokenLimit = Annotated[int, Field(ge=1, le=MOST_TOKENS)]
Temperature = Annotated[float, Field(ge=0.0, le=2.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Penalty = Annotated[float, Field(ge=-2.0, le=2.0)]
Seed = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)]
TopLogprobs = Annotated[int, Field(ge=0, le=20)]
Name = Annotated[str, Field(max_length=256)]


class SchemaFormat(Body):
    """A JSON Schema by name, as both endpoints have it. Strict unless a client says otherwise."""

    name: Name = ""
    schema_: Any = Field(default=None, alias="schema")
    strict: bool | None = None


class Function(Body):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None

    def as_tool(self, param: str) -> Tool:
        """Raises: ApiProblem."""
        if not _TOOL_NAME.fullmatch(self.name):
            raise ApiProblem(
                "The name of a function has 1 to 64 letters, digits, dots, underscores and dashes.", param=param
            )
        tool = Tool(self.name, self.description or "", self.parameters or {}, self.strict or False)
        try:
            read_schema({"type": "object", **tool.parameters}, strict=tool.strict)
        except SchemaProblem as error:
            raise invalid(error, param) from error
        return tool


def sampling_changes(
    *,
    temperature: float | None = None,
    top_p: float | None = None,
    presence_penalty: float | None = None,
    frequency_penalty: float | None = None,
    seed: int | None = None,
) -> dict[str, float | int]:
    """Fields of the engine's `Sampling` that differ from the profile's. Without a seed, every request has another."""
    wanted = {
        "temperature": temperature,
        "top_p": top_p,
        "presence_penalty": presence_penalty,
        "frequency_penalty": frequency_penalty,
    }
    changes: dict[str, float | int] = {name: value for name, value in wanted.items() if value is not None}
    if presence_penalty or frequency_penalty:
        changes["repeat_last_n"] = 1024
    changes["seed"] = random.getrandbits(31) if seed is None else _folded(seed)
    return changes


def tools_of(functions: Sequence[Function], param: str) -> tuple[Tool, ...]:
    """Raises: ApiProblem."""
    tools = tuple(function.as_tool(param) for function in functions)
    if len({tool.name for tool in tools}) < len(tools):
        raise ApiProblem("Two functions have the same name.", "Give each a name of its own.", param=param)
    return tools


def choice_of(
    mode: Literal["none", "auto", "required"] | None, name: str | None, tools: Sequence[Tool], parallel: bool | None
) -> ToolChoice:
    """Raises: ApiProblem."""
    if not tools:
        if mode == "required" or name is not None:
            raise ApiProblem("A tool is required, but there are none.", "Add tools.", param="tool_choice")
        return ToolChoice("none")
    if name is not None:
        if name not in {tool.name for tool in tools}:
            raise ApiProblem(f"There is no tool {name:.64}.", "Choose one that is in tools.", param="tool_choice")
        return ToolChoice("required", name)
    return ToolChoice(mode or "auto", None, MOST_CALLS if parallel else 1)


def format_grammar(kind: str, schema: SchemaFormat | None, param: str) -> str | None:
    """The grammar of an output format: text, json_object or json_schema. Raises: ApiProblem."""
    if kind == "text":
        return None
    if kind == "json_object":
        return json_object_grammar()
    if kind != "json_schema":
        unsupported(f"The format {kind[:40]} is", param)
    if schema is None or not isinstance(schema.schema_, dict):
        raise ApiProblem("The schema is missing.", "Give a JSON Schema.", param=param)
    try:
        return schema_grammar(schema.schema_, strict=schema.strict is not False)
    except SchemaProblem as error:
        raise invalid(error, param) from error


def expert_of(model: str) -> str | None:
    """The expert that a model's name pins; None for the one that routes. Raises: ApiProblem."""
    if model == MODEL:
        return None
    expert = model.removeprefix(f"{MODEL}:")
    if expert == model or not expert:
        raise ApiProblem(
            f"The model {model[:80]!r} does not exist.",
            f"Use {MODEL!r}, or {MODEL + ':L0'!r} and so on for one expert; see /v1/models.",
            status=404,
            code="model_not_found",
            param="model",
        )
    return expert


def invalid(error: UsageProblem, param: str) -> ApiProblem:
    return ApiProblem(error.problem, error.hint, code="invalid_value", param=param)


def _folded(seed: int) -> int:
    """A seed of 64 bits as one of 31: llama.cpp takes 32, the highest of which means a random one."""
    return (seed ^ (seed >> 31) ^ (seed >> 62)) & 0x7FFFFFFF
