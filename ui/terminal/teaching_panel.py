"""One line above the status: where a lesson is, or that it is over, with a button for each. Takes no focus."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Button

from ui.strings import say
from ui.teaching import Taught
from ui.teaching_lines import over_line, running_line
from ui.teaching_work import Underway
from ui.terminal.line import Line


class LessonPanel(Horizontal):
    class StopPressed(Message):
        """The user wants the lesson to end."""

    class ShowPressed(Message):
        """The user wants to see what came of it."""

    def __init__(self, language: str) -> None:
        super().__init__(id="lesson")
        self._language = language
        self.is_over = False
        """Whether it says that the lesson is over."""
        self._line = Line("", id="lesson-line")
        self._stop = self._button("stop")
        self._show = self._button("show")

    def compose(self) -> ComposeResult:
        yield self._line
        yield self._stop
        yield self._show

    def show_running(self, underway: Underway) -> None:
        text = running_line(
            underway.proposal.expert, underway.progress, self._language, is_stopping=underway.is_stopping
        )
        self._tell(text, is_over=False)
        self._stop.disabled = underway.is_stopping

    def show_over(self, taught: Taught) -> None:
        over = over_line(taught, self._language)
        self._tell(say("teach.over.see", self._language, over=over), is_over=True)

    def hide(self) -> None:
        self.display = False

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.StopPressed() if event.button is self._stop else self.ShowPressed())

    def _tell(self, text: str, *, is_over: bool) -> None:
        self.display = True
        self.is_over = is_over
        self._line.show(text)
        self._stop.display = not is_over
        self._show.display = is_over

    def _button(self, name: str) -> Button:
        button = Button(Content(say(f"teach.button.{name}", self._language)), id=f"lesson-{name}", compact=True)
        # The composer keeps the focus: the keys are for who writes, the buttons for the mouse.
        button.can_focus = False
        return button
