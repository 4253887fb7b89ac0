"""A run as a picture that changes, for real terminals: two bars, the time that is left, and the newest figures.

Evaluations and notes stay as lines above it. Knows neither the trainer's process nor its folder.
"""

import time
from collections.abc import Callable
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from app.training.figures import seconds_left, step_figures
from app.training.shows import metrics_line
from local_training.runs.events import Progress
from local_training.runs.metrics import Metrics, StepMetrics
from ui.durations import duration_text
from ui.inert import display_line
from ui.strings import say

_BAR_CELLS: Final = 24
_DETAIL_CELLS: Final = 30


class LiveShow:
    def __init__(self, console: Console, language: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds, from wherever."""
        self._console = console
        self._language = language
        self._clock = clock
        self._progress: Progress | None = None
        self._newest: StepMetrics | None = None
        self._step_seconds: list[float] = []
        self._step_began = clock()
        self._state = ""
        # Drawn when something was heard or a moment passed, never from a thread beside the signals.
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)

    def begin(self, folder: str) -> None:
        self._above(say("train.begin", self._language, folder=folder))
        self._live.start()

    def progress(self, progress: Progress) -> None:
        self._progress = progress
        self.look()

    def metrics(self, metrics: Metrics) -> None:
        if isinstance(metrics, StepMetrics):
            self._newest = metrics
            self._step_seconds.append(metrics.seconds)
            self._step_began = self._clock()
            self.look()
        else:
            self._above(metrics_line(metrics, 0, self._language))

    def waiting(self, waits: bool) -> None:
        self._state = say("train.waiting", self._language) if waits else ""
        self._step_began = self._clock()
        self.look()

    def stopping(self, go_on: str) -> None:
        self._above(say("train.stopping", self._language, go_on=go_on))

    def look(self) -> None:
        self._live.update(self._picture(), refresh=True)

    def end(self) -> None:
        self._live.stop()

    def _above(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)

    def _picture(self) -> Group:
        bars = Table.grid(padding=(0, 1))
        parts: list[Table | Text] = [bars]
        if (progress := self._progress) is None:
            bars.add_row(Text(say("train.activity.loading", self._language)))
        else:
            done = self._newest.step if self._newest else max(progress.step - 1, 0)
            steps = say("train.steps", self._language, done=done, steps=progress.steps)
            bars.add_row(Text(steps), _bar(done, progress.steps), Text(self._time_left(progress.steps - done)))
            activity = say(f"train.activity.{progress.activity}", self._language)
            count = f" {progress.done}/{progress.total}" if progress.total else ""
            detail = Text(display_line(progress.detail, _DETAIL_CELLS))
            bars.add_row(Text(activity + count), _bar(progress.done, progress.total), detail)
        if self._newest:
            parts.append(Text(step_figures(self._newest, self._language)))
        if self._state:
            parts.append(Text(self._state))
        return Group(*parts)

    def _time_left(self, steps_left: int) -> str:
        left = seconds_left(self._step_seconds, steps_left, self._clock() - self._step_began)
        return "" if left is None else say("train.left", self._language, time=duration_text(left, self._language))


def _bar(done: int, total: int) -> ProgressBar:
    """Without a total it shows nothing done, rather than something that moves for ever."""
    return ProgressBar(total=max(total, 1), completed=done if total else 0, width=_BAR_CELLS)
