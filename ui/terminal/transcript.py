"""The conversation on screen: turns, notes and the welcome. Knows no client; the chat tells it what to show."""

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message

from engine.signals.values import CorrectionKind
from engine.values import TurnRecord
from ui.branches import Position
from ui.strings import say, say_count
from ui.terminal.keys import Keymap
from ui.terminal.line import Line
from ui.terminal.turn_view import TurnView

TURNS_AT_ONCE = 30
"""Turns drawn when a conversation is opened, and added whenever the user reaches the top of them."""


class Transcript(VerticalScroll, can_focus=False):
    """Scrolls. Sticks to its end until the user scrolls up, and again once they are back at the end."""

    class TopReached(Message):
        """The user has scrolled up to the first turn that is drawn."""

    def __init__(self, language: str, keymap: Keymap) -> None:
        super().__init__(id="transcript")
        self._language = language
        self._keymap = keymap
        self._earlier: list[TurnRecord] = []
        self._versions: Mapping[str, Position] = {}
        self.noted: Mapping[str, CorrectionKind] = {}
        """Turn → how its answer was corrected, of the turns that are drawn from now on."""
        self._shows_details = False
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

    async def welcome(self, about: str = "") -> None:
        """`about` may follow, with `show_about`."""
        parts = (
            Line(say("welcome.title", self._language), classes="passing welcome title"),
            Line(say("welcome.body", self._language), classes="passing welcome"),
            Line(self._welcome_keys(), classes="passing welcome"),
            Line(about, classes="passing welcome about"),
        )
        await self._column.mount_all(parts)

    def show_about(self, about: str) -> None:
        """Add what answers to the welcome, where that is still on screen."""
        for line in self._column.query(".about").results(Line):
            line.show(about)

    def _welcome_keys(self) -> str:
        ids = {"stop": "app.escape", "palette": "app.palette", "help": "app.help", "quit": "app.quit"}
        names = {place: self._keymap.long(key_id) for place, key_id in ids.items()}
        return say("welcome.keys", self._language, newline=self._keymap.first("composer.newline"), **names)

    async def open(
        self, records: Sequence[TurnRecord], versions: Mapping[str, Position], through_turn_id: str | None = None
    ) -> None:
        """Show a stored branch: its end, or down from the turn that was looked for."""
        await self.clear()
        self._versions = versions
        first = max(0, len(records) - TURNS_AT_ONCE)
        for position, record in enumerate(records[:first]):
            if record.turn_id == through_turn_id:
                first = position
        self._set_earlier(list(records[:first]))
        views = [self._view_of(record) for record in records[first:]]
        await self._column.mount_all(views)
        for view in views:
            if view.turn_id == through_turn_id:
                self.call_after_refresh(self.scroll_to_widget, view, animate=False, top=True)

    async def change_branch(self, records: Sequence[TurnRecord], versions: Mapping[str, Position]) -> None:
        """Show another branch of the same conversation; the turns that both have stay where they are."""
        self._versions = versions
        await self._column.query_children(".passing").remove()
        ids = [record.turn_id for record in records]
        drawn = self.turns
        first = ids.index(str(drawn[0].turn_id)) if drawn and drawn[0].turn_id in ids else None
        if first is None:
            await self.open(records, versions)
            return
        kept = 0
        while kept < len(drawn) and ids[first + kept : first + kept + 1] == [drawn[kept].turn_id]:
            kept += 1
        for view in drawn[kept:]:
            await view.remove()
        await self._column.mount_all(self._view_of(record) for record in records[first + kept :])

    def _view_of(self, record: TurnRecord) -> TurnView:
        version = self._versions.get(record.turn_id, (1, 1))
        return TurnView.of_record(
            record,
            version,
            self._language,
            self._keymap,
            noted=self.noted.get(record.turn_id),
            shows_details=self._shows_details,
        )

    async def begin(self, user_text: str, attachments: Sequence[str] = ()) -> TurnView:
        """A turn that has been sent and not yet opened; the user's text is on screen at once."""
        await self._column.query_children(".passing").remove()
        view = TurnView(user_text, self._language, self._keymap, shows_details=self._shows_details)
        view.show_attachments(tuple(attachments))
        await self._column.mount(view)
        self.anchor()
        return view

    def show_versions(self, versions: Mapping[str, Position]) -> None:
        self._versions = versions
        for view in self.turns:
            version = versions.get(view.turn_id or "")
            if version is not None:
                view.show_version(version)

    def view_of(self, turn_id: str) -> TurnView | None:
        """The turn, if it is drawn."""
        return next((view for view in self.turns if view.turn_id == turn_id), None)

    def beside(self, view: TurnView | None, step: int) -> TurnView | None:
        """The turn before or behind `view`; the last one before None, and None behind the last one."""
        turns = self.turns
        if view not in turns:
            return turns[-1] if turns and step < 0 else None
        place = turns.index(view) + step
        return turns[max(0, place)] if place < len(turns) else None

    def toggle_details(self, only: TurnView | None) -> None:
        """Open or close the thoughts and calls of one turn, or of all, those to come included."""
        if only is not None:
            only.toggle_details()
            return
        self._shows_details = not self._shows_details
        for view in self.turns:
            view.show_details(self._shows_details)

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
        views = [self._view_of(record) for record in records]
        await self._column.mount_all(views, after=self._earlier_line)
        self.call_after_refresh(lambda: self.scroll_to(y=self.virtual_size.height - height, animate=False))

    def _set_earlier(self, records: list[TurnRecord]) -> None:
        self._earlier = records
        text = say_count("earlier", self._language, len(records)) if records else ""
        self._earlier_line.show(text)


def _count_through(turn_id: str | None, turn_ids: Sequence[str | None]) -> int:
    """How many of `turn_ids` stand up to and including `turn_id`; 0 when it is not among them."""
    return turn_ids.index(turn_id) + 1 if turn_id is not None and turn_id in turn_ids else 0
