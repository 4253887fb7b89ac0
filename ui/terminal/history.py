"""The list of conversations, with search. Selecting one says which; opening it is the chat's affair."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
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
from ui.terminal.line import Line

TYPING_PAUSE_S = 0.15
"""How long the user must pause before the words are searched."""


@dataclass(frozen=True, slots=True)
class Chosen:
    conversation_id: str
    turn_id: str | None = None
    """The turn that was found, when it was found by searching."""


class HistoryScreen(ModalScreen[Chosen | None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", id="history.close"),
        Binding("down", "move(1)", "Next", show=False, id="history.next"),
        Binding("up", "move(-1)", "Previous", show=False, id="history.previous"),
    ]
    help_topic = "history"

    def __init__(self, client: Client, language: str, words: str = "") -> None:
        super().__init__()
        self._client = client
        self._language = language
        self._words = words
        self._choices: list[Chosen] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel"):
            yield Line(say("history.title", self._language), classes="title")
            yield Input(self._words, placeholder=say("history.placeholder", self._language))
            yield OptionList(markup=False)
            yield Line(say("history.loading", self._language), id="history-note")
            yield Line(say("history.keys", self._language), classes="keys")

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

    def action_move(self, step: int) -> None:
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    @work(exclusive=True, group="history")
    async def _look(self, words: str, pause: bool) -> None:
        """List what matches `words`; a newer search replaces this one."""
        if pause:
            await asyncio.sleep(TYPING_PAUSE_S)
        try:
            if words.strip():
                self._show_hits(await asyncio.to_thread(self._client.search, words.strip()), words.strip())
            else:
                self._show_conversations(await asyncio.to_thread(self._client.conversations))
        except AgentError as error:
            self._fill([], [], "\n".join(error_lines(error.problem, error.hint, self._language)))

    def _show_conversations(self, found: Sequence[Conversation]) -> None:
        lines = [conversation_line(conversation, self._language) for conversation in found]
        choices = [Chosen(conversation.conversation_id) for conversation in found]
        self._fill(lines, choices, say("history.empty", self._language))

    def _show_hits(self, found: Sequence[SearchHit], words: str) -> None:
        lines = [hit_line(hit, self._language) for hit in found]
        choices = [Chosen(hit.conversation_id, hit.turn_id) for hit in found]
        self._fill(lines, choices, say("history.no_hits", self._language, query=display_line(words, 40)))

    def _fill(self, lines: list[str], choices: list[Chosen], when_empty: str) -> None:
        self._choices = choices
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(Option(Content(line)) for line in lines)
        options.highlighted = 0 if lines else None
        self.query_one("#history-note", Line).show("" if lines else when_empty)
