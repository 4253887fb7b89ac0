"""The tool calls of one turn: from what an expert wrote to the results that it reads, each permitted before it runs.

Calls are judged, asked for and run on a thread beside the turn, which meanwhile yields asides: whatever takes time
there, a person or a tool, holds up nobody else. A tool may call others; those go the same way. Knows no prompt.
"""

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any, Final

from engine.asides import Aside, aside
from engine.errors import AgentError, RuntimeFailed, ScoringStopped, boundary
from engine.events import TurnEvent
from engine.hands import Hands, Offer, Offered, names_of
from engine.harness.approvals import LASTING, PERMITTING, Approval
from engine.harness.config import HookMoment
from engine.harness.permissions import Decision, Rule, decide, pattern_for
from engine.harness.tool_calls import (
    CallFault,
    EndTools,
    Repair,
    Tool,
    ToolCall,
    after_faults,
    check_call,
    fault_of_text,
    judge_call,
)
from engine.harness.tools.values import Invocation, ToolResult, ToolSpec
from engine.running_turn import RunningTurn
from engine.runtime.protocol import Stop
from engine.store import Store
from engine.values import CallRecord, CallState

Steps = Generator[TurnEvent | Aside[Any], None, Sequence[str]]
Consult = Callable[[str, str], Generator[TurnEvent, None, str]]
"""(expert, task) to what that expert answers."""

_REFUSED: Final = {
    "forbidden": "the user has forbidden it. Do not try it again",
    "plan": "this conversation only plans: nothing that changes anything is run. Say what you would do",
    "no_sandbox": "there is no sandbox here, and the user wants no program to run without one",
    "nobody": "nobody is here to permit it. Answer without it, and say what is left to do",
}
_LOOK_S: Final = 0.2
"""Between two looks at the stop flag."""
_REJECTED: Final = "This call was not run: the user rejected it. Do not try it again unless they ask for it."


@dataclass(frozen=True, slots=True)
class _Consulting:
    """A tool asks for the engine, which is the turn's: what another expert says goes back by `answered`."""

    expert: str
    task: str
    answered: "SimpleQueue[str | AgentError]" = field(default_factory=SimpleQueue)


