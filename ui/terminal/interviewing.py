"""The interview of the first day: one question after the other, each with a line to answer it."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from engine.memory.interviewing import QUESTIONS
from ui.interview import asked
from ui.strings import say
from ui.terminal.keys import Keymap, foot
from ui.terminal.line import Line

MAX_CHARACTERS = 300


class InterviewScreen(ModalScreen[dict[str, str]]):
    """Gives the answers by topic. Esc ends it; what was answered until then is given."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "end", "End")]

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language
        self._answers = dict[str, str]()
        self._number = Line("", classes="note")
        self._question = Line("", id="interview-question")
        self._input = Input(max_length=MAX_CHARACTERS)

    def compose(self) -> ComposeResult:
        keys = (("Enter", "foot.next"), ("Esc", "foot.end"))
        with Vertical(classes="panel short"):
            yield Line(say("interview.title", self._language), classes="title")
            yield self._number
            yield self._question
            yield self._input
            yield Line(say("interview.hint", self._language), classes="note")
            yield Line(foot(keys, Keymap({}), self._language), classes="keys")

    def on_mount(self) -> None:
        self._ask()
        self._input.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._answers[QUESTIONS[len(self._answers)].topic] = event.value
        if len(self._answers) == len(QUESTIONS):
            self.action_end()
        else:
            self._ask()

    def action_end(self) -> None:
        self.dismiss({topic: answer for topic, answer in self._answers.items() if answer.strip()})

    def _ask(self) -> None:
        place = len(self._answers)
        self._number.show(say("interview.number", self._language, number=place + 1, count=len(QUESTIONS)))
        self._question.show(asked(QUESTIONS[place].topic, self._language))
        self._input.value = ""
