"""One line on screen that opens to a text below it. Knows neither what the line says nor what the text is."""

from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical

from ui.terminal.line import Line

CLOSED_MARK: Final = "▸"
OPEN_MARK: Final = "▾"


class Folded(Vertical):
    """A click opens and closes it. Who changes what it shows calls `draw`."""

    def __init__(self, *, is_open: bool = False) -> None:
        super().__init__()
        self._is_open = is_open
        self._title = Line("", classes="fold-title")
        self._text = Line("", classes="fold-text")

    def title_text(self) -> str:
        """What the line says after its mark."""
        raise NotImplementedError

    def text_below(self) -> str:
        """What it opens to; asked for only while it is open."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._text

    def on_mount(self) -> None:
        self.draw()

    def on_click(self) -> None:
        self.open(not self._is_open)

    def open(self, is_open: bool) -> None:
        self._is_open = is_open
        self.draw()

    def draw(self) -> None:
        self._title.show(f"{OPEN_MARK if self._is_open else CLOSED_MARK} {self.title_text()}")
        self._text.show(self.text_below() if self._is_open else "")


class FoldedNote(Folded):
    """A note that opens to more, such as what stands for turns that are not read any more."""

    def __init__(self, title: str, details: str) -> None:
        super().__init__()
        self._note, self._details = title, details

    def title_text(self) -> str:
        return self._note

    def text_below(self) -> str:
        return self._details
