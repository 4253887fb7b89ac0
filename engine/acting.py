"""The tool calls of one turn: from what an expert wrote to the results that it reads, each call permitted before it runs.

Yields events, and asides for whatever takes time: a person who is asked, a tool that runs. Knows no prompt and no
tokens.
"""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from engine.asides import Aside, aside
from engine.errors import AgentError, ScoringStopped
from engine.events import TurnEvent
from engine.hands import Hands, Offer, Offered, names_of
from engine.harness.approvals import LASTING, PERMITTING, Approval
from engine.harness.permissions import Decision, Rule, decide, pattern_for
from engine.harness.tool_calls import (
    CallFault,
    EndTools,
    Refuse,
    Repair,
    Tool,
    ToolCall,
    after_faults,
    check_call,
    fault_of_text,
    judge_call,
)
from engine.harness.tools.values import Invocation, Preview, ToolResult
from engine.running_turn import RunningTurn
from engine.runtime.protocol import Stop
from engine.store import Store
from engine.values import CallRecord, CallState

Steps = Generator[TurnEvent | Aside[Any], None, Sequence[str]]

_REFUSED: Final = {
    "forbidden": "the user has forbidden it. Do not try it again",
    "plan": "this conversation only plans: nothing that changes anything is run. Say what you would do",
    "nobody": "nobody is here to permit it. Answer without it, and say what is left to do",
}
_REJECTED: Final = "This call was not run: the user rejected it. Do not try it again unless they ask for it."
_STOPPED: Final = "The turn was stopped."


@dataclass(slots=True)
class Acting:
    """What one turn has done with tools so far."""

    turn: RunningTurn
    expert: str
    offer: Offer
    hands: Hands
    store: Store
    stop: Stop
    is_tainted: bool
    """Whether the conversation holds text of others."""
    past: list[ToolCall] = field(default_factory=list)
    repairs: int = 0
    is_over: bool = False
    """The expert must answer without tools now."""
    count: int = 0

    @property
    def offered(self) -> tuple[Offered, ...]:
        return () if self.is_over else self.offer.of(self.expert)

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(one.spec.tool for one in self.offered)

    def results(self, calls: Sequence[ToolCall], rejected: Sequence[str]) -> Steps:
        """What the expert reads after `calls`, in their order; `rejected` is what had the look of calls.

        Where anything is wrong nothing is run, and there is one result that says what.

        Raises: ScoringStopped once the turn was stopped, StoreProblem.
        """
        checked = [check_call(call, self.tools) for call in calls]
        faults = [one for one in checked if isinstance(one, CallFault)]
        faults += [fault_of_text(text, self.tools) for text in rejected]
        if faults:
            return self._told(faults)
        self.repairs = 0
        found = []
        for call in checked:
            assert isinstance(call, ToolCall)
            found.append((yield from self._result(call)))
        return found

    def _told(self, faults: Sequence[CallFault]) -> Sequence[str]:
        reply = after_faults(faults, self.repairs)
        self.repairs += 1
        self.is_over = not isinstance(reply, Repair)
        return [reply.text]

    def _result(self, call: ToolCall) -> Generator[TurnEvent | Aside[Any], None, str]:
        offered = names_of(self.offer.of(self.expert))[call.name]
        judged = judge_call(self.past, call, self.offer.most_calls)
        self.past.append(call)
        self.count += 1
        self.store.open_call(
            self.turn.record.turn_id, CallRecord(self.count, call.name, offered.spec.source, call.arguments, "waiting")
        )
        yield self.turn.called(self.count, call, offered.spec.source)
        if self.is_over or judged is not None:
            self.is_over = self.is_over or isinstance(judged, EndTools)
            text = judged.text if isinstance(judged, EndTools | Refuse) else "This call was not run. Answer now."
            return (yield from self._closed(call, "refused", ToolResult(text, is_error=True, is_tainted=False)))
        return (yield from self._permitted(call, offered))

    def _permitted(self, call: ToolCall, offered: Offered) -> Generator[TurnEvent | Aside[Any], None, str]:
        """Ask whether it may be run, where that is to be asked, and run it."""
        record = self.turn.record
        invocation = Invocation(call, record.conversation_id, record.turn_id, self.stop)
        circumstances = self.hands.circumstances(record.conversation_id, is_tainted=self.is_tainted)
        decision = decide(offered.spec, call, circumstances)
        if decision.verdict == "refuse":
            said = f"This call was not run: {_REFUSED.get(decision.reason, 'it is not permitted')}."
            return (yield from self._closed(call, "refused", ToolResult(said, is_error=True, is_tainted=False)))
        if decision.verdict == "ask":
            try:
                preview = offered.toolbox.preview(invocation)
            except ScoringStopped:
                raise
            except AgentError as error:  # not what a person need be asked about
                result = ToolResult(f"{error.problem} {error.hint}".strip(), is_error=True, is_tainted=False)
                return (yield from self._closed(call, "refused", result))
            if not (yield from self._asked(call, offered, decision, preview)):
                result = ToolResult(_REJECTED, is_error=True, is_tainted=False)
                return (yield from self._closed(call, "rejected", result))
        return (yield from self._run(offered, invocation))

    def _asked(
        self, call: ToolCall, offered: Offered, decision: Decision, preview: Preview
    ) -> Generator[TurnEvent | Aside[Any], None, bool]:
        record, approvals = self.turn.record, self.hands.approvals
        approval = Approval(
            f"{record.turn_id}-{self.count}",
            record.conversation_id,
            record.turn_id,
            call.name,
            offered.spec.source,
            decision.reason,
            pattern_for(call),
            preview,
        )
        approvals.put(approval)
        try:
            yield self.turn.asked_for(self.count, approval)
            answer = yield from aside(lambda: approvals.wait(approval.approval_id, self.stop))
        except ScoringStopped:
            self._interrupted()
            raise
        finally:
            approvals.withdraw(approval.approval_id)
        if answer in LASTING:
            self.hands.remember(Rule(call.name, approval.pattern, answer in PERMITTING))
        return answer in PERMITTING

    def _run(self, offered: Offered, invocation: Invocation) -> Generator[TurnEvent | Aside[Any], None, str]:
        self.store.run_call(invocation.turn_id, self.count)
        began = time.perf_counter()
        try:
            result = yield from aside(lambda: offered.toolbox.run(invocation))
        except ScoringStopped:
            self._interrupted()
            raise
        except AgentError as error:
            result = ToolResult(f"{error.problem} {error.hint}".strip(), is_error=True)
        state: CallState = "failed" if result.is_error else "done"
        return (yield from self._closed(invocation.call, state, result, time.perf_counter() - began))

    def _closed(
        self, call: ToolCall, state: CallState, result: ToolResult, seconds: float = 0.0
    ) -> Generator[TurnEvent, None, str]:
        self.is_tainted = self.is_tainted or result.is_tainted
        self.store.close_call(
            self.turn.record.turn_id, self.count, state, result.text, is_tainted=result.is_tainted, seconds=seconds
        )
        yield self.turn.returned(self.count, call.name, state, result, seconds)
        return result.text

    def _interrupted(self) -> None:
        self.store.close_call(self.turn.record.turn_id, self.count, "interrupted", _STOPPED)
