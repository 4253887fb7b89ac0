"""The picture of a run in a terminal: bars, the time that is left, figures, and lines above it."""

import io

import pytest
from rich.console import Console

from app.training.live import LiveShow
from local_training.runs.events import Progress
from local_training.runs.metrics import Note
from tests.app.training.scripted_trainer import evaluation, step


class Screen:
    """A terminal 100 cells wide that remembers what was drawn, without its control sequences."""

    def __init__(self, language: str = "en") -> None:
        self.now_s = 0.0
        self._file = io.StringIO()
        self._console = Console(
            file=self._file, width=100, force_terminal=True, color_system=None, highlight=False, legacy_windows=False
        )
        self.show = LiveShow(self._console, language, clock=lambda: self.now_s)

    def drawn(self) -> str:
        """What came since the last call."""
        text = self._file.getvalue()
        self._file.seek(0)
        self._file.truncate()
        return text


@pytest.fixture
def screen() -> Screen:
    return Screen()


def test_before_anything_is_heard_it_is_loading(screen: Screen):
    screen.show.begin("/runs/first")
    screen.show.look()
    assert "The run is in /runs/first" in (drawn := screen.drawn()) and "loading" in drawn
    screen.show.end()


def test_it_shows_steps_activity_figures_and_the_time_left(screen: Screen):
    screen.show.begin("/runs/first")
    screen.show.progress(Progress(1, 20, "sampling", 5, 16, "group 2"))
    assert "step 0/20" in (drawn := screen.drawn()) and "sampling 5/16" in drawn and "group 2" in drawn
    assert "left" not in drawn
    for number in (1, 2):
        screen.now_s += 30.0
        screen.show.metrics(step(number))
    screen.show.progress(Progress(3, 20, "training", 1, 4))
    drawn = screen.drawn()
    assert "step 2/20" in drawn and "training 1/4" in drawn
    assert "reward 0.250 · accuracy 50.0 %" in drawn and "idle 8.0 %" in drawn
    assert "0 s left" in drawn  # 18 steps of 0.02 s
    screen.show.end()


def test_the_bars_grow_with_what_is_done(screen: Screen):
    screen.show.begin("/runs/first")
    screen.show.progress(Progress(1, 4, "sampling", 0, 8))
    assert "━" not in screen.drawn()
    screen.show.metrics(step(2))
    assert screen.drawn().count("━") == 12  # half of one bar, which takes 24 cells
    screen.show.progress(Progress(3, 4, "sampling", 8, 8))
    assert screen.drawn().count("━") == 12 + 24
    screen.show.end()


def test_evaluations_and_notes_stay_as_lines_and_markup_is_only_text(screen: Screen):
    screen.show.begin("/runs/first")
    screen.show.metrics(evaluation(0))
    screen.show.metrics(Note(1, "memory [bold]ran[/bold] short\x1b[2J"))
    drawn = screen.drawn()
    assert "held-out after step 0 (items: 200): accuracy 40.0 %" in drawn
    assert "note: memory [bold]ran[/bold] short\n" in drawn and "\x1b[2J" not in drawn
    screen.show.end()


def test_a_pause_is_shown_until_it_is_over(screen: Screen):
    screen.show.begin("/runs/first")
    screen.show.waiting(True)
    assert "asked to wait" in screen.drawn()
    screen.show.waiting(False)
    assert "asked to wait" not in screen.drawn()
    screen.show.end()


def test_the_picture_speaks_chinese():
    screen = Screen("zh")
    screen.show.begin("/runs/first")
    screen.show.progress(Progress(2, 20, "evaluating", 1, 9))
    screen.show.metrics(step(1))
    drawn = screen.drawn()
    assert "步 1/20" in drawn and "评测中 1/9" in drawn and "剩余" in drawn and "奖励 0.250" in drawn
    screen.show.stopping("macaron train resume first")
    assert "再按一次 Ctrl+C 立即结束" in screen.drawn()
    screen.show.end()
