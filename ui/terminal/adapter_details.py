"""All that is known of one adapter. Dismissed with the change that is wanted; whether it can be had is the list's."""

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from engine.adapters.records import AdapterDetails
from ui.adapter_changes import Change
from ui.adapter_lines import detail_lines, facts, short
from ui.inert import aligned, display_line
from ui.strings import say
from ui.terminal.keys import Keymap, binding, foot
from ui.terminal.line import Line

CHANGING: Final[list[BindingType]] = [
    Binding("escape", "dismiss", "Close"),
    binding("adapters.promote", "change('promote')"),
    binding("adapters.rollback", "change('rollback')"),
    binding("adapters.remove", "change('remove')"),
]
"""The keys of a screen on which adapters can be changed; likewise the next, as its foot names them."""
CHANGING_FOOT: Final = (
    ("adapters.promote", "foot.promote"),
    ("adapters.rollback", "foot.rollback"),
    ("adapters.remove", "foot.remove"),
)


class AdapterScreen(ModalScreen[Change | None]):
    BINDINGS: ClassVar[list[BindingType]] = CHANGING
    help_topic = "adapters"

    def __init__(self, details: AdapterDetails, keymap: Keymap, language: str) -> None:
        super().__init__()
        self._details = details
        self._keymap = keymap
        self._language = language

    def compose(self) -> ComposeResult:
        keys = (*CHANGING_FOOT, ("Esc", "foot.back"))
        record = self._details.record
        known = "\n".join(detail_lines(self._details, self._language))
        with Vertical(classes="panel"):
            yield Line(f"{short(record.content_hash)} · {display_line(record.expert)}", classes="title")
            with VerticalScroll():
                yield Line("\n".join(aligned(facts(self._details.record, self._language))))
                yield Line("\n" + say("adapters.screen.history", self._language), classes="title")
                yield Line(known or say("adapters.screen.nothing_more", self._language))
            yield Line(foot(keys, self._keymap, self._language), classes="keys")

    def action_change(self, change: Change) -> None:
        self.dismiss(change)
