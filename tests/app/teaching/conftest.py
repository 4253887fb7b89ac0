"""A home on a tiny random base, in which answers were corrected in one respect."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.opening import open_store
from app.paths import Paths
from app.training.trainer import TrainerProgram
from engine.adapters.gate import TEACH
from engine.signals.keeping import KeptSignals
from engine.values import Answer, Route
from local_training.lessons.planning import LessonSizes
from tests.app.evaluation.conftest import small_suites, tiny_profile
from tests.local_training.lessons.scripted import NAME
from tests.support.evaluating import zero_adapter

__all__ = ["small_suites", "tiny_profile"]

SCRIPT = Path(__file__).with_name("lesson_trainer.py")
Corrected = Sequence[tuple[str, str, str]]


def correct(home: Path, corrections: Corrected = NAME, expert: str = "L0") -> None:
    """Every question was asked, answered and corrected, each in a conversation of its own."""
    with open_store(Paths(home)) as store:
        kept = KeptSignals(store.database)
        for prompt, before, after in corrections:
            turn = store.open_turn(prompt, conversation_id=None, parent_turn_id=None, profile="tiny")
            store.close_turn(Answer(turn.turn_id, "answered", before, Route(expert, "best")))
            kept.correct(turn.turn_id, after)


@pytest.fixture
def trainer(tiny_moe: Path, tmp_path: Path) -> Callable[[str], TrainerProgram]:
    """One that hands over an adapter which changes nothing, or does what the scenario says."""
    adapter = zero_adapter(tiny_moe, tmp_path / "zero.gguf")

    def made(scenario: str = "done") -> TrainerProgram:
        return TrainerProgram(
            command=lambda run: [sys.executable, str(SCRIPT), str(run.path), scenario, str(adapter)],
            require=lambda: None,
        )

    return made


@pytest.fixture
def small_lessons(small_suites: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few prompts, and answers of a few tokens; the tiny base says nothing worth reading."""
    sizes = LessonSizes(training_practice=6, held_out_practice=8, off_target=2, contrast=1)
    monkeypatch.setattr("app.teaching.working.SIZES", sizes)
    monkeypatch.setattr("app.teaching.working.BRIEF_SIZES", sizes)
    monkeypatch.setattr("app.teaching.held_out.ANSWER_TOKENS", 8)
    monkeypatch.setattr("local_training.lessons.sampling.ANSWER_TOKENS", 8)
    monkeypatch.setattr("app.teaching.working.TEACH", replace(TEACH, drift_prompts=2))
