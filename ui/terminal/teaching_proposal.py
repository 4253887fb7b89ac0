"""What a lesson would change, and whether it shall be learned. Dismissed with the answer; begins nothing itself."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button

from ui.strings import say
from ui.teaching import Proposal
from ui.teaching_lines import proposal_lines
from ui.terminal.keys import Keymap, foot
from ui.terminal.line import Line


class ProposalScreen(ModalScreen[bool]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "dismiss(True)", "Learn it"),
        Binding("escape", "dismiss(False)", "Not now"),
    ]
    AUTO_FOCUS = "VerticalScroll"
    help_topic = "teach"

    def __init__(self, proposal: Proposal, keymap: Keymap, language: str) -> None:
        super().__init__()
        self._proposal = proposal
        self._keymap = keymap
        self._language = language

    def compose(self) -> ComposeResult:
        keys = (("Enter", "foot.learn"), ("↑ ↓", "foot.scroll"), ("Esc", "foot.not_now"))
        with Vertical(classes="panel"):
            yield Line(say("teach.title.proposal", self._language), classes="title")
            with VerticalScroll():
                yield Line("\n".join(proposal_lines(self._proposal, self._language)))
            with Horizontal(classes="buttons"):
                yield Button(Content(say("teach.button.learn", self._language)), id="learn", compact=True)
                yield Button(Content(say("teach.button.not_now", self._language)), id="not-now", compact=True)
            yield Line(foot(keys, self._keymap, self._language), classes="keys")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "learn")
