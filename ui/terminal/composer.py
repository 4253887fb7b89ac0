"""Where the user writes. Knows no client: it says what was submitted.

The composer keeps earlier prompts to come back to; the box around it keeps drafts, and which turn is being edited.
"""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TextArea

from engine.values import Provenance
from ui.present import display_text
from ui.strings import say
from ui.terminal.line import Line
from ui.terminal.pasting import PastedText


class Composer(TextArea):
    """Enter submits, Ctrl+J and Shift+Enter start a new line. A paste is only ever text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter", "newline", "New line", show=False, id="composer.newline"),
    ]

    class Submitted(Message):
        def __init__(self, text: str, provenance: Provenance) -> None:
            super().__init__()
            self.text = text
            self.provenance = provenance

    def __init__(self, placeholder: str) -> None:
        super().__init__(
            id="composer",
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            tab_behavior="focus",
            placeholder=placeholder,
        )
        self.pasted = PastedText()
        """What the user did not type; the chat adds what it finds in the history."""
        self._prompts: list[str] = []
        self._recalled: int | None = None
        """Index of the prompt on show; None while the user's own text is."""

    def remember(self, prompts: list[str]) -> None:
        """Replace what Up comes back to, oldest first."""
        self._prompts = [display_text(prompt) for prompt in prompts]
        self._recalled = None

    def put(self, text: str) -> None:
        """Show `text` with the cursor behind it."""
        self.load_text(display_text(text))
        self.move_cursor(self.document.end)
        self._recalled = None

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Submitted(self.text, self.pasted.provenance(self.text)))
            return
        await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        # The base class handles the event too unless told otherwise, and would insert it a second time.
        event.prevent_default()
        event.stop()
        text = display_text(event.text)
        self.pasted.paste(text)
        self.insert(text)
        self.scroll_cursor_visible()

    def action_paste(self) -> None:
        # The program's own clipboard, such as a part of an answer that was copied.
        self.pasted.paste(self.app.clipboard)
        super().action_paste()

    def action_newline(self) -> None:
        self.insert("\n")
        self.scroll_cursor_visible()

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self._prompts and (not self.text or self._shows_recalled()):
            index = len(self._prompts) if self._recalled is None else self._recalled
            self._recall(max(0, index - 1))
            return
        super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self._recalled is not None and self._shows_recalled():
            self._recall(self._recalled + 1)
            return
        super().action_cursor_down(select)

    def _shows_recalled(self) -> bool:
        return self._recalled is not None and self.text == self._prompts[self._recalled]

    def _recall(self, index: int) -> None:
        """Show prompt `index`; one behind the last is the empty prompt."""
        if index >= len(self._prompts):
            self.put("")
            return
        self.put(self._prompts[index])
        self._recalled = index


class PromptBox(Vertical):
    """The composer, and above it a line while an earlier message is being edited."""

    def __init__(self, language: str) -> None:
        super().__init__(id="prompt")
        self.composer = Composer(say("composer.placeholder", language))
        self.editing_turn_id: str | None = None
        """The turn whose message is being edited; None while a new one is written."""
        self._editing_line = Line(say("composer.editing", language), classes="editing")
        self._editing_line.display = False
        self._draft_before_edit = ""
        self._drafts: dict[str | None, str] = {}

    def compose(self) -> ComposeResult:
        yield self._editing_line
        yield self.composer

    def edit(self, turn_id: str, text: str) -> None:
        """Put an earlier message in the composer; what stood there comes back afterwards."""
        if self.editing_turn_id is None:
            self._draft_before_edit = self.composer.text
        self.editing_turn_id = turn_id
        self._editing_line.display = True
        self.composer.put(text)
        self.composer.focus()

    def cancel_editing(self) -> None:
        if self.editing_turn_id is not None:
            self.clear()

    def clear(self) -> None:
        """After sending, or when an edit is given up: back to the draft from before the edit."""
        self.composer.put(self._draft_before_edit)
        self.editing_turn_id, self._draft_before_edit = None, ""
        self._editing_line.display = False

    def switch(self, left_conversation_id: str | None, entered_conversation_id: str | None) -> None:
        """Keep the draft of one conversation and bring back that of another."""
        self.cancel_editing()
        self._drafts[left_conversation_id] = self.composer.text
        self.composer.put(self._drafts.pop(entered_conversation_id, ""))
