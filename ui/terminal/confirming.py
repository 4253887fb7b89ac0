"""A question before something is changed. Enter agrees, Esc does not; what is agreed to is the caller's affair."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from ui.strings import say
from ui.terminal.keys import Keymap, foot
from ui.terminal.line import Line


class ConfirmScreen(ModalScreen[bool]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "dismiss(True)", "Yes"),
        Binding("escape", "dismiss(False)", "No"),
    ]

    def __init__(self, question: str, language: str) -> None:
        super().__init__()
        self._question = question
        self._language = language

    def compose(self) -> ComposeResult:
        keys = (("Enter", "foot.yes"), ("Esc", "foot.no"))
        with Vertical(classes="panel short"):
            yield Line(say("confirm.title", self._language), classes="title")
            yield Line(self._question)
            yield Line(foot(keys, Keymap({}), self._language), classes="keys")
