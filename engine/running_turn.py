"""A turn under way: what it has gathered so far, told as numbered events, and in the end as an Answer."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from engine.errors import AgentError
from engine.events import (
    ApprovalAsked,
    Notice,
    Reading,
    RouteChosen,
    TextDelta,
    ToolCalled,
    ToolReturned,
    TurnClosed,
    TurnOpened,
)
from engine.harness.approvals import Approval
from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import ToolResult
from engine.runtime.protocol import Prefilled, Usage
from engine.values import (
    Answer,
    CallState,
    MemoryLine,
    Route,
    Segment,
    Timing,
    Trace,
    TurnRecord,
    TurnState,
)


@dataclass(slots=True)
class RunningTurn:
    record: TurnRecord
    started: float
    """`time.perf_counter()` at the beginning."""
    events: int = 0
    route: Route | None = None
    text: list[str] = field(default_factory=list)
    completion: list[int] = field(default_factory=list)
    """Everything that was sampled for the answer."""
    reason: str = ""
    """Why the answer ended; empty while it has not."""
    usage: Usage = Usage()
    usage_other: Usage = Usage()
    route_ms: float = 0.0
    first_token_ms: float | None = None
    traces: list[Trace] = field(default_factory=list)
    segments: tuple[Segment, ...] = ()
    adapter: str = ""
    """Hash of the personal adapter that answered."""
    recalled: tuple[MemoryLine, ...] = ()
    """What the expert was reminded of."""
    _is_paragraph_due: bool = False

    def opened(self) -> TurnOpened:
        return TurnOpened(
            **self._stamp(),
            conversation_id=self.record.conversation_id,
            parent_turn_id=self.record.parent_turn_id,
            user_text=self.record.user_text,
            attachments=tuple(attachment.name for attachment in self.record.attachments),
        )

    def routed(self, route: Route) -> RouteChosen:
        self.route = route
        self.route_ms = self._elapsed_ms()
        return RouteChosen(**self._stamp(), route=route)

    def notice(self, code: str, **values: Any) -> Notice:
        return Notice(**self._stamp(), code=code, values=values)

    def reading(self, phase: str, piece: Prefilled) -> Reading:
        return Reading(**self._stamp(), phase=phase, done=piece.done, total=piece.total, reused=piece.reused)

    def said(self, text: str) -> Iterator[TextDelta]:
        """No event for no text, which is what a token that ends in mid-character has."""
        if text and self._is_paragraph_due and text.strip():
            text, self._is_paragraph_due = f"\n\n{text.lstrip()}", False
        if text:
            if self.first_token_ms is None:
                self.first_token_ms = self._elapsed_ms()
            self.text.append(text)
            yield TextDelta(**self._stamp(), text=text)

    def called(self, call: int, tool_call: ToolCall, source: str) -> ToolCalled:
        return ToolCalled(**self._stamp(), call=call, tool=tool_call.name, arguments=tool_call.arguments, source=source)

    def asked_for(self, call: int, approval: Approval) -> ApprovalAsked:
        return ApprovalAsked(
            **self._stamp(),
            call=call,
            approval_id=approval.approval_id,
            tool=approval.tool,
            source=approval.source,
            reason=approval.reason,
            pattern=approval.pattern,
            title=approval.preview.title,
            detail=approval.preview.detail,
        )

    def returned(self, call: int, tool: str, state: CallState, result: ToolResult, seconds: float) -> ToolReturned:
        return ToolReturned(
            **self._stamp(),
            call=call,
            tool=tool,
            state=state,
            text=result.text,
            is_tainted=result.is_tainted,
            seconds=seconds,
        )

    def begin_paragraph(self) -> None:
        """What is said next stands apart from what was said before, where anything was."""
        self._is_paragraph_due = bool("".join(self.text).strip())

    def answer(self, state: TurnState, error: AgentError | None) -> Answer:
        return Answer(
            self.record.turn_id,
            state,
            "".join(self.text),
            self.route,
            self.usage,
            self.usage_other,
            Timing(self.route_ms, self.first_token_ms, self._elapsed_ms()),
            self.segments,
            tuple(self.traces),
            error.problem if error else "",
            error.hint if error else "",
            self.recalled,
        )

    def closed(self, answer: Answer, context_tokens: int) -> TurnClosed:
        return TurnClosed(
            **self._stamp(),
            conversation_id=self.record.conversation_id,
            state=answer.state,
            text=answer.text,
            route=answer.route,
            usage=answer.usage,
            usage_other=answer.usage_other,
            timing=answer.timing,
            context_tokens=context_tokens,
            problem=answer.problem,
            hint=answer.hint,
            adapter=self.adapter,
        )

    def _stamp(self) -> dict[str, Any]:
        number, self.events = self.events, self.events + 1
        return {"turn_id": self.record.turn_id, "number": number}

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000
