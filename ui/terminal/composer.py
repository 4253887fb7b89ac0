"""The field that the user writes in. Knows no client: it says what was submitted, and what is being completed."""

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import TextArea

from engine.values import Provenance
from ui.pasting import PastedText
from ui.present import display_text
from ui.terminal.keys import binding
from ui.terminal.offers import Offer, OfferList


class Composer(TextArea):
    """Enter submits, Ctrl+J and Shift+Enter start a new line. A paste is only ever text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("composer.newline", "newline"),
        binding("composer.complete", "complete"),
    ]

    class Submitted(Message):
        def __init__(self, text: str, provenance: Provenance) -> None:
            super().__init__()
            self.text = text
            self.provenance = provenance

    class EmptyDeleted(Message):
        """Backspace in an empty prompt."""

    def __init__(self, placeholder: str, offers: OfferList) -> None:
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
        self._offers = offers
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
            if self._offers.was_moved and self._offers.chosen is not None:
                self.take(self._offers.chosen)
                return
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

    def action_complete(self) -> None:
        if self._offers.chosen is not None:
            self.take(self._offers.chosen)

    def take(self, offer: Offer) -> None:
        """Put what was chosen in the place of what was typed of it."""
        row, column = self.cursor_location
        self.replace(offer.text, (row, column - offer.replaced), (row, column), maintain_selection_offset=False)

    @property
    def before_cursor(self) -> str:
        """The line of the cursor up to it."""
        row, column = self.cursor_location
        return self.document[row][:column]

    def action_delete_left(self) -> None:
        if not self.text:
            self.post_message(self.EmptyDeleted())
            return
        super().action_delete_left()

    def action_cursor_up(self, select: bool = False) -> None:
        if self._offers.offers:
            self._offers.move(-1)
            return
        if not select and self._prompts and (not self.text or self.shows_recalled):
            index = len(self._prompts) if self._recalled is None else self._recalled
            self._recall(max(0, index - 1))
            return
        super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if self._offers.offers:
            self._offers.move(1)
            return
        if not select and self._recalled is not None and self.shows_recalled:
            self._recall(self._recalled + 1)
            return
        super().action_cursor_down(select)

    @property
    def shows_recalled(self) -> bool:
        """Whether an earlier prompt stands here as it was."""
        return self._recalled is not None and self.text == self._prompts[self._recalled]

    def _recall(self, index: int) -> None:
        """Show prompt `index`; one behind the last is the empty prompt."""
        if index >= len(self._prompts):
            self.put("")
            return
        self.put(self._prompts[index])
        self._recalled = index
