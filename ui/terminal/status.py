"""The two lines at the foot: about the turn, and the keys that work now. Told what to show; knows no event."""

from collections.abc import Sequence

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from ui.inert import cell_width, display_line
from ui.terminal.line import Line

SEPARATOR = " | "
BRIEFLY_S = 4.0
"""How long a short message stands in the place of the keys."""


def fitted(parts: Sequence[str], max_cells: int) -> str:
    """As many parts as fit, the first ones first; a first part that is too long alone is cut."""
    line = ""
    for part in parts:
        longer = f"{line}{SEPARATOR}{part}" if line else part
        if line and cell_width(longer) > max_cells:
            break
        line = longer
    return display_line(line, max_cells) if max_cells > 0 else ""


class StatusLine(Static):
    """What the turn is doing while it runs, what it took afterwards."""

    def __init__(self) -> None:
        super().__init__(id="status", markup=False)
        self._parts: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is on screen."""
        return fitted(self._parts, self.content_size.width)

    def show(self, parts: tuple[str, ...]) -> None:
        self._parts = parts
        self.update(Content(self.text))

    def on_resize(self) -> None:
        self.update(Content(self.text))


class KeysLine(Line):
    """The keys that work now; for a moment, a short message instead."""

    def __init__(self) -> None:
        super().__init__("", id="keys", classes="keys")
        self._keys = ""
        self._brief: Timer | None = None

    def show_keys(self, text: str) -> None:
        self._keys = text
        if self._brief is None:
            self.show(text)

    def show_briefly(self, text: str) -> None:
        if self._brief is not None:
            self._brief.stop()
        self._brief = self.set_timer(BRIEFLY_S, self._brief_is_over)
        self.add_class("brief")
        self.show(text)

    def _brief_is_over(self) -> None:
        self._brief = None
        self.remove_class("brief")
        self.show(self._keys)
