"""The body of POST /v1/responses, checked, and as the engine's own question.

`input` items are read loosely, as the official server does: what this API cannot use is refused by its type.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from app.openai_api.asking import (
    MOST_MESSAGES,
    MOST_TOOLS,
    Function,
    Name,
    SchemaFormat,
    Share,
    Temperature,
    TokenLimit,
    TopLogprobs,
    choice_of,
    expert_of,
    format_grammar,
    sampling_changes,
    tools_of,
)
from app.openai_api.bodies import Body, checked, unsupported
from app.openai_api.chat_body import Part, refuse_part, text_of
from app.openai_api.problems import ApiProblem
from engine.completing import Asked, Message
from engine.harness.tool_calls import Tool, ToolCall

_WITH_LOGPROBS: Final = "message.output_text.logprobs"


class MessageItem(Body):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[Part]


class CallItem(Body):
    call_id: Name
    name: str
    arguments: str


class ResultItem(Body):
    call_id: Name
    output: str | list[Part]


class FunctionTool(Function):
    type: str


class ToolChoiceBody(Body):
    type: str
    name: str | None = None


class TextFormat(SchemaFormat):
    type: str = "text"


class TextBody(Body):
    format: TextFormat = TextFormat()


class ResponsesBody(Body):
    model: Name
    input: str | Annotated[list[dict[str, Any]], Field(max_length=MOST_MESSAGES)] = ""
    instructions: str | None = None
    previous_response_id: Name | None = None
    stream: bool | None = None
    store: bool | None = None
    max_output_tokens: TokenLimit | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    top_logprobs: TopLogprobs | None = None
    include: list[Name] | None = None
    text: TextBody | None = None
    tools: Annotated[list[dict[str, Any]], Field(max_length=MOST_TOOLS)] | None = None
    tool_choice: Literal["none", "auto", "required"] | ToolChoiceBody | None = None
    parallel_tool_calls: bool | None = None
    metadata: dict[str, str] | None = None
    user: Name | None = None
    truncation: Literal["auto", "disabled"] | None = None
    background: bool | None = None
    conversation: Any = None
    prompt: Any = None

    @property
    def wants_logprobs(self) -> bool:
        return bool(self.top_logprobs) or _WITH_LOGPROBS in (self.include or ())

    def own_messages(self) -> tuple[Message, ...]:
        """What `input` adds to the conversation. Raises: ApiProblem."""
        if isinstance(self.input, str):
            if not self.input:
                raise ApiProblem("The input is empty.", "Send a text or items.", param="input")
            return (Message("user", self.input),)
        messages = tuple(
            message for number, item in enumerate(self.input) for message in _messages(item, f"input.{number}")
        )
        return _with_calls_joined(messages)

    def asked(self, earlier: Sequence[Message]) -> Asked:
        """`earlier` is the conversation that the previous response ended. Raises: ApiProblem."""
        if self.background:
            unsupported("background is", "background")
        for foreign in ("conversation", "prompt"):
            if getattr(self, foreign) is not None:
                unsupported(f"{foreign} is", foreign)
        tools = self.function_tools()
        name: str | None = None
        if isinstance(self.tool_choice, ToolChoiceBody):
            if self.tool_choice.type != "function" or self.tool_choice.name is None:
                unsupported(f"The tool choice {self.tool_choice.type[:40]} is", "tool_choice")
            name = self.tool_choice.name
        mode = None if isinstance(self.tool_choice, ToolChoiceBody) else self.tool_choice
        choice = choice_of(mode, name, tools, self.parallel_tool_calls)
        text_format = self.text.format if self.text else TextFormat()
        grammar = format_grammar(text_format.type, text_format, "text.format")
        if grammar is not None and choice.mode == "required":
            raise ApiProblem("A required tool call cannot have a text format too.", param="text.format")
        instructions = (Message("system", self.instructions),) if self.instructions else ()
        messages = (*instructions, *_with_calls_joined((*earlier, *self.own_messages())))
        if len(messages) > MOST_MESSAGES:
            raise ApiProblem(f"The conversation has more than {MOST_MESSAGES} messages.", "Begin anew.", param="input")
        return Asked(
            messages=messages,
            expert=expert_of(self.model),
            tools=tools,
            choice=choice,
            one_call=self.parallel_tool_calls is False,
            grammar=grammar,
            max_tokens=self.max_output_tokens,
            sampling=sampling_changes(temperature=self.temperature, top_p=self.top_p),
            logprobs=(self.top_logprobs or 0) if self.wants_logprobs else None,
        )

    def function_tools(self) -> tuple[Tool, ...]:
        """Raises: ApiProblem."""
        functions = []
        for number, tool in enumerate(self.tools or ()):
            if tool.get("type") != "function":
                unsupported(f"A tool of the type {str(tool.get('type'))[:40]!r} is", f"tools.{number}")
            functions.append(checked(tool, FunctionTool))
        return tools_of(functions, "tools")


def _messages(item: Mapping[str, Any], param: str) -> tuple[Message, ...]:
    """The message that an item is; none for what only other models can read."""
    kind = item.get("type", "message" if "role" in item else None)
    match kind:
        case "message":
            message = checked(item, MessageItem)
            role = "system" if message.role == "developer" else message.role
            return (Message(role, text_of(message.content, param)),)
        case "function_call":
            call = checked(item, CallItem)
            return (Message("assistant", "", (ToolCall(call.name, call.arguments),)),)
        case "function_call_output":
            return (Message("tool", text_of(checked(item, ResultItem).output, param)),)
        case "reasoning":
            return ()
    refuse_part(str(kind), param)


def _with_calls_joined(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Calls that follow a message of the assistant belong to it: one answer is one message."""
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else None
        if last and last.role == "assistant" == message.role and message.calls and not message.text:
            joined[-1] = Message("assistant", last.text, (*last.calls, *message.calls))
        else:
            joined.append(message)
    return tuple(joined)
