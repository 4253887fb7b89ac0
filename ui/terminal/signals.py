"""The list of what the user said of answers, to be looked at, confirmed and erased."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from engine.errors import AgentError
from engine.signals.values import Signal
from ui.client import Client
from ui.present import display_line, error_lines
from ui.signals import signal_line
from ui.strings import say
from ui.terminal.apart import apart
from ui.terminal.keys import Keymap, binding, foot
from ui.terminal.line import Line

SIGNALS_AT_ONCE: Final = 100
"""Listed at first, and added whenever the user comes near the end of them."""
NEAR_THE_END: Final = 5
MAX_TEXT_CELLS: Final = 300
"""Of the text of the chosen one, below the list."""


class SignalsScreen(ModalScreen[bool]):
    """Dismissed with whether something was changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        binding("signals.erase", "erase"),
        binding("signals.confirm", "confirm"),
    ]
    help_topic = "signals"

    def __init__(self, client: Client, keymap: Keymap, language: str) -> None:
        super().__init__()
        self._client = client
        self._keymap = keymap
        self._language = language
        self._signals: list[Signal] = []
        self._has_more = False
        self._was_changed = False

    def compose(self) -> ComposeResult:
        keys = (
            ("↑ ↓", "foot.choose"),
            ("signals.confirm", "foot.confirm"),
            ("signals.erase", "foot.erase"),
            ("Esc", "foot.close"),
        )
        with Vertical(classes="panel"):
            yield Line(say("signals.title", self._language), classes="title")
            yield OptionList(markup=False)
            yield Line(say("history.loading", self._language), id="signals-note")
            yield Line(foot(keys, self._keymap, self._language), classes="keys")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._look()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._say(display_line(self._signals[event.option_index].text, MAX_TEXT_CELLS))
        if self._has_more and event.option_index >= len(self._signals) - NEAR_THE_END:
            self._add_more()

    @work(exclusive=True, group="signals")
    async def _look(self, at: int = 0) -> None:
        """List the newest, with the entry `at` chosen."""
        options = self.query_one(OptionList)
        self._signals = []
        options.clear_options()
        if await self._add_page():
            options.highlighted = min(at, len(self._signals) - 1) if self._signals else None

    @work(exclusive=True, group="signals")
    async def _add_more(self) -> None:
        await self._add_page()

    async def _add_page(self) -> bool:
        """False, which is said, when they cannot be read."""
        before = self._signals[-1].signal_id if self._signals else None
        try:
            found = await apart(partial(self._client.signals, limit=SIGNALS_AT_ONCE, before=before))
        except AgentError as error:
            self._has_more = False
            self._say_error(error)
            return False
        self._has_more = len(found) == SIGNALS_AT_ONCE
        self._signals.extend(found)
        lines = [Option(Content(signal_line(signal, self._language))) for signal in found]
        self.query_one(OptionList).add_options(lines)
        if not self._signals:
            self._say(say("signals.none", self._language))
        return True

    def action_close(self) -> None:
        self.dismiss(self._was_changed)

    def action_erase(self) -> None:
        self._change(self._client.erase_signal)

    def action_confirm(self) -> None:
        self._change(self._client.confirm_signal)

    @work(exclusive=True, group="change")
    async def _change(self, change: Callable[[int], object]) -> None:
        """Do it to the chosen one."""
        place = self.query_one(OptionList).highlighted
        if place is None:
            return
        try:
            await apart(partial(change, self._signals[place].signal_id))
        except AgentError as error:
            self._say_error(error)
            return
        self._was_changed = True
        self._look(at=place)

    def _say(self, text: str) -> None:
        self.query_one("#signals-note", Line).show(text)

    def _say_error(self, error: AgentError) -> None:
        self._say("\n".join(error_lines(error.problem, error.hint, self._language)))
