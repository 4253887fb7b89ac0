"""What came of a lesson: the figures, why the gate decided so, answers before and after; used or undone from here."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button

from engine.errors import AgentError
from ui.inert import display_line
from ui.present import error_lines
from ui.strings import say
from ui.teaching import Compared, Taught
from ui.teaching_lines import figures_line, mark, standing_line, undone_line, verdict_lines
from ui.teaching_work import Teaching
from ui.terminal.apart import apart
from ui.terminal.keys import Keymap, binding, foot
from ui.terminal.line import Line

MAX_ANSWER_CELLS: Final = 600
"""Of one answer beside the other."""


class ResultScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close"),
        binding("teach.use", "use"),
        binding("teach.undo", "undo"),
    ]
    AUTO_FOCUS = "VerticalScroll"
    help_topic = "result"

    def __init__(self, teaching: Teaching, taught: Taught, keymap: Keymap, language: str) -> None:
        super().__init__()
        self._teaching = teaching
        self._taught = taught
        self._keymap = keymap
        self._language = language

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel"):
            yield Line(say("teach.title.result", self._language), classes="title")
            with VerticalScroll():
                yield from self._told()
            yield Line("", id="result-note")
            with Horizontal(classes="buttons"):
                for name in ("use", "undo", "close"):
                    yield Button(Content(say(f"teach.button.{name}", self._language)), id=name, compact=True)
            yield Line("", id="result-keys", classes="keys")

    def on_mount(self) -> None:
        self._refresh(standing_line(self._taught, self._language))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        match event.button.id:
            case "use":
                self.action_use()
            case "undo":
                self.action_undo()
            case _:
                self.dismiss()

    def action_use(self) -> None:
        if self._can_use:
            self._change(partial(self._teaching.use, self._taught.lesson_id, self._language))

    def action_undo(self) -> None:
        if self._taught.is_in_use:
            self._change(partial(self._teaching.undo, self._taught.lesson_id, self._language))

    @property
    def _can_use(self) -> bool:
        return self._taught.decision == "passed" and not self._taught.is_in_use

    @work(exclusive=True, group="change")
    async def _change(self, change: Callable[[], bool | None]) -> None:
        try:
            changed = await apart(change)
        except AgentError as error:
            self._refresh("\n".join(error_lines(error.problem, error.hint, self._language)))
            return
        was_used = self._taught.is_in_use
        self._taught = self._teaching.taught or self._taught
        said = standing_line(self._taught, self._language)
        self._refresh(undone_line(self._taught, bool(changed), self._language) if was_used else said)

    def _refresh(self, said: str) -> None:
        """What can be done now, and what was just done."""
        self.query_one("#result-note", Line).show(said)
        self.query_one("#use", Button).display = self._can_use
        self.query_one("#undo", Button).display = self._taught.is_in_use
        words = "not_now" if self._can_use else "close"
        self.query_one("#close", Button).label = Content(say(f"teach.button.{words}", self._language))
        keys = [("↑ ↓", "foot.scroll"), ("Esc", f"foot.{words}")]
        if self._can_use:
            keys.insert(0, ("teach.use", "foot.use_it"))
        if self._taught.is_in_use:
            keys.insert(0, ("teach.undo", "foot.undo"))
        self.query_one("#result-keys", Line).show(foot(keys, self._keymap, self._language))

    def _told(self) -> Iterator[Widget]:
        figures = figures_line(self._taught, self._language)
        minutes = say("teach.minutes", self._language, minutes=f"{self._taught.minutes:.1f}")
        lines = [*verdict_lines(self._taught, self._language), figures, minutes]
        yield Line("\n".join(line for line in lines if line))
        if not self._taught.compared:
            return
        yield Line("\n" + say("teach.compared", self._language), classes="title")
        yield Line(say("teach.marks", self._language), classes="hint")
        before, after = (say(f"teach.column.{name}", self._language) for name in ("before", "after"))
        yield self._beside(before, after, classes="heads")
        for one in self._taught.compared:
            yield from self._one(one)

    def _one(self, one: Compared) -> Iterator[Widget]:
        """A prompt, and under it what was answered before and after, side by side."""
        yield Line("› " + display_line(one.prompt, MAX_ANSWER_CELLS), classes="asked")
        before, after = (
            f"{mark(follows)} {display_line(text, MAX_ANSWER_CELLS)}"
            for text, follows in ((one.before, one.follows_before), (one.after, one.follows_after))
        )
        yield self._beside(before, after)

    def _beside(self, left: str, right: str, classes: str = "") -> Widget:
        return Horizontal(Line(left), Line(right), classes=f"beside {classes}".strip())
