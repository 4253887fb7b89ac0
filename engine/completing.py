"""One completion for a program that brings the whole conversation: messages in, text and tool calls out.

Stateless and off the record: nothing is stored, learned or remembered, and no event of a turn is told. The prompt is
made with the same templates and encoder as a turn's, so that no text of a client becomes a control token. The system
text of the client takes the place of the expert's own, which is used when there is none. Runs no tool.
"""

import zlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from engine.errors import BadText, ContextOverflow
from engine.harness.encoding import encode_parts
from engine.harness.formats import Part
from engine.harness.tool_calls import (
    CallParser,
    Tool,
    ToolCall,
    ToolChoice,
    assistant_content,
    call_grammar,
    offered,
    parser_for,
    results_content,
    style_of,
    system_content,
)
from engine.harness.tool_calls.calls import CALL_CLOSE
from engine.mixture import Mixture
from engine.router_model import route_scores
from engine.routing import router
from engine.runtime.protocol import (
    Encoder,
    Finished,
    FinishReason,
    Prefilled,
    Request,
    Runtime,
    Stop,
    Token,
    Tokens,
    Usage,
)
from engine.values import Route

CACHE_KEYS: Final = 2
"""Views that completions keep per adapter stack: enough for a client and its neighbour, few beside the user's own."""
_MOST_CHARACTERS_PER_TOKEN: Final = 32
"""A prompt with more characters than this per token of the context cannot fit, and is not even encoded."""


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client wants completed. `expert` pins one; None lets the router choose by the last user message."""

    messages: tuple[Message, ...]
    expert: str | None = None
    tools: tuple[Tool, ...] = ()
    choice: ToolChoice = field(default_factory=ToolChoice)
    one_call: bool = False
    """The answer ends with its first call."""
    grammar: str | None = None
    max_tokens: int | None = None
    """None is the profile's."""
    sampling: Mapping[str, float | int] = field(default_factory=dict)
    """Fields of `Sampling` that differ from the profile's."""
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    """As in `Request`."""
    count: int = 1
    """Answers to the same prompt, each with its own seed."""


@dataclass(frozen=True, slots=True)
class Began:
    """The prompt is being read; from here on the client can only be told of errors within the answer."""

    route: Route
    base_hash: str
    harness_version: str


@dataclass(frozen=True, slots=True)
class Said:
    """More text of answer `index`, and the tokens it came with; those of calls and of the end are left out."""

    index: int
    text: str
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    index: int
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Ended:
    index: int
    reason: FinishReason
    usage: Usage


CompletionPiece = Began | Said | Called | Ended


def complete(asked: Asked, runtime: Runtime, mixture: Mixture, stop: Stop) -> Generator[CompletionPiece, None, None]:
    """Began, then Said and Called as they come, then one Ended per answer. Closing the generator ends the work.

    Raises: BadText, UnknownName, ContextOverflow, SchemaProblem before Began; RuntimeFailed at any time.
    """
    check_length(asked, mixture)
    style = style_of(mixture.harness.chat_format.family)
    tools = offered(asked.tools, asked.choice)
    grammar = asked.grammar
    if asked.choice.mode == "required":
        grammar = call_grammar(tools, style, 1 if asked.one_call else asked.choice.most)
    route = choose_expert(asked, runtime, mixture, stop)
    requests = _requests(asked, route.expert, grammar, runtime, mixture)
    answers = [
        _Answer(index, parser_for(style, tools) if tools else None, asked.one_call) for index in range(asked.count)
    ]
    began = False
    for piece in runtime.generate(requests, stop):
        if not began:
            began = True
            yield Began(route, mixture.info.base_hash, mixture.harness.version)
        if not isinstance(piece, Prefilled):
            yield from answers[piece.index].take(piece)


def check_length(asked: Asked, mixture: Mixture) -> None:
    """Refuse what is nowhere near fitting, before it costs anything. Raises: ContextOverflow, BadText."""
    if not any(message.role == "user" for message in asked.messages):
        raise BadText("Nothing is asked: no message is from the user.", "Add a message with the role user.")
    limit = mixture.profile.context_tokens
    described = system_content("", asked.tools, style_of(mixture.harness.chat_format.family))
    size = sum(len(part.text) for part in described)
    size += sum(len(message.text) + sum(len(call.arguments) for call in message.calls) for message in asked.messages)
    if size > limit * _MOST_CHARACTERS_PER_TOKEN:
        raise ContextOverflow(
            f"The messages and tools have {size} characters; the context holds {limit} tokens, answer included.",
            "Shorten the messages, or choose a profile with a larger context.",
        )


