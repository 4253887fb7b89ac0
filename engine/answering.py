"""The answer of one expert in its view: what it says, and between that the tools that it calls and their results.

All of it is one message of the expert: its own tokens verbatim, and what was put between them. Every stretch that the
model wrote leaves a trace of its own. Knows neither routes nor how views are opened.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.acting import Acting
from engine.asides import Aside
from engine.errors import ContextOverflow, ScoringStopped
from engine.events import TurnEvent
from engine.harness.prompt import (
    END_OF_THOUGHT,
    THOUGHT_CLOSE,
    THOUGHT_OPEN,
    Prompt,
    PromptState,
    after_calls,
    build,
    end_of_thought,
    head,
    opens_thought,
)
from engine.harness.schema_nodes import SchemaProblem
from engine.harness.tool_calls import CallParser, Tool, ToolCall, call_grammar, parser_for, style_of
from engine.harness.tool_calls.calls import CALL_OPEN
from engine.mixture import Mixture
from engine.running_turn import RunningTurn
from engine.runtime.protocol import Finished, Prefilled, Request, Runtime, Stop, Token, Tokens, Usage
from engine.views import OpenView, ViewBuilder

_LONG_MESSAGE_TOKENS: Final = 256
"""From this length on, regenerating an answer should not have to read the message again."""
_LEAST_ANSWER: Final = 64
"""Tokens that must be left for what an expert says to results."""
_MOST_CALLS_AT_ONCE: Final = 8
_THOUGHT: Final = "thought"
"""Why a round ended that was broken off in a thought."""
_MARK_TOKENS: Final = len(THOUGHT_CLOSE)
"""A mark has at most as many."""
_CUT: Final = "\n[The rest of this result does not fit here.]"

Steps = Generator[TurnEvent | Aside[Any], None, None]


@dataclass(slots=True)
class _Round:
    """What the expert wrote before it ended or called tools."""

    tokens: Tokens
    """All that was read before it."""
    parser: CallParser | None
    calls: list[ToolCall]
    sampled: list[int]
    texts: list[str] = field(default_factory=list)
    """Of the tokens sampled."""
    reason: str = ""
    is_thinking: bool = False
    """Whether it is within a thought now."""
    thought: int = 0
    """Tokens of thoughts."""

    @property
    def own(self) -> Tokens:
        """Without the token that ended it."""
        return tuple(self.sampled[:-1] if self.reason == "eos" else self.sampled)

    @property
    def rejected(self) -> Sequence[str]:
        return () if self.parser is None else self.parser.rejected


class Answering:
    """Under one mixture and its views; a turn keeps the one it began with."""

    def __init__(self, runtime: Runtime, mixture: Mixture, views: ViewBuilder, new_seed: Callable[[], int]) -> None:
        self._runtime = runtime
        self._mixture = mixture
        self._views = views
        self._new_seed = new_seed
        self._style = style_of(mixture.harness.chat_format.family)
        self._opens_thought = opens_thought(mixture.harness)
        self._grammars: dict[str, str | None] = {}
        """Of the calls of each expert."""

    def answer(
        self, turn: RunningTurn, expert: str, view: OpenView, prompt: Prompt, acting: Acting, stop: Stop
    ) -> Steps:
        """Say and do all of it; `turn` has the segments, traces and usage then.

        Raises: ScoringStopped, ContextOverflow, RuntimeFailed, StoreProblem.
        """
        said: list[int] = []
        thought, is_cut = 0, False
        while True:
            one = _Round((*prompt.tokens, *said), None, [], [])
            one.is_thinking = self._opens_thought and not is_cut
            most = acting.offer.thinking_tokens
            yield from self._say(
                turn, expert, view, prompt, one, acting, stop, None if most is None else most - thought
            )
            said += one.own
            thought += one.thought
            is_cut = one.reason == _THOUGHT
            if is_cut:
                said += end_of_thought(self._mixture.harness, self._runtime)
                yield from turn.said(END_OF_THOUGHT)
                continue
            turn.reason = one.reason
            if not (one.calls or one.rejected) or one.reason == "stopped":
                break
            results = yield from acting.results(one.calls, one.rejected)
            between = self._between(len(prompt.tokens) + len(said), results, acting)
            if between is None:
                yield turn.notice("no_room_for_results")
                break
            said += between
            turn.begin_paragraph()
        if turn.reason == "length":
            yield turn.notice("length", tokens=turn.usage.completion_tokens)
        if said:
            turn.segments = self._views.segments(view, prompt, turn.record.turn_id, tuple(said))
            adapter = self._mixture.personal.get(expert)
            turn.adapter = adapter.content_hash if adapter is not None else ""

    def consult(self, turn: RunningTurn, expert: str, task: str, stop: Stop) -> Generator[TurnEvent, None, str]:
        """What another expert says to a task alone: it reads no view and leaves nothing in one.

        Raises: UnknownName, ContextOverflow, ScoringStopped, RuntimeFailed.
        """
        profile, harness = self._mixture.profile, self._mixture.harness
        profile.expert(expert)
        state = PromptState(expert, head(harness, self._runtime, expert, with_tools=False), (), (), task)
        prompt = build(state, harness, self._runtime, with_tools=False)
        room = profile.context_tokens - len(prompt.tokens)
        if room < _LEAST_ANSWER:
            raise ContextOverflow("The task does not fit the other expert's context.", "Say it in fewer words.")
        sampling = replace(profile.sampling, seed=self._new_seed())
        request = Request(prompt.tokens, min(room, profile.max_answer_tokens), self._mixture.stack(expert), sampling)
        said: list[str] = []
        sampled: list[int] = []
        for piece in self._runtime.generate([request], stop):
            match piece:
                case Prefilled():
                    yield turn.reading("delegate", piece)
                case Token(token=token, text=text):
                    sampled.append(token)
                    said.append(text)
                case Finished(reason=reason, usage=usage, text=text):
                    said.append(text)
                    turn.usage_other += usage
                    if reason == "stopped":
                        raise ScoringStopped("The turn was stopped.", "Ask again.")
        if sampled:
            turn.traces.append(
                self._mixture.trace(
                    turn.record.turn_id, "delegate", expert, prompt.tokens, tuple(sampled), sampling.seed
                )
            )
        return "".join(said).strip()

    def _say(
        self,
        turn: RunningTurn,
        expert: str,
        view: OpenView,
        prompt: Prompt,
        one: _Round,
        acting: Acting,
        stop: Stop,
        most_thought: int | None,
    ) -> Generator[TurnEvent, None, None]:
        """One round. A call that has begun is held to the form of a call; a thought that is too long is broken off."""
        tools = acting.tools
        one.parser = parser_for(self._style, tools) if tools else None
        sampling = replace(self._mixture.profile.sampling, seed=self._new_seed())
        request = Request(
            one.tokens,
            self._mixture.profile.max_answer_tokens,
            self._mixture.stack(expert),
            sampling,
            cache_key=f"{turn.record.conversation_id}/{view.epoch.expert}",
            snapshot_at=(*prompt.boundaries, *_before_long_message(prompt.tokens, prompt.boundaries)),
        )
        if turn.usage.prompt_tokens:  # of the round before; what the view holds is what the last one read and wrote
            turn.usage_other += turn.usage
        grammar = self._grammar(expert, tools) if tools else None
        yield from self._complete(turn, one, request, stop, breaks_off=grammar is not None, most_thought=most_thought)
        if grammar is not None and not one.reason:
            held = self._held_to_a_call(one, request, grammar)
            if held is not None:
                yield from self._complete(turn, one, held, stop)
        if one.parser is not None:
            for parsed in one.parser.finish():
                yield from self._parsed(turn, one, parsed)
        if one.sampled:
            turn.traces.append(
                self._mixture.trace(
                    turn.record.turn_id, "answer", expert, one.tokens, tuple(one.sampled), sampling.seed
                )
            )

    def _complete(
        self,
        turn: RunningTurn,
        one: _Round,
        request: Request,
        stop: Stop,
        *,
        breaks_off: bool = False,
        most_thought: int | None = None,
    ) -> Generator[TurnEvent, None, None]:
        """To its end; or, with `breaks_off`, to the opening of a call, and then the round has no reason yet; or to the
        token of a thought that is one more than `most_thought`.
        """
        before = len(one.sampled)
        pieces = self._runtime.generate([request], stop)
        try:
            for piece in pieces:
                match piece:
                    case Prefilled():
                        yield turn.reading("answer", piece)
                    case Token(token=token, text=text):
                        turn.completion.append(token)
                        one.sampled.append(token)
                        one.texts.append(text)
                        one.is_thinking = _is_thinking(one)
                        one.thought += one.is_thinking
                        yield from self._told(turn, one, text)
                        if one.is_thinking and most_thought is not None and one.thought > most_thought:
                            one.reason = _THOUGHT
                            turn.usage = Usage(len(one.tokens), 0, len(one.sampled))
                            return
                        if breaks_off and _opens_a_call(one):
                            return
                    case Finished(reason=reason, usage=usage, text=text):
                        one.reason = reason
                        turn.usage = replace(usage, completion_tokens=usage.completion_tokens + before)
                        yield from self._told(turn, one, text)
        finally:
            if isinstance(pieces, Generator):  # what is not read to its end is stopped
                pieces.close()

    def _held_to_a_call(self, one: _Round, request: Request, grammar: str) -> Request | None:
        """What goes on from there and can only be a call; what goes on freely where that cannot be enforced."""
        rest = replace(request, tokens=(*one.tokens, *one.sampled), max_tokens=request.max_tokens - len(one.sampled))
        if rest.max_tokens < 1:
            one.reason = "length"
            return None
        ends = {"".join(one.texts[-count:]): count for count in range(1, len(CALL_OPEN) + 1)}
        begun = ends.get(CALL_OPEN) or ends.get(f"{CALL_OPEN}\n")
        if begun is None:  # a token holds more than the mark
            return rest
        return replace(rest, said=tuple(one.sampled[-begun:]), grammar=grammar)

    def _grammar(self, expert: str, tools: Sequence[Tool]) -> str | None:
        """Of calls of these tools; None where a schema of theirs cannot be enforced."""
        if self._style == "bare":  # its calls have no mark, and an answer may look like one
            return None
        if expert not in self._grammars:
            try:
                self._grammars[expert] = call_grammar(tools, self._style, _MOST_CALLS_AT_ONCE)
            except SchemaProblem:
                self._grammars[expert] = None
        return self._grammars[expert]

    def _told(self, turn: RunningTurn, one: _Round, text: str) -> Generator[TurnEvent, None, None]:
        if one.parser is None:
            yield from turn.said(text)
            return
        for parsed in one.parser.feed(text):
            yield from self._parsed(turn, one, parsed)

    def _parsed(self, turn: RunningTurn, one: _Round, parsed: str | ToolCall) -> Generator[TurnEvent, None, None]:
        if isinstance(parsed, ToolCall):
            one.calls.append(parsed)
        else:
            yield from turn.said(parsed)

    def _between(self, size: int, results: Sequence[str], acting: Acting) -> Tokens | None:
        """What stands between a call and what the expert says to it; None where there is no room for both."""
        room = self._views.context_tokens - size - _LEAST_ANSWER
        most = acting.offer.result_tokens
        while most >= _LEAST_ANSWER:
            cut = [self._cut(result, most) for result in results]
            tokens = after_calls(cut, self._mixture.harness, self._runtime)
            if len(tokens) <= room:
                return tokens
            most //= 2
        return None

    def _cut(self, result: str, most: int) -> str:
        tokens = self._runtime.encode(result)
        if len(tokens) <= most:
            return result
        return self._runtime.decode(tokens[:most]).rstrip("\ufffd") + _CUT


def _before_long_message(tokens: Tokens, boundaries: Sequence[int]) -> tuple[int, ...]:
    """The last position before the answer, when the new message is long."""
    start = boundaries[-1] if boundaries else 0
    return (len(tokens) - 1,) if len(tokens) - start > _LONG_MESSAGE_TOKENS else ()


def _is_thinking(one: _Round) -> bool:
    """Whether the last token is within a thought, by the marks among the last ones."""
    last = "".join(one.texts[-_MARK_TOKENS:])
    opened, closed = last.rfind(THOUGHT_OPEN), last.rfind(THOUGHT_CLOSE)
    return one.is_thinking if opened == closed else opened > closed


def _opens_a_call(one: _Round) -> bool:
    """Whether the last token closes the mark of a call."""
    ends_with_mark = "".join(one.texts[-len(CALL_OPEN) :]).rstrip().endswith(CALL_OPEN)
    return ends_with_mark and one.parser is not None and one.parser.has_begun