_Told = TurnEvent | ToolResult | AgentError | _Consulting
Post = Callable[[_Told], None]


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
    consult: Consult
    attended: bool = True
    """A person is there to permit what is asked for."""
    past: list[ToolCall] = field(default_factory=list)
    repairs: int = 0
    is_over: bool = False
    """The expert must answer without tools now."""
    count: int = 0
    began: float = field(default_factory=time.monotonic)
    waited_s: float = 0.0
    """For a person."""

    @property
    def has_time(self) -> bool:
        return time.monotonic() - self.began - self.waited_s <= self.offer.tool_seconds

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What may be called now."""
        return () if self.is_over else tuple(self.offer.shown().get(self.expert, ()))

    def results(self, calls: Sequence[ToolCall], rejected: Sequence[str]) -> Steps:
        """What the expert reads after `calls`, in their order; `rejected` is what had the look of calls.

        Where anything is wrong with them nothing is run, and there is one result that says what.

        Raises: ScoringStopped once the turn was stopped, StoreProblem.
        """
        checked = [check_call(call, self.tools) for call in calls]
        faults = [one for one in checked if isinstance(one, CallFault)]
        faults += [fault_of_text(text, self.tools) for text in rejected]
        if faults:
            reply = after_faults(faults, self.repairs)
            self.repairs += 1
            self.is_over = not isinstance(reply, Repair)
            return [reply.text]
        self.repairs = 0
        found = []
        for call in checked:
            assert isinstance(call, ToolCall)
            found.append((yield from self._beside(call)))
        return found

    def _beside(self, call: ToolCall) -> Generator[TurnEvent | Aside[Any], None, str]:
        """Judge and run the call on a thread of its own, and tell what it tells."""
        said: SimpleQueue[_Told] = SimpleQueue()
        given_up = threading.Event()
        doing = _Doing(self, said.put, _Either(self.stop, given_up))

        def work() -> None:
            try:
                with boundary(RuntimeFailed, "A tool made a mistake", "Report it if it happens again."):
                    said.put(doing.top(call))
            except AgentError as error:
                said.put(error)

        threading.Thread(target=work, name="tool", daemon=True).start()
        try:
            while True:
                told = yield from aside(said.get)
                if isinstance(told, ToolResult):
                    return told.text
                if isinstance(told, AgentError):
                    raise told
                if isinstance(told, _Consulting):
                    yield from self._consult(told)
                else:
                    yield told
        finally:
            given_up.set()
            doing.interrupt()

    def _consult(self, asked: _Consulting) -> Generator[TurnEvent, None, None]:
        try:
            asked.answered.put((yield from self.consult(asked.expert, asked.task)))
        except AgentError as error:
            asked.answered.put(error)


class _Either:
    """Set as soon as one of two is."""

    def __init__(self, one: Stop, other: Stop) -> None:
        self._one, self._other = one, other

    def is_set(self) -> bool:
        return self._one.is_set() or self._other.is_set()


class _Doing:
    """One call of the expert with all that come of it; lives on the tool's thread."""

    def __init__(self, acting: Acting, post: Post, stop: Stop) -> None:
        self._acting, self._post, self._stop = acting, post, stop
        self._open: set[int] = set()
        self._changing = threading.RLock()
        """Held while a call begins or ends: the turn may be given up at the same time."""
        self._is_over = False

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """Of what tools may call."""
        return tuple(one.spec for one in self._acting.offer.of(self._acting.expert))

    def top(self, call: ToolCall) -> ToolResult:
        """A call that the expert wrote: it may be one too many."""
        acting = self._acting
        judged = judge_call(acting.past, call, acting.offer.most_calls)
        acting.past.append(call)
        number, offered = self._begin(call)
        if judged is not None or acting.is_over or not acting.has_time:
            acting.is_over = acting.is_over or isinstance(judged, EndTools) or not acting.has_time
            text = judged.text if judged is not None else "This call was not run. Answer now with what you have."
            return self._end(call, number, "refused", _own(text))
        return self._permitted(call, number, offered)

    def call(self, call: ToolCall) -> ToolResult:
        """A call that another tool makes on the expert's behalf."""
        checked = check_call(call, [spec.tool for spec in self.specs])
        if isinstance(checked, CallFault):
            return _own(f"Nothing was run: {checked.text}.")
        number, offered = self._begin(checked)
        return self._permitted(checked, number, offered)

    def consult(self, expert: str, task: str) -> str:
        """Raises: what the consultation raises."""
        with self._changing:
            self._check_goes_on()
        asked = _Consulting(expert, task)
        self._post(asked)
        while True:
            with suppress(Empty):
                answer = asked.answered.get(timeout=_LOOK_S)
                break
            if self._stop.is_set():
                raise ScoringStopped("The turn was stopped.", "Ask again.")
        if isinstance(answer, AgentError):
            raise answer
        return answer

    def interrupt(self) -> None:
        """The turn is over or given up: what is still open is told to nobody any more."""
        with self._changing:
            self._is_over = True
            for number in self._open:
                self._acting.store.close_call(self._turn_id, number, "interrupted", "The turn was stopped.")
            self._open.clear()

    @property
    def _turn_id(self) -> str:
        return self._acting.turn.record.turn_id

    def _begin(self, call: ToolCall) -> tuple[int, Offered]:
        acting = self._acting
        offered = names_of(acting.offer.of(acting.expert))[call.name]
        with self._changing:
            self._check_goes_on()
            acting.count += 1
            record = CallRecord(acting.count, call.name, offered.spec.source, call.arguments, "waiting")
            acting.store.open_call(self._turn_id, record)
            self._open.add(acting.count)
            self._post(acting.turn.called(acting.count, call, offered.spec.source))
            return acting.count, offered

    def _end(
        self, call: ToolCall, number: int, state: CallState, result: ToolResult, seconds: float = 0.0
    ) -> ToolResult:
        acting = self._acting
        with self._changing:
            self._check_goes_on()
            acting.is_tainted = acting.is_tainted or result.is_tainted
            acting.store.close_call(
                self._turn_id, number, state, result.text, is_tainted=result.is_tainted, seconds=seconds
            )
            self._open.discard(number)
            self._post(acting.turn.returned(number, call.name, state, result, seconds))
        return result

    def _permitted(self, call: ToolCall, number: int, offered: Offered) -> ToolResult:
        """Ask whether it may be run, where that is to be asked, and run it."""
        acting, record = self._acting, self._acting.turn.record
        if problem := self._hooks("before_tool", call):
            said = f"This call was not run: a hook of the user's forbids it ({problem}). Do not try it again."
            return self._end(call, number, "refused", _own(said))
        invocation = Invocation(call, record.conversation_id, record.turn_id, self._stop, self)
        circumstances = acting.hands.circumstances(record.conversation_id, is_tainted=acting.is_tainted)
        circumstances = replace(circumstances, can_ask=circumstances.can_ask and acting.attended)
        decision = decide(offered.spec, call, circumstances)
        if decision.verdict == "refuse":
            said = f"This call was not run: {_REFUSED.get(decision.reason, 'it is not permitted')}."
            return self._end(call, number, "refused", _own(said))
        if decision.verdict == "ask":
            try:
                is_permitted = self._asked(number, offered, invocation, decision)
            except ScoringStopped:
                raise
            except AgentError as error:  # wrong in itself, and nothing a person need be asked
                return self._end(call, number, "refused", _own(f"{error.problem} {error.hint}".strip()))
            if not is_permitted:
                return self._end(call, number, "rejected", _own(_REJECTED))
        return self._run(number, offered, invocation)

    def _asked(self, number: int, offered: Offered, invocation: Invocation, decision: Decision) -> bool:
        """Raises: ScoringStopped; what the preview raises."""
        call, approvals = invocation.call, self._acting.hands.approvals
        approval = Approval(
            f"{invocation.turn_id}-{number}",
            invocation.conversation_id,
            invocation.turn_id,
            call.name,
            offered.spec.source,
            decision.reason,
            pattern_for(call),
            offered.toolbox.preview(invocation),
        )
        approvals.put(approval)
        try:
            with self._changing:
                self._check_goes_on()
                self._post(self._acting.turn.asked_for(number, approval))
            began = time.monotonic()
            answer = approvals.wait(approval.approval_id, self._stop)
            self._acting.waited_s += time.monotonic() - began
        finally:
            approvals.withdraw(approval.approval_id)
        if answer in LASTING:
            self._acting.hands.remember(Rule(call.name, approval.pattern, answer in PERMITTING))
        return answer in PERMITTING

    def _run(self, number: int, offered: Offered, invocation: Invocation) -> ToolResult:
        with self._changing:
            self._check_goes_on()
            self._acting.store.run_call(self._turn_id, number)
        began = time.perf_counter()
        try:
            with boundary(RuntimeFailed, f"The tool {invocation.call.name} made a mistake"):
                result = offered.toolbox.run(invocation)
        except ScoringStopped:
            raise
        except AgentError as error:
            result = ToolResult(f"{error.problem} {error.hint}".strip(), is_error=True)
        state: CallState = "failed" if result.is_error else "done"
        seconds = time.perf_counter() - began
        if problem := self._hooks("after_tool", invocation.call, state=state, result=result.text):
            self._post(self._acting.turn.notice("hook_failed", problem=problem))
        return self._end(invocation.call, number, state, result, seconds)

    def _hooks(self, moment: HookMoment, call: ToolCall, **more: str) -> str:
        """What one of them says against it. Raises: ScoringStopped."""
        record, hooks = self._acting.turn.record, self._acting.offer.hooks
        if not hooks.are_at(moment, call.name):
            return ""
        facts = {
            "conversation": record.conversation_id,
            "turn": record.turn_id,
            "tool": call.name,
            "arguments": call.arguments,
            **more,
        }
        return hooks.run(moment, facts, self._stop, call.name)

    def _check_goes_on(self) -> None:
        if self._is_over:
            raise ScoringStopped("The turn was stopped.", "Ask again.")


def _own(text: str) -> ToolResult:
    """What the program itself says to a call."""
    return ToolResult(text, is_error=True, is_tainted=False)