def choose_expert(asked: Asked, runtime: Runtime, mixture: Mixture, stop: Stop) -> Route:
    """By the last message of the user alone, so that the same expert answers once its tool calls have results."""
    profile = mixture.profile
    text = next((message.text for message in reversed(asked.messages) if message.role == "user"), "")
    surface = router.is_surface(text)
    scores = None
    if router.needs_scores(experts=profile.expert_ids, pinned=asked.expert, surface=surface):
        scores = route_scores("", text, runtime, mixture, stop).scores
    return router.choose(
        scores=scores,
        experts=profile.expert_ids,
        default=profile.route.default,
        margin_nats=profile.route.margin_nats,
        pinned=asked.expert,
        surface=surface,
    )


def render(asked: Asked, expert: str, encoder: Encoder, mixture: Mixture) -> tuple[Tokens, tuple[int, ...]]:
    """(the prompt, where its messages begin), each message encoded on its own so that prompts only ever grow."""
    tokens: list[int] = []
    boundaries: list[int] = []
    for parts in _message_parts(asked, expert, mixture):
        tokens += encode_parts(parts, encoder, mixture.harness.markup)
        boundaries.append(len(tokens))
    return tuple(tokens), tuple(boundaries[:-1])


def _message_parts(asked: Asked, expert: str, mixture: Mixture) -> list[tuple[Part, ...]]:
    chat_format = mixture.harness.chat_format
    style = style_of(chat_format.family)
    own = [message.text for message in asked.messages if message.role == "system" and message.text.strip()]
    text = "\n\n".join(own) or mixture.harness.systems[expert]
    system = system_content(text, offered(asked.tools, asked.choice), style)
    rendered = [chat_format.head(system)]
    is_first = True
    results: list[str] = []
    for message in (*(message for message in asked.messages if message.role != "system"), None):
        if message is not None and message.role == "tool":
            results.append(message.text)
            continue
        if results:
            rendered += [chat_format.tool_result(content) for content in results_content(results, style)]
            results = []
        if message is None:
            break
        if message.role == "user":
            rendered.append(chat_format.user(message.text, first=is_first, system=system))
            is_first = False
        else:
            rendered.append(chat_format.assistant(assistant_content(message.text, message.calls, style)))
    return [*rendered, chat_format.assistant_open(thinking=False)]


def _requests(asked: Asked, expert: str, grammar: str | None, runtime: Runtime, mixture: Mixture) -> list[Request]:
    profile = mixture.profile
    tokens, boundaries = render(asked, expert, runtime, mixture)
    sampling = replace(profile.sampling, **asked.sampling)  # type: ignore[arg-type]
    # With the closing tag as a stop text, an answer that may hold one call ends right there.
    ends_with_call = asked.one_call and asked.tools and asked.choice.mode == "auto"
    request = Request(
        tokens,
        min(asked.max_tokens or profile.max_answer_tokens, profile.context_tokens),
        mixture.stack(expert),
        sampling,
        stop=(*asked.stop, CALL_CLOSE) if ends_with_call else asked.stop,
        grammar=grammar,
        logprobs=asked.logprobs,
        cache_key=_cache_key(asked.messages),
        snapshot_at=boundaries,
    )
    others = [
        replace(request, cache_key="", sampling=replace(sampling, seed=sampling.seed + index))
        for index in range(1, asked.count)
    ]
    return [request, *others]


def _cache_key(messages: Sequence[Message]) -> str:
    """The same for all requests of one conversation, which begin alike."""
    beginning = next((message.text for message in messages if message.role == "user"), "")
    return f"api/{zlib.crc32(beginning.encode()) % CACHE_KEYS}"


@dataclass(slots=True)
class _Answer:
    """One answer under way: its text, and the tokens that wait for it."""

    index: int
    parser: CallParser | None
    one_call: bool
    """Nothing that follows a call is told."""
    has_called: bool = False
    waiting: list[Token] = field(default_factory=list)

    def take(self, piece: Token | Finished) -> Generator[CompletionPiece, None, None]:
        if isinstance(piece, Token):
            self.waiting.append(piece)
            if piece.text:
                yield from self._pieces(piece.text)
            return
        if piece.text:
            yield from self._pieces(piece.text)
        if self.parser is not None:
            yield from self._told(self.parser.finish())
        yield Ended(self.index, piece.reason, piece.usage)

    def _pieces(self, text: str) -> Generator[CompletionPiece, None, None]:
        yield from self._told(self.parser.feed(text) if self.parser is not None else (text,))

    def _told(self, found: Iterable[str | ToolCall]) -> Generator[CompletionPiece, None, None]:
        for parsed in found:
            tokens, self.waiting = tuple(self.waiting), []
            if self.one_call and self.has_called:
                continue
            if isinstance(parsed, ToolCall):
                self.has_called = True
                yield Called(self.index, parsed)
            else:
                yield Said(self.index, parsed, tokens)
