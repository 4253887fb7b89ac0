"""All that is known of one memory. Dismissed with the change that is wanted; whether it can be had is the list's."""

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from engine.memory.values import MemoryDetails
from ui.inert import aligned
from ui.memory_changes import Change
from ui.memory_lines import facts, passages, text_line
from ui.strings import say
from ui.terminal.keys import Keymap, binding, foot
from ui.terminal.line import Line

CHANGING: Final[list[BindingType]] = [
    Binding("escape", "dismiss", "Close"),
    binding("memory.approve", "change('approve')"),
    binding("memory.edit", "change('edit')"),
    binding("memory.forget", "change('forget')"),
]
"""The keys of a screen on which memories can be changed; likewise the next, as its foot names them."""
CHANGING_FOOT: Final = (
    ("memory.approve", "foot.approve"),
    ("memory.edit", "foot.edit"),
    ("memory.forget", "foot.forget"),
)


class MemoryScreen(ModalScreen[Change | None]):
    BINDINGS: ClassVar[list[BindingType]] = CHANGING
    help_topic = "memory"

    def __init__(self, details: MemoryDetails, keymap: Keymap, language: str) -> None:
        super().__init__()
        self._details = details
        self._keymap = keymap
        self._language = language

    def compose(self) -> ComposeResult:
        keys = (*CHANGING_FOOT, ("Esc", "foot.back"))
        with Vertical(classes="panel"):
            yield Line(say("memory.title", self._language), classes="title")
            with VerticalScroll():
                yield Line(text_line(self._details.memory, self._language, None) + "\n")
                yield Line("\n".join(aligned(facts(self._details, self._language))))
                for heading, text in passages(self._details, self._language):
                    yield Line("\n" + heading, classes="title")
                    yield Line(text)
            yield Line(foot(keys, self._keymap, self._language), classes="keys")

    def action_change(self, change: Change) -> None:
        self.dismiss(change)
