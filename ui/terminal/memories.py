"""What is remembered of the user: listed, searched, looked at, added, edited, approved, forgotten, and paused."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from engine.errors import AgentError
from engine.memory.values import Memory, MemoryState, Standing
from ui.client import Client
from ui.inert import display_line
from ui.memory_changes import Change, check_possible, done_text, is_asked, question
from ui.memory_lines import day_text, memory_line
from ui.present import error_lines
from ui.strings import say
from ui.terminal.apart import apart
from ui.terminal.confirming import ConfirmScreen
from ui.terminal.keys import Keymap, binding, foot
from ui.terminal.line import Line
from ui.terminal.memory_details import CHANGING, CHANGING_FOOT, MemoryScreen
from ui.terminal.overlays import WordsScreen

AT_ONCE: Final = 100
"""Listed at first, and added whenever the user comes near the end of them."""
FOUND: Final = 50
NEAR_THE_END: Final = 5
TYPING_PAUSE_S: Final = 0.2
MOST_CHARACTERS: Final = 1_000


class MemoriesScreen(ModalScreen[None]):
    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        *CHANGING,
        binding("memory.search", "search"),
        binding("memory.add", "add"),
        binding("memory.waiting", "waiting"),
        binding("memory.pause", "pause"),
    ]
    help_topic = "memory"

    def __init__(self, client: Client, keymap: Keymap, language: str, words: str = "") -> None:
        super().__init__()
        self._client = client
        self._keymap = keymap
        self._language = language
        self._words = words
        self._state: MemoryState = "active"
        """Which are listed: those that are known, or those that wait."""
        self._is_paused = False
        self._has_more = False
        self._listed: list[Memory] = []

    def compose(self) -> ComposeResult:
        keys = (
            ("memory.search", "foot.search"),
            ("memory.add", "foot.add"),
            *CHANGING_FOOT,
            ("memory.waiting", "foot.waiting"),
            ("Esc", "foot.close"),
        )
        with Vertical(classes="panel"):
            yield Line(say("memory.title", self._language), id="memories-title", classes="title")
            yield Input(self._words, placeholder=say("memory.placeholder", self._language))
            yield OptionList(markup=False)
            yield Line(say("history.loading", self._language), id="memories-note")
            yield Line(foot(keys, self._keymap, self._language), classes="keys")

    def on_mount(self) -> None:
        self._look()

    # What is listed.

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.value != self._words:
            self._words = event.value
            self._look(pause=True)

    def on_input_submitted(self) -> None:
        self.query_one(OptionList).focus()

    def action_search(self) -> None:
        self.query_one(Input).focus()

    def action_waiting(self) -> None:
        """List those that wait, or again those that are known."""
        self._state = "pending" if self._state == "active" else "active"
        self._look()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if self._has_more and event.option_index >= len(self._listed) - NEAR_THE_END:
            self._add_more()

    @work(exclusive=True, group="memories")
    async def _look(self, at: int = 0, said: str = "", pause: bool = False) -> None:
        """List them anew with the entry `at` chosen; `said` is what was just done."""
        if pause:
            await asyncio.sleep(TYPING_PAUSE_S)
        words = self._words.strip()
        try:
            standing = await apart(self._client.memories.memory_standing)
            found = await (self._found(words) if words else self._page(None))
        except AgentError as error:
            self._tell(error)
            return
        self._is_paused = standing.paused_since is not None
        self.query_one("#memories-title", Line).show(self._title(standing))
        self._listed = []
        self.query_one(OptionList).clear_options()
        self._add(found)
        self.query_one(OptionList).highlighted = min(at, len(found) - 1) if found else None
        self._say(said or ("" if found else self._nothing(words)))

    @work(exclusive=True, group="memories")
    async def _add_more(self) -> None:
        try:
            self._add(await self._page(self._listed[-1].memory_id))
        except AgentError as error:
            self._has_more = False
            self._tell(error)

    async def _found(self, words: str) -> Sequence[Memory]:
        self._has_more = False
        found = await apart(partial(self._client.memories.search_memories, words, limit=FOUND))
        return [memory for memory in found if memory.state == self._state]

    async def _page(self, before: int | None) -> Sequence[Memory]:
        shelf, states = self._client.memories, (self._state,)
        found = await apart(partial(shelf.memories, states=states, limit=AT_ONCE, before=before))
        self._has_more = len(found) == AT_ONCE
        return found

    def _add(self, found: Sequence[Memory]) -> None:
        self._listed.extend(found)
        lines = [Option(Content(memory_line(memory, self._language))) for memory in found]
        self.query_one(OptionList).add_options(lines)

    def _title(self, standing: Standing) -> str:
        key = "memory.screen.waiting" if self._state == "pending" else "memory.screen.title"
        title = say(key, self._language, active=standing.active, pending=standing.pending)
        if standing.paused_since is None:
            return title
        return title + say("memory.screen.paused", self._language, day=day_text(standing.paused_since))

    def _nothing(self, words: str) -> str:
        if words:
            return say("memory.no_hits", self._language, query=display_line(words, 40))
        return say("memory.none.waiting" if self._state == "pending" else "memory.screen.none", self._language)

    def _say(self, text: str) -> None:
        self.query_one("#memories-note", Line).show(text)

    def _tell(self, error: AgentError) -> None:
        self._say("\n".join(error_lines(error.problem, error.hint, self._language)))

    @property
    def _chosen(self) -> Memory | None:
        place = self.query_one(OptionList).highlighted
        return self._listed[place] if place is not None else None

    # What is done.

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._show(self._listed[event.option_index])

    @work(exclusive=True, group="memory")
    async def _show(self, memory: Memory) -> None:
        try:
            details = await apart(partial(self._client.memories.memory, memory.memory_id))
        except AgentError as error:
            self._tell(error)
            return
        change = await self.app.push_screen_wait(MemoryScreen(details, self._keymap, self._language))
        if change is not None:
            await self._change(change, memory)

    @work(exclusive=True, group="memory")
    async def action_change(self, change: Change) -> None:
        if (memory := self._chosen) is not None:
            await self._change(change, memory)

    @work(exclusive=True, group="memory")
    async def action_add(self) -> None:
        text = await self._asked_for("")
        if text is None:
            return
        try:
            memory = await apart(partial(self._client.memories.add_memory, text))
        except AgentError as error:
            self._tell(error)
            return
        self._state = "active"
        self._look(said=done_text("approve", memory, self._language))

    @work(exclusive=True, group="memory")
    async def action_pause(self) -> None:
        """Pause, or go on where it is paused."""
        try:
            standing = await apart(partial(self._client.memories.set_memory_pause, not self._is_paused))
        except AgentError as error:
            self._tell(error)
            return
        key = "memory.resumed" if standing.paused_since is None else "memory.paused"
        self._look(at=self.query_one(OptionList).highlighted or 0, said=say(key, self._language))

    async def _change(self, change: Change, memory: Memory) -> None:
        """Ask where that is due, then do it; what cannot be done in its state is said instead."""
        place = self._listed.index(memory) if memory in self._listed else 0
        try:
            check_possible(change, memory, self._language)
            done = await self._carried_out(change, memory)
        except AgentError as error:
            self._tell(error)
            return
        if done is None:
            self._say(say("memory.kept", self._language))
        else:
            self._look(at=place, said=done_text(change, done, self._language))

    async def _carried_out(self, change: Change, memory: Memory) -> Memory | None:
        """The memory that was changed; None where the user thought better of it. Raises: AgentError."""
        shelf, memory_id = self._client.memories, memory.memory_id
        match change:
            case "approve":
                return await apart(partial(shelf.approve_memory, memory_id))
            case "edit":
                text = await self._asked_for(memory.text)
                return None if text is None else await apart(partial(shelf.edit_memory, memory_id, text))
            case "forget":
                if is_asked(change, memory) and not await self._agreed(memory):
                    return None
                await apart(partial(shelf.forget_memory, memory_id))
                return memory

    async def _agreed(self, memory: Memory) -> bool:
        return await self.app.push_screen_wait(ConfirmScreen(question(memory, self._language), self._language))

    async def _asked_for(self, text: str) -> str | None:
        screen = WordsScreen("memory.write", text, "memory.write.empty", MOST_CHARACTERS, self._language)
        return await self.app.push_screen_wait(screen)
