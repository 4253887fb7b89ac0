"""One turn on screen: what the user wrote, who answered and why, the answer, and how it ended. Knows no client."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from engine.events import ApprovalAsked, ToolCalled, ToolReturned, TurnClosed, TurnOpened
from engine.signals.values import CorrectionKind
from engine.values import CallRecord, Rating, Route, TurnRecord, TurnState
from ui.branches import Position
from ui.present import (
    attached_line,
    can_retry,
    display_text,
    error_lines,
    rating_mark,
    route_line,
    state_line,
    version_mark,
)
from ui.signals import noted_mark
from ui.strings import say
from ui.terminal.calls import CallsView
from ui.terminal.folded import FoldedNote
from ui.terminal.keys import Keymap, binding
from ui.terminal.line import Line
from ui.terminal.parts import AnswerView
from ui.thinking import split

MARK_SEPARATOR = " · "


class TurnView(Vertical, can_focus=True):
    """Selected while it has the focus, which only keys give it: a click must not make letters act."""

    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        binding("turn.edit", "screen.edit"),
        binding("turn.regenerate", "screen.regenerate"),
        binding("turn.branch", "screen.branch"),
        binding("turn.copy", "screen.copy"),
        binding("turn.thumb_up", "screen.thumb('up', True)"),
        binding("turn.thumb_down", "screen.thumb('down', True)"),
        binding("turn.edit_answer", "screen.edit_answer"),
        binding("turn.pick", "screen.pick"),
    ]

    def __init__(
        self,
        user_text: str,
        language: str,
        keymap: Keymap,
        *,
        answer_text: str = "",
        shows_details: bool = False,
        calls: tuple[CallRecord, ...] = (),
    ) -> None:
        super().__init__()
        self.turn_id: str | None = None
        """None until the turn has opened."""
        self.user_text = user_text
        self.answer_text = answer_text
        self.attachments: tuple[str, ...] = ()
        self.rating: Rating = 0
        self._noted: CorrectionKind | None = None
        self.version: Position = (1, 1)
        self._route: Route | None = None
        self._language = language
        self._keymap = keymap
        self._attached = Line("", classes="attached")
        self._author = Line("", classes="author")
        self._answer = AnswerView(answer_text, language, shows_details=shows_details)
        self._calls = CallsView(calls, language, keymap)
        self._notes = Vertical(classes="notes")
        self._end = Line("", classes="end")
        self._attached.display = self._author.display = self._end.display = False

    @classmethod
    def of_record(
        cls,
        record: TurnRecord,
        version: Position,
        language: str,
        keymap: Keymap,
        *,
        noted: CorrectionKind | None = None,
        shows_details: bool = False,
    ) -> "TurnView":
        """A stored turn. What follows from its state is shown once it is mounted."""
        view = cls(
            record.user_text,
            language,
            keymap,
            answer_text=record.answer_text,
            shows_details=shows_details,
            calls=record.calls,
        )
        view.turn_id = record.turn_id
        view.rating, view.version, view._route, view._noted = record.rating, version, record.route, noted
        view.show_attachments(tuple(attachment.name for attachment in record.attachments))
        view._show_marks()
        view._show_end(record.state, record.problem, record.hint)
        return view

    def compose(self) -> ComposeResult:
        yield Line(say("you", self._language), classes="author you")
        with Vertical(classes="message"):
            yield Line(display_text(self.user_text))
            yield self._attached
        yield self._author
        yield self._notes
        yield self._calls
        yield self._answer
        yield self._end

    def opened(self, event: TurnOpened) -> None:
        self.turn_id = event.turn_id
        self.show_attachments(event.attachments)

    def show_route(self, route: Route) -> None:
        self._route = route
        self._show_marks()

    def show_version(self, version: Position) -> None:
        self.version = version
        self._show_marks()

    def show_rating(self, rating: Rating) -> None:
        self.rating = rating
        self._show_marks()

    def show_noted(self, kind: CorrectionKind) -> None:
        """A better answer was noted."""
        self._noted = kind
        self._show_marks()

    def show_details(self, is_shown: bool) -> None:
        self._answer.show_details(is_shown)
        self._calls.show_details(is_shown)
        for note in self._notes.query(FoldedNote):
            note.open(is_shown)

    def toggle_details(self) -> None:
        self.show_details(not self._answer.shows_details)

    async def show_call(self, event: ToolCalled | ApprovalAsked | ToolReturned) -> None:
        await self._calls.show(event)

    async def note(self, text: str, details: str = "") -> None:
        """What the user should know; it opens to `details` where there are any."""
        await self._notes.mount(FoldedNote(text, details) if details else Line(text, classes="note"))

    async def write(self, piece: str) -> None:
        await self._answer.write(piece)

    async def finish(self, event: TurnClosed) -> None:
        self.answer_text = event.text
        if event.route is not None:
            self.show_route(event.route)
        await self._calls.end_question()
        await self._answer.finish(event.text)
        self._show_end(event.state, event.problem, event.hint)

    def show_attachments(self, names: tuple[str, ...]) -> None:
        self.attachments = names
        self._attached.show(attached_line(names, self._language))

    def _show_marks(self) -> None:
        """The line above the answer: who and why, which version, what the user thinks of it."""
        marks = (
            route_line(self._route, self._language) if self._route is not None else "",
            version_mark(*self.version, self._language),
            rating_mark(self.rating, self._language),
            noted_mark(self._noted, self._language),
        )
        self._author.show(MARK_SEPARATOR.join(mark for mark in marks if mark))

    def _show_end(self, state: TurnState, problem: str, hint: str) -> None:
        """The mark, problem and hint of a turn that did not simply end with an answer."""
        if state == "answered" and all(part.kind == "thinking" for part in split(self.answer_text)):
            self._end.show(say("state.empty", self._language))
            return
        lines = [state_line(state, self._language)]
        if problem:
            lines.extend(error_lines(problem, hint, self._language))
        if can_retry(state):
            lines.append(say("state.retry", self._language, pressed=self._keymap.long("chat.regenerate")))
        self._end.set_class(state == "failed", "failed")
        self._end.show("\n".join(line for line in lines if line))
