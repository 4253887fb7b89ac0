"""What opens above the chat: the list of experts and the help. Esc closes either."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ui.present import display_line
from ui.strings import say
from ui.terminal.commands import COMMANDS
from ui.terminal.line import Line

MAX_PURPOSE_CELLS = 160
"""Two lines of the list. A longer purpose is for the router, not for a person who chooses."""


class ExpertsScreen(ModalScreen[str | None]):
    """Choose who answers. Dismissed with an expert, with "" for the automatic choice, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close", id="experts.close")]
    help_topic = "experts"

    def __init__(self, experts: Sequence[tuple[str, str]], pinned: str | None, language: str) -> None:
        super().__init__()
        self._choices = ["", *(expert for expert, _ in experts)]
        self._current = self._choices.index(pinned) if pinned in self._choices else 0
        lines = [say("experts.auto", language)]
        for expert, purpose in experts:
            lines.append(f"{display_line(expert)} · {display_line(purpose, MAX_PURPOSE_CELLS)}")
        lines[self._current] = say("experts.marked", language, line=lines[self._current])
        self._lines = lines
        self._language = language

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel"):
            yield Line(say("experts.title", self._language), classes="title")
            yield OptionList(*(Option(Content(line)) for line in self._lines), markup=False)
            yield Line(say("experts.keys", self._language), classes="keys")

    def on_mount(self) -> None:
        self.query_one(OptionList).highlighted = self._current

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index])


class HelpScreen(ModalScreen[None]):
    """The keys of the screen it was opened from, then every command."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close", id="help.close")]

    def __init__(self, topic: str, language: str) -> None:
        super().__init__()
        self._topic = topic
        self._language = language

    def compose(self) -> ComposeResult:
        commands = "\n".join(f"{command.usage:<21}{say(command.help_key, self._language)}" for command in COMMANDS)
        with Vertical(classes="panel"):
            yield Line(say("help.title", self._language), classes="title")
            with VerticalScroll():
                yield Line(say(f"help.{self._topic}", self._language))
                yield Line("\n" + say("help.commands", self._language), classes="title")
                yield Line(commands)
            yield Line(say("help.close", self._language), classes="keys")
