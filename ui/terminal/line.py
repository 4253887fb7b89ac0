"""A line of plain text, or several. Whatever looks like markup in it stays text."""

from textual.content import Content
from textual.widgets import Static


class Line(Static):
    def __init__(self, text: str, *, classes: str = "", id: str | None = None) -> None:
        super().__init__(Content(text), classes=classes, id=id, markup=False)

    def show(self, text: str) -> None:
        self.update(Content(text))
        self.display = bool(text)
