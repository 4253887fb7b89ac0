"""What is seen of a run while it goes on: plain lines for pipes and simple terminals, JSON lines for scripts.

Told by whoever supervises the run; knows neither its process nor its folder. The picture for real terminals is in
`live`. What comes from the trainer is made harmless before anybody sees it.
"""

from dataclasses import asdict
from typing import Protocol

from app.output import print_json, print_text
from app.training.figures import evaluation_line, step_line
from local_training.runs.events import Progress
from local_training.runs.metrics import EvaluationMetrics, Metrics, Note, StepMetrics
from ui.inert import display_text
from ui.strings import say


class Show(Protocol):
    """Every method may raise OutputFailed or BrokenPipeError when nobody can read any more."""

    def begin(self, folder: str) -> None: ...

    def progress(self, progress: Progress) -> None: ...

    def metrics(self, metrics: Metrics) -> None: ...

    def waiting(self, waits: bool) -> None:
        """The run was asked to pause, or to go on."""

    def stopping(self, go_on: str) -> None:
        """It was asked to end; `go_on` is the command that goes on with it."""

    def look(self) -> None:
        """A moment passed."""

    def end(self) -> None: ...


def metrics_line(metrics: Metrics, steps: int, language: str) -> str:
    """`steps` of 0 is unknown."""
    match metrics:
        case StepMetrics():
            return step_line(metrics, steps, language)
        case EvaluationMetrics():
            return evaluation_line(metrics, language)
        case Note(text=text):
            return say("train.note", language, text=display_text(text))


class PlainShow:
    """A line for each step, evaluation and note."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._steps = 0

    def begin(self, folder: str) -> None:
        print_text(say("train.begin", self._language, folder=folder))

    def progress(self, progress: Progress) -> None:
        self._steps = progress.steps

    def metrics(self, metrics: Metrics) -> None:
        print_text(metrics_line(metrics, self._steps, self._language))

    def waiting(self, waits: bool) -> None:
        print_text(say("train.waiting" if waits else "train.goes_on", self._language))

    def stopping(self, go_on: str) -> None:
        print_text(say("train.stopping", self._language, go_on=go_on))

    def look(self) -> None:
        """Lines do not change with time."""

    def end(self) -> None:
        """Nothing is left open."""


class JsonShow:
    """The trainer's own events, one object a line, after one that names the folder."""

    def begin(self, folder: str) -> None:
        print_json({"kind": "run", "folder": folder})

    def progress(self, progress: Progress) -> None:
        print_json(asdict(progress))

    def metrics(self, metrics: Metrics) -> None:
        print_json(asdict(metrics))

    def waiting(self, waits: bool) -> None:
        print_json({"kind": "waiting", "waits": waits})

    def stopping(self, go_on: str) -> None:
        print_json({"kind": "stopping", "go_on": go_on})

    def look(self) -> None:
        """Scripts have clocks of their own."""

    def end(self) -> None:
        """Nothing is left open."""
