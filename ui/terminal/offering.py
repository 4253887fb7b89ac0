"""A question of the agent's own below the conversation: what, why, and a key and a button for each answer.

Takes no focus, so that who is writing goes on writing. Knows no client: it posts answers.
"""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Button

from ui.terminal.keys import Keymap
from ui.terminal.line import Line


class OfferPanel(Vertical):
    class Answered(Message):
        """A button was pressed."""

        def __init__(self, accepts: bool) -> None:
            super().__init__()
            self.accepts = accepts

    def __init__(self, keymap: Keymap) -> None:
        super().__init__(id="offer")
        self._keymap = keymap
        self._question = Line("", id="offer-question")
        self._reason = Line("", id="offer-reason")
        self._yes, self._no = self._button("offer-yes"), self._button("offer-no")
        self.display = False

    def compose(self) -> ComposeResult:
        yield self._question
        yield self._reason
        with Horizontal():
            yield self._yes
            yield self._no

    def show(self, question: str, reason: str, yes: str, no: str) -> None:
        self._question.show(question)
        self._reason.show(reason)
        self._yes.label = Content(f"{yes} ({self._keymap.long('chat.accept')})")
        self._no.label = Content(f"{no} ({self._keymap.long('chat.decline')})")
        self.display = True

    def hide(self) -> None:
        self.display = False

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.Answered(event.button is self._yes))

    @staticmethod
    def _button(name: str) -> Button:
        button = Button("", id=name, compact=True)
        # The composer keeps the focus: the keys are for who writes, the buttons for the mouse.
        button.can_focus = False
        return button
