"""The tool calls of a turn on screen, and the question that a call may wait for. Knows no client: it posts answers."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from engine.events import ApprovalAsked, ToolCalled, ToolReturned
from engine.harness.approvals import Answer
from engine.values import CallRecord, CallState
from ui.terminal.folded import Folded
from ui.terminal.keys import Keymap, binding, foot
from ui.terminal.line import Line
from ui.tool_lines import call_details, call_state, call_title, covered_line, question_lines

_KEYS = (
    ("call.once", "approval.once"),
    ("call.always", "approval.always"),
    ("call.reject", "approval.reject"),
    ("call.never", "approval.never"),
)


class CallView(Folded):
    """One call: a line, and below it all of it once it is opened."""

    def __init__(
        self, tool: str, arguments: str, source: str, language: str, *, state: CallState = "waiting", result: str = ""
    ) -> None:
        super().__init__()
        self._language = language
        self._arguments, self._result = arguments, result
        self._name = call_title(tool, arguments, source, language)
        self._state, self._seconds = state, 0.0

    @classmethod
    def of_record(cls, call: CallRecord, language: str) -> "CallView":
        return cls(call.tool, call.arguments, call.source, language, state=call.state, result=call.result)

    @classmethod
    def of_event(cls, event: ToolCalled, language: str) -> "CallView":
        return cls(event.tool, event.arguments, event.source, language, state="running")

    def show_state(self, state: CallState) -> None:
        self._state = state
        self.draw()

    def returned(self, event: ToolReturned) -> None:
        self._state, self._result, self._seconds = event.state, event.text, event.seconds
        self.draw()

    def title_text(self) -> str:
        return f"{self._name} · {call_state(self._state, self._seconds, self._language)}"

    def text_below(self) -> str:
        return call_details(self._arguments, self._result)


class ApprovalView(Vertical, can_focus=True):
    """What a call would do, exactly, and the keys that answer. It has the focus while it waits."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("call.once", "answer('once')"),
        binding("call.always", "answer('always')"),
        binding("call.reject", "answer('reject')"),
        binding("call.never", "answer('never')"),
    ]

    class Answered(Message):
        """The person has answered."""

        def __init__(self, approval_id: str, answer: Answer) -> None:
            super().__init__()
            self.approval_id, self.answer = approval_id, answer

    def __init__(self, event: ApprovalAsked, language: str, keymap: Keymap) -> None:
        super().__init__()
        self.event = event
        self._language, self._keymap = language, keymap

    def compose(self) -> ComposeResult:
        question, detail = question_lines(self.event, self._language)
        yield Line(question, classes="title")
        yield Line(detail, classes="approval-detail")
        yield Line(covered_line(self.event, self._language), classes="note")
        yield Line(foot(_KEYS, self._keymap, self._language), classes="keys")

    def action_answer(self, answer: Answer) -> None:
        self.post_message(self.Answered(self.event.approval_id, answer))
        self.disabled = True  # the first answer counts


class CallsView(Vertical):
    """All calls of one turn, in their order."""

    def __init__(self, calls: tuple[CallRecord, ...], language: str, keymap: Keymap) -> None:
        super().__init__(classes="calls")
        self._language, self._keymap = language, keymap
        self._views = {call.position: CallView.of_record(call, language) for call in calls}
        self._question: ApprovalView | None = None

    def compose(self) -> ComposeResult:
        yield from self._views.values()

    async def show(self, event: ToolCalled | ApprovalAsked | ToolReturned) -> None:
        match event:
            case ToolCalled(call=call):
                self._views[call] = CallView.of_event(event, self._language)
                await self.mount(self._views[call])
            case ApprovalAsked(call=call):
                self._views[call].show_state("waiting")
                self._question = ApprovalView(event, self._language, self._keymap)
                await self.mount(self._question, after=self._views[call])
                self._question.scroll_visible()
                self._question.focus()
            case ToolReturned(call=call):
                self._views[call].returned(event)
                await self.end_question()

    async def end_question(self) -> None:
        """Nobody is asked any more."""
        question, self._question = self._question, None
        if question is not None:
            await question.remove()

    def show_details(self, is_shown: bool) -> None:
        for view in self._views.values():
            view.open(is_shown)
