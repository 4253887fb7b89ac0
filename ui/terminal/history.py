"""The list of conversations, with search. Selecting one says which; opening it is the chat's affair."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from engine.errors import AgentError
from engine.values import Conversation, SearchHit
from ui.client import Client
from ui.present import conversation_line, display_line, error_lines, hit_line
from ui.strings import say
from ui.terminal.apart import apart
from ui.terminal.exporting import ExportWish, write_export
from ui.terminal.keys import Keymap, binding, foot
from ui.terminal.line import Line
from ui.terminal.overlays import TitleScreen

TYPING_PAUSE_S = 0.15
"""How long the user must pause before the words are searched."""
CONVERSATIONS_AT_ONCE = 50
"""Listed at first, and added whenever the user comes near the end of them."""
NEAR_THE_END = 5
MAX_PATH_CELLS = 200


@dataclass(frozen=True, slots=True)
class Chosen:
    conversation_id: str
    turn_id: str | None = None
    """The turn that was found, when it was found by searching."""


class HistoryScreen(ModalScreen[Chosen | None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close"),
        binding("history.next", "move(1)"),
        binding("history.previous", "move(-1)"),
        binding("history.rename", "rename"),
        binding("history.export", "export"),
    ]
    help_topic = "history"

    def __init__(self, client: Client, keymap: Keymap, language: str, folder: Path, words: str = "") -> None:
        """`folder` is where a conversation is exported to."""
        super().__init__()
        self._client = client
        self._keymap = keymap
        self._language = language
        self._folder = folder
        self._words = words
        self._choices: list[Chosen] = []
        self._titles: list[str] = []
        self._has_more = False

    def compose(self) -> ComposeResult:
        keys = (
            ("↑ ↓", "foot.choose"),
            ("Enter", "foot.continue"),
            ("history.rename", "foot.rename"),
            ("history.export", "foot.export"),
            ("Esc", "foot.close"),
        )
        with Vertical(classes="panel"):
            yield Line(say("history.title", self._language), classes="title")
            yield Input(self._words, placeholder=say("history.placeholder", self._language))
            yield OptionList(markup=False)
            yield Line(say("history.loading", self._language), id="history-note")
            yield Line(foot(keys, self._keymap, self._language), classes="keys")

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self._look(self._words, pause=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.value != self._words:
            self._words = event.value
            self._look(event.value, pause=True)

    def on_input_submitted(self) -> None:
        position = self.query_one(OptionList).highlighted
        if position is not None:
            self.dismiss(self._choices[position])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index])

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if self._has_more and event.option_index >= len(self._choices) - NEAR_THE_END:
            self._add_more()

    def on_mouse_scroll_down(self) -> None:
        options = self.query_one(OptionList)
        if self._has_more and options.scroll_y >= options.max_scroll_y - NEAR_THE_END:
            self._add_more()

    def action_move(self, step: int) -> None:
        options = self.query_one(OptionList)
        if step > 0 and options.highlighted != len(self._choices) - 1:
            options.action_cursor_down()
        elif step < 0 and options.highlighted != 0:
            options.action_cursor_up()

    # What is listed.

    @work(exclusive=True, group="history")
    async def _look(self, words: str, pause: bool, at: int = 0) -> None:
        """List what matches `words`, with the entry `at` chosen; a newer search replaces this one."""
        if pause:
            await asyncio.sleep(TYPING_PAUSE_S)
        words = words.strip()
        try:
            if words:
                hits = await apart(partial(self._client.search, words))
                self._has_more = False
                self._fill(say("history.no_hits", self._language, query=display_line(words, 40)))
                self._add_hits(hits)
            else:
                found = await self._page(0)
                self._fill(say("history.empty", self._language))
                self._add_conversations(found)
        except AgentError as error:
            self._has_more = False
            self._fill(self._error_text(error))
            return
        options = self.query_one(OptionList)
        options.highlighted = min(at, len(self._choices) - 1) if self._choices else None

    @work(exclusive=True, group="history")
    async def _add_more(self) -> None:
        try:
            self._add_conversations(await self._page(len(self._choices)))
        except AgentError as error:
            self._has_more = False
            self._say(self._error_text(error))

    async def _page(self, offset: int) -> Sequence[Conversation]:
        found = await apart(partial(self._client.conversations, limit=CONVERSATIONS_AT_ONCE, offset=offset))
        self._has_more = len(found) == CONVERSATIONS_AT_ONCE
        return found

    def _fill(self, when_empty: str) -> None:
        """Empty the list; what is said stays until something is listed."""
        self._choices, self._titles = [], []
        self.query_one(OptionList).clear_options()
        self._say(when_empty)

    def _add_conversations(self, found: Sequence[Conversation]) -> None:
        # A conversation that is spoken in meanwhile moves up, and another comes again.
        known = {chosen.conversation_id for chosen in self._choices}
        new = [conversation for conversation in found if conversation.conversation_id not in known]
        self._add(
            [Chosen(conversation.conversation_id) for conversation in new],
            [conversation.title for conversation in new],
            [conversation_line(conversation, self._language) for conversation in new],
        )

    def _add_hits(self, hits: Sequence[SearchHit]) -> None:
        self._add(
            [Chosen(hit.conversation_id, hit.turn_id) for hit in hits],
            [hit.title for hit in hits],
            [hit_line(hit, self._language) for hit in hits],
        )

    def _add(self, choices: list[Chosen], titles: list[str], lines: list[str]) -> None:
        if not lines:
            return
        self._choices.extend(choices)
        self._titles.extend(titles)
        self.query_one(OptionList).add_options(Option(Content(line)) for line in lines)
        self._say("")

    def _say(self, text: str) -> None:
        self.query_one("#history-note", Line).show(text)

    def _error_text(self, error: AgentError) -> str:
        return "\n".join(error_lines(error.problem, error.hint, self._language))

    # What is done to the chosen one.

    def action_rename(self) -> None:
        place = self.query_one(OptionList).highlighted
        if place is None:
            return
        chosen = self._choices[place]

        def named(title: str | None) -> None:
            if title is not None:
                self._change(partial(self._client.rename, chosen.conversation_id, title), at=place)

        self.app.push_screen(TitleScreen(self._titles[place], self._language), named)

    @work(exclusive=True, group="change")
    async def _change(self, change: Callable[[], None], at: int) -> None:
        try:
            await apart(change)
        except AgentError as error:
            self._say(self._error_text(error))
            return
        self._look(self._words, pause=False, at=at)

    @work(exclusive=True, group="change")
    async def action_export(self) -> None:
        place = self.query_one(OptionList).highlighted
        if place is None:
            return
        conversation_id = self._choices[place].conversation_id

        def export() -> Path:
            copy = self._client.export_conversation(conversation_id)
            return write_export(copy, ExportWish(), self._folder, self._language)

        try:
            path = await apart(export)
        except AgentError as error:
            self._say(self._error_text(error))
            return
        self._say(say("export.done", self._language, path=display_line(str(path), MAX_PATH_CELLS)))
