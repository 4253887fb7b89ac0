"""An answer on screen: what was said as Markdown, and one line each for a thought and the call of a tool.

The lines open to their text, which is drawn as plain text. Told what to show; knows no event.
"""

from collections.abc import Sequence
from time import monotonic

from textual.app import ComposeResult
from textual.containers import Vertical

from ui.present import DisplayStream, call_line, display_text, thought_line
from ui.terminal.answer import AnswerMarkdown
from ui.terminal.folded import Folded
from ui.thinking import Part, PartStream, split

DRAW_EVERY_S = 0.25
"""How often the line of a thought that is being thought is brought up to date."""


class Fold(Folded):
    """A thought or the call of a tool: one line, and below it the text once it is opened."""

    def __init__(self, part: Part, language: str, *, is_open: bool, is_live: bool) -> None:
        super().__init__(is_open=is_open)
        self.part = part
        self._language = language
        # How long a thought took is known only to who saw it begin and end.
        self._began_at = monotonic() if is_live and not part.is_closed else None
        self._seconds: float | None = None
        self._drawn_at = 0.0

    def show(self, part: Part, *, is_last: bool = False) -> None:
        """`is_last`: nothing more will come, so that the line must be right."""
        if part.is_closed and not self.part.is_closed and self._began_at is not None:
            self._seconds = monotonic() - self._began_at
        # Counting the words of a long thought anew with each of them would take longer than thinking it.
        is_due = is_last or part.is_closed or monotonic() - self._drawn_at > DRAW_EVERY_S
        self.part = part
        if is_due:
            self.draw()

    def draw(self) -> None:
        self._drawn_at = monotonic()
        super().draw()

    def title_text(self) -> str:
        if self.part.kind == "thinking":
            return thought_line(self.part, self._seconds, self._language)
        return call_line(self.part, self._language)

    def text_below(self) -> str:
        return display_text(self.part.text).strip("\n")


class AnswerView(Vertical):
    """One answer. `write` it as it arrives, then `finish` with the whole text."""

    def __init__(self, text: str, language: str, *, shows_details: bool = False) -> None:
        super().__init__()
        self._language = language
        self.shows_details = shows_details
        self._incoming = DisplayStream()
        self._stream = PartStream()
        self._shown = [self._widget(part, is_live=False) for part in split(display_text(text))]
        self._written = [0] * len(self._shown)
        """How many characters of each part are drawn; only those of answers count."""

    def compose(self) -> ComposeResult:
        yield from self._shown

    async def write(self, piece: str) -> None:
        self._stream.feed(self._incoming.feed(piece))
        parts = self._stream.parts
        await self._match(parts, is_live=True)
        for place, part in enumerate(parts):
            widget = self._shown[place]
            if isinstance(widget, Fold):
                widget.show(part)
            elif len(part.text) > self._written[place]:
                await widget.write(part.text[self._written[place] :])
                self._written[place] = len(part.text)

    async def finish(self, text: str) -> None:
        """Draw the whole text once more, which also puts right what could not be known on the way."""
        parts = split(display_text(text))
        await self._match(parts, is_live=False)
        for widget, part in zip(self._shown, parts, strict=True):
            if isinstance(widget, Fold):
                widget.show(part, is_last=True)
            else:
                await widget.finish(part.text)

    def show_details(self, is_shown: bool) -> None:
        """Open or close all thoughts and calls, also those that are still to come."""
        self.shows_details = is_shown
        for widget in self._shown:
            if isinstance(widget, Fold):
                widget.open(is_shown)

    async def _match(self, parts: Sequence[Part], *, is_live: bool) -> None:
        """Have one widget of the right kind for each part."""
        kept = 0
        for widget, part in zip(self._shown, parts, strict=False):
            if self._kind(widget) != part.kind:
                break
            kept += 1
        for widget in self._shown[kept:]:
            await widget.remove()
        added = [self._widget(part, is_live=is_live) for part in parts[kept:]]
        self._shown[kept:], self._written[kept:] = added, [0] * len(added)
        if added:
            await self.mount_all(added)

    def _widget(self, part: Part, *, is_live: bool) -> Fold | AnswerMarkdown:
        if part.kind == "answer":
            # A live answer is written into it piece by piece.
            return AnswerMarkdown("" if is_live else part.text, self._language)
        return Fold(part, self._language, is_open=self.shows_details, is_live=is_live)

    @staticmethod
    def _kind(widget: Fold | AnswerMarkdown) -> str:
        return widget.part.kind if isinstance(widget, Fold) else "answer"
