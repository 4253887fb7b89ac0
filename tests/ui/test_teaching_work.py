"""One lesson at a time: begun, followed, stopped, used and taken back."""

from collections.abc import Callable
from threading import Event as Flag

import pytest

from engine.errors import StoreProblem, UsageProblem
from tests.ui.lessons import PASSED, PROPOSAL, ScriptedTeacher
from ui.teaching import TeachProgress
from ui.teaching_work import Teaching

TIMEOUT_S = 10.0


def learn(teaching: Teaching, changed: Callable[[], None] = lambda: None) -> None:
    teaching.propose(None, "en")
    teaching.begin(PROPOSAL.lesson_id, "en", changed)


def wait(teaching: Teaching, teacher: ScriptedTeacher) -> None:
    assert teacher.ended.wait(TIMEOUT_S)
    teaching.close(TIMEOUT_S)


def test_a_lesson_is_learned_and_what_came_of_it_is_kept_without_using_it() -> None:
    teacher = ScriptedTeacher([TeachProgress("training", 2, 9), PASSED])
    teaching = Teaching(teacher)
    learn(teaching)
    wait(teaching, teacher)
    assert teaching.taught == PASSED and teaching.underway is None
    assert teacher.begun == [(PROPOSAL.lesson_id, False, "en")]
    assert not teacher.answers


def test_where_it_is_can_be_seen_while_it_goes_on_and_every_change_is_told() -> None:
    rest, told = Flag(), Flag()
    teaching = Teaching(ScriptedTeacher([TeachProgress("training", 2, 9), rest, PASSED]))
    learn(teaching, lambda: told.set() if teaching.underway and teaching.underway.progress.done == 2 else None)
    assert told.wait(TIMEOUT_S)
    with pytest.raises(UsageProblem, match="being learned already"):
        teaching.propose(None, "en")
    rest.set()
    teaching.close(TIMEOUT_S)


def test_one_that_is_stopped_is_closed_and_says_so() -> None:
    teacher = ScriptedTeacher([Flag(), PASSED])
    teaching = Teaching(teacher)
    learn(teaching)
    assert teaching.stop()
    assert not teaching.stop()
    wait(teaching, teacher)
    assert teaching.taught is not None and teaching.taught.decision == "stopped"
    assert not teaching.stop()


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([StoreProblem("The disk is gone.", "Plug it in.")], "The disk is gone."),
        ([TeachProgress("training")], "ended without a result"),
    ],
    ids=["an error", "no word"],
)
def test_one_that_fails_says_why(steps: list[object], reason: str) -> None:
    teacher = ScriptedTeacher(steps)  # type: ignore[arg-type]
    teaching = Teaching(teacher)
    learn(teaching)
    wait(teaching, teacher)
    assert teaching.taught is not None and teaching.taught.decision == "failed"
    assert reason in teaching.taught.reasons[0]


def test_only_what_was_proposed_last_is_learned_and_only_once() -> None:
    teacher = ScriptedTeacher()
    teaching = Teaching(teacher)
    with pytest.raises(UsageProblem):
        teaching.begin(PROPOSAL.lesson_id, "en")
    learn(teaching)
    wait(teaching, teacher)
    with pytest.raises(UsageProblem):
        teaching.begin(PROPOSAL.lesson_id, "en")
    assert len(teacher.begun) == 1


def test_it_is_used_and_taken_back_once() -> None:
    teacher = ScriptedTeacher()
    teaching = Teaching(teacher)
    learn(teaching)
    wait(teaching, teacher)
    teaching.use(PROPOSAL.lesson_id, "en")
    assert teacher.answers and teaching.taught is not None and teaching.taught.is_in_use
    assert teaching.undo(PROPOSAL.lesson_id, "en")
    assert not teacher.answers and not teaching.taught.is_in_use
    assert not teaching.undo(PROPOSAL.lesson_id, "en")


def test_another_lesson_than_the_last_is_not_used() -> None:
    teaching = Teaching(ScriptedTeacher())
    with pytest.raises(UsageProblem):
        teaching.use("2025-01-01-1200", "en")
