"""What opens above the chat: lists to choose from, a line to fill in, and the help. Esc closes each."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from ui.present import display_line
from ui.strings import say
from ui.terminal.keys import Keymap, foot
from ui.terminal.line import Line

MAX_PURPOSE_CELLS = 160
"""Two lines of the list. A longer purpose is for the router, not for a person who chooses."""

MAX_TITLE_CHARACTERS = 200


class ChoiceScreen(ModalScreen[str | None]):
    """Choose one of a few things. Dismissed with its name, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close")]

    def __init__(
        self, title_key: str, choices: Sequence[tuple[str, str]], current: str, take_key: str, language: str
    ) -> None:
        """`choices` are (name, line) pairs; the line of `current` is marked."""
        super().__init__()
        self._heading = say(title_key, language)
        self._names = [name for name, _ in choices]
        self._current = self._names.index(current) if current in self._names else None
        self._lines = [
            say("choice.marked", language, line=line) if place == self._current else line
            for place, (_, line) in enumerate(choices)
        ]
        self._keys = foot((("↑ ↓", "foot.choose"), ("Enter", take_key), ("Esc", "foot.close")), Keymap({}), language)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel short"):
            yield Line(self._heading, classes="title")
            yield OptionList(*(Option(Content(line)) for line in self._lines), markup=False)
            yield Line(self._keys, classes="keys")

    def on_mount(self) -> None:
        self.query_one(OptionList).highlighted = self._current or 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._names[event.option_index])


def _described(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, f"{display_line(name)} · {display_line(what, MAX_PURPOSE_CELLS)}") for name, what in pairs]


class ExpertsScreen(ChoiceScreen):
    """Choose who answers; "" is the automatic choice."""

    help_topic = "experts"

    def __init__(self, experts: Sequence[tuple[str, str]], pinned: str | None, language: str) -> None:
        choices = [("", say("experts.auto", language)), *_described(experts)]
        super().__init__("experts.title", choices, pinned or "", "foot.pin", language)


class ProfilesScreen(ChoiceScreen):
    """Choose the profile that answers."""

    help_topic = "profiles"

    def __init__(self, profiles: Sequence[tuple[str, str]], current: str, language: str) -> None:
        super().__init__("profiles.title", _described(profiles), current, "foot.use", language)


class WordsScreen(ModalScreen[str | None]):
    """Write one line. Dismissed with it, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close")]

    def __init__(self, title_key: str, words: str, empty_key: str, most_characters: int, language: str) -> None:
        """`empty_key` is said of a line that says nothing."""
        super().__init__()
        self._heading = say(title_key, language)
        # It may come from anywhere.
        self._words = display_line(words)
        self._empty = say(empty_key, language)
        self._most_characters = most_characters
        self._language = language

    def compose(self) -> ComposeResult:
        keys = foot((("Enter", "foot.save"), ("Esc", "foot.close")), Keymap({}), self._language)
        with Vertical(classes="panel short"):
            yield Line(self._heading, classes="title")
            yield Input(self._words, max_length=self._most_characters, select_on_focus=False)
            yield Line("", id="words-note", classes="failed")
            yield Line(keys, classes="keys")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value.strip())
        else:
            self.query_one("#words-note", Line).show(self._empty)


class TitleScreen(WordsScreen):
    """Write the title of a conversation."""

    def __init__(self, title: str, language: str) -> None:
        super().__init__("rename.title", title, "rename.empty", MAX_TITLE_CHARACTERS, language)
