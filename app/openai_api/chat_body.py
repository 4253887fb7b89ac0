"""The body of POST /v1/chat/completions, checked, and as the engine's own question."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, NoReturn

from pydantic import Field, field_validator

from app.openai_api.asking import (
    MOST_MESSAGES,
    MOST_TOOLS,
    Function,
    Name,
    Penalty,
    SchemaFormat,
    Seed,
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
from app.openai_api.bodies import Body, unsupported
from app.openai_api.problems import ApiProblem
from engine.completing import Asked, Message
from engine.harness.tool_calls import ToolCall, ToolChoice

MOST_STOPS: Final = 16
MOST_STOP_CHARACTERS: Final = 256
MOST_ANSWERS: Final = 8
MOST_PARTS: Final = 1024

StopText = Annotated[str, Field(min_length=1, max_length=MOST_STOP_CHARACTERS)]


class Part(Body):
    type: str
    text: str | None = None
    refusal: str | None = None


class CalledFunction(Body):
    name: str
    arguments: str


class PastCall(Body):
    id: str = ""
    function: CalledFunction


class MessageBody(Body):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Annotated[list[Part], Field(max_length=MOST_PARTS)] | None = None
    tool_calls: Annotated[list[PastCall], Field(max_length=MOST_TOOLS)] | None = None

    def as_message(self, param: str) -> Message:
        """Raises: ApiProblem."""
        role = {"developer": "system", "function": "tool"}.get(self.role, self.role)
        calls = tuple(ToolCall(call.function.name, call.function.arguments) for call in self.tool_calls or ())
        if self.content is None and not calls and role != "assistant":
            raise ApiProblem("The message has no content.", "Give it a text.", param=f"{param}.content")
        return Message(role, text_of(self.content or "", param), calls)  # type: ignore[arg-type]


class ToolBody(Body):
    type: str
    function: Function | None = None


class ChosenFunction(Body):
    name: str


class ChosenTool(Body):
    type: str
    function: ChosenFunction | None = None


class ResponseFormat(Body):
    type: str
    json_schema: SchemaFormat | None = None


class StreamOptions(Body):
    include_usage: bool = False


class ChatBody(Body):
    model: Name
    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: TokenLimit | None = None
    max_completion_tokens: TokenLimit | None = None
    n: Annotated[int, Field(ge=1, le=MOST_ANSWERS)] | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    seed: Seed | None = None
    stop: StopText | Annotated[list[StopText], Field(max_length=MOST_STOPS)] | None = None
    logprobs: bool | None = None
    top_logprobs: TopLogprobs | None = None
    logit_bias: dict[str, float] | None = None
    response_format: ResponseFormat | None = None
    tools: Annotated[list[ToolBody], Field(max_length=MOST_TOOLS)] | None = None
    tool_choice: Literal["none", "auto", "required"] | ChosenTool | None = None
    parallel_tool_calls: bool | None = None
    functions: Any = None
    function_call: Any = None
    modalities: list[str] | None = None
    audio: Any = None
    web_search_options: Any = None

    @field_validator("stop", mode="before")
    @classmethod
    def _few_stops(cls, value: Any) -> Any:
        # Before every one of ten thousand is looked at, and complained of.
        if isinstance(value, list) and len(value) > MOST_STOPS:
            raise ValueError(f"at most {MOST_STOPS} stop texts")
        return value

    @property
    def count(self) -> int:
        return self.n or 1

    @property
    def includes_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    def asked(self) -> Asked:
        """Raises: ApiProblem."""
        self._refuse_unsupported()
        tools = tools_of(tuple(map(_function, self.tools or ())), "tools")
        choice = self._choice(tools)
        grammar = None
        if self.response_format is not None:
            grammar = format_grammar(self.response_format.type, self.response_format.json_schema, "response_format")
        if grammar is not None and choice.mode == "required":
            raise ApiProblem("A required tool call cannot have a response format too.", param="response_format")
        return Asked(
            messages=tuple(message.as_message(f"messages.{i}") for i, message in enumerate(self.messages)),
            expert=expert_of(self.model),
            tools=tools,
            choice=choice,
            one_call=self.parallel_tool_calls is False,
            grammar=grammar,
            max_tokens=self.max_completion_tokens or self.max_tokens,
            sampling=sampling_changes(
                temperature=self.temperature,
                top_p=self.top_p,
                presence_penalty=self.presence_penalty,
                frequency_penalty=self.frequency_penalty,
                seed=self.seed,
            ),
            stop=(self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ()),
            logprobs=(self.top_logprobs or 0) if self.logprobs else None,
            count=self.count,
        )

    def _refuse_unsupported(self) -> None:
        if self.logit_bias:
            unsupported("logit_bias is", "logit_bias")
        if self.functions or self.function_call:
            raise ApiProblem("functions are not supported here.", "Use tools and tool_choice.", param="functions")
        if self.audio or any(kind != "text" for kind in self.modalities or ()):
            unsupported("Answers other than text are", "modalities")
        if self.web_search_options:
            unsupported("Searching the web is", "web_search_options")
        if self.top_logprobs and not self.logprobs:
            raise ApiProblem("top_logprobs needs logprobs.", "Set logprobs to true.", param="top_logprobs")

    def _choice(self, tools: Sequence[Any]) -> ToolChoice:
        if not isinstance(self.tool_choice, ChosenTool):
            return choice_of(self.tool_choice, None, tools, self.parallel_tool_calls)
        if self.tool_choice.type != "function" or self.tool_choice.function is None:
            unsupported(f"The tool choice {self.tool_choice.type[:40]} is", "tool_choice")
        return choice_of(None, self.tool_choice.function.name, tools, self.parallel_tool_calls)


def text_of(content: str | Sequence[Part], param: str) -> str:
    """The text of a message's content, whose parts must all be text. Raises: ApiProblem."""
    if isinstance(content, str):
        return content
    texts = []
    for number, part in enumerate(content):
        text = part.refusal if part.type == "refusal" else part.text
        if part.type not in ("text", "input_text", "output_text", "refusal") or text is None:
            refuse_part(part.type, f"{param}.content.{number}")
        texts.append(text)
    return "\n".join(texts)


def refuse_part(kind: str, param: str) -> NoReturn:
    """Raises: ApiProblem."""
    named = {
        "image_url": "Images are",
        "input_image": "Images are",
        "input_audio": "Audio is",
        "file": "Files are",
        "input_file": "Files are",
    }
    what = named.get(kind, f"A part of the type {kind[:40]!r} is")
    raise ApiProblem(
        f"{what} not supported: this model reads text only.",
        "Send text parts.",
        code="unsupported_content",
        param=param,
    )


def _function(tool: ToolBody) -> Function:
    if tool.type != "function" or tool.function is None:
        unsupported(f"A tool of the type {tool.type[:40]} is", "tools")
    return tool.function
