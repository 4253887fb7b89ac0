"""The conversation on screen: turns, notes and the welcome. Knows no client; the chat tells it what to show."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message

from engine.events import TurnClosed
from engine.values import Route, TurnRecord, TurnState
from ui.present import can_retry, display_text, error_lines, route_line, state_line
from ui.strings import say, say_count
from ui.terminal.answer import AnswerMarkdown
from ui.terminal.line import Line

TURNS_AT_ONCE = 30
"""Turns drawn when a conversation is opened, and added whenever the user reaches the top of them."""


class TurnView(Vertical):
    """One turn: what the user wrote, the expert, the answer, and how it ended."""

    def __init__(self, user_text: str, language: str, *, turn_id: str | None = None, answer_text: str = "") -> None:
        super().__init__()
        self.turn_id = turn_id
        self.user_text = user_text
        self._language = language
        self._author = Line("", classes="author")
        self._answer = AnswerMarkdown(answer_text, language)
        self._notes = Vertical(classes="notes")
        self._end = Line("", classes="end")
        self._author.display = self._end.display = False

    @classmethod
    def of_record(cls, record: TurnRecord, language: str) -> "TurnView":
        """A stored turn. What follows from its state is shown once it is mounted."""
        view = cls(record.user_text, language, turn_id=record.turn_id, answer_text=record.answer_text)
        if record.route is not None:
            view.show_route(record.route)
        view.show_end(record.state, record.answer_text, record.problem, record.hint)
        return view

    def compose(self) -> ComposeResult:
        yield Line(say("you", self._language), classes="author you")
        yield Line(display_text(self.user_text), classes="question")
        yield self._author
        yield self._notes
        yield self._answer
        yield self._end

    def show_route(self, route: Route) -> None:
        self._author.show(route_line(route, self._language))

    async def note(self, text: str) -> None:
        await self._notes.mount(Line(text, classes="note"))

    async def write(self, piece: str) -> None:
        await self._answer.write(piece)

    async def finish(self, event: TurnClosed) -> None:
        if event.route is not None:
            self.show_route(event.route)
        await self._answer.finish(event.text)
        self.show_end(event.state, event.text, event.problem, event.hint)

    def show_end(self, state: TurnState, answer_text: str, problem: str, hint: str) -> None:
        """The mark, problem and hint of a turn that did not simply end with an answer."""
        if state == "answered" and not answer_text.strip():
            self._end.show(say("state.empty", self._language))
            return
        lines = [state_line(state, self._language)]
        if problem:
            lines.extend(error_lines(problem, hint, self._language))
        if can_retry(state):
            lines.append(say("state.retry", self._language))
        self._end.set_class(state == "failed", "failed")
        self._end.show("\n".join(line for line in lines if line))


class Transcript(VerticalScroll, can_focus=False):
    """Scrolls. Sticks to its end until the user scrolls up, and again once they are back at the end."""

    class TopReached(Message):
        """The user has scrolled up to the first turn that is drawn."""

    def __init__(self, language: str) -> None:
        super().__init__(id="transcript")
        self._language = language
        self._earlier: list[TurnRecord] = []
        self._earlier_line = Line("", classes="note earlier")
        # As high as the transcript at least: an anchored container scrolls short content below its own top.
        self._column = Vertical(classes="column")
        self._earlier_line.display = False

    def compose(self) -> ComposeResult:
        with self._column:
            yield self._earlier_line

    def on_mount(self) -> None:
        self.anchor()

    @property
    def turns(self) -> list[TurnView]:
        return list(self._column.query_children(TurnView))

    async def clear(self) -> None:
        self._set_earlier([])
        await self._column.query_children(".passing, TurnView").remove()
        self.anchor()

    async def welcome(self, about: str) -> None:
        parts = (
            Line(say("welcome.title", self._language), classes="passing welcome title"),
            Line(say("welcome.body", self._language), classes="passing welcome"),
            Line(say("welcome.keys", self._language), classes="passing welcome"),
            Line(about, classes="passing welcome"),
        )
        await self._column.mount_all(parts)

    async def open(self, records: Sequence[TurnRecord], through_turn_id: str | None = None) -> None:
        """Show a stored branch: its end, or down from the turn that was looked for."""
        await self.clear()
        first = max(0, len(records) - TURNS_AT_ONCE)
        for position, record in enumerate(records[:first]):
            if record.turn_id == through_turn_id:
                first = position
        self._set_earlier(list(records[:first]))
        views = [TurnView.of_record(record, self._language) for record in records[first:]]
        await self._column.mount_all(views)
        for view in views:
            if view.turn_id == through_turn_id:
                self.call_after_refresh(self.scroll_to_widget, view, animate=False, top=True)

    async def begin(self, user_text: str) -> TurnView:
        """A turn that has been sent and not yet opened; the user's text is on screen at once."""
        await self._column.query_children(".passing").remove()
        view = TurnView(user_text, self._language)
        await self._column.mount(view)
        self.anchor()
        return view

    async def keep_through(self, parent_turn_id: str | None, opened: TurnView) -> None:
        """Drop the turns that the opened one replaces: all after its parent."""
        drawn = [view for view in self.turns if view is not opened]
        kept = _count_through(parent_turn_id, [view.turn_id for view in drawn])
        if kept == 0:
            earlier = _count_through(parent_turn_id, [record.turn_id for record in self._earlier])
            self._set_earlier(self._earlier[:earlier])
        for view in drawn[kept:]:
            await view.remove()

    async def note(self, text: str, *, failed: bool = False) -> None:
        """A line of our own behind the turns. It takes the place of the one before, unless that told of a failure."""
        for line in list(self._column.query_children(".note.passing")):
            if not line.has_class("failed"):
                await line.remove()
        await self._column.mount(Line(text, classes="passing note failed" if failed else "passing note"))
        self.anchor()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._earlier and new_value <= 0 < old_value:
            self.post_message(self.TopReached())

    def page(self, direction: int) -> None:
        if direction < 0:
            self.scroll_page_up(animate=False)
        else:
            self.scroll_page_down(animate=False)
            self.call_after_refresh(self._stick_at_end)

    def on_mouse_scroll_down(self) -> None:
        self.call_after_refresh(self._stick_at_end)

    def _stick_at_end(self) -> None:
        # Textual lets go of the end on every scroll, and notices the end only when the position changes.
        if self.scroll_y >= self.max_scroll_y:
            self.anchor()

    async def on_transcript_top_reached(self) -> None:
        """Draw some earlier turns above, and keep in place what the user was reading."""
        records, rest = self._earlier[-TURNS_AT_ONCE:], self._earlier[:-TURNS_AT_ONCE]
        if not records:
            return
        self._set_earlier(rest)
        height = self.virtual_size.height
        views = [TurnView.of_record(record, self._language) for record in records]
        await self._column.mount_all(views, after=self._earlier_line)
        self.call_after_refresh(lambda: self.scroll_to(y=self.virtual_size.height - height, animate=False))

    def _set_earlier(self, records: list[TurnRecord]) -> None:
        self._earlier = records
        text = say_count("earlier", self._language, len(records)) if records else ""
        self._earlier_line.show(text)


def _count_through(turn_id: str | None, turn_ids: Sequence[str | None]) -> int:
    """How many of `turn_ids` stand up to and including `turn_id`; 0 when it is not among them."""
    return turn_ids.index(turn_id) + 1 if turn_id is not None and turn_id in turn_ids else 0
