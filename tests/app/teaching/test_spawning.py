"""A lesson in a process of its own: what it tells is heard, and it is really gone when nobody listens any more."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.paths import Paths
from app.teaching.folder import LessonFolder, StoredLesson
from app.teaching.spawning import SpawningTeacher, profile_in_use
from app.training.trainer import TrainerProgram
from engine.errors import AgentError, RuntimeFailed, UnknownName, UsageProblem
from engine.values import About
from tests.app.teaching.conftest import correct
from tests.ui.scripted import ScriptedClient
from ui.teaching import Proposal, Taught, TeachProgress

SCRIPT = Path(__file__).with_name("lesson_process.py")
LESSON = "a-lesson"
TRAINING = TeachProgress("training", 4, 9, 60)
AT_ONCE_S = 0.3
MakeTeacher = Callable[..., SpawningTeacher]


class Child:
    """The process that stands in for `macaron teach`, as it wrote itself down."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    @property
    def options(self) -> list[str]:
        return list(self._noted()["options"])

    @property
    def is_gone(self) -> bool:
        return not psutil.pid_exists(self._noted()["pid"])

    def _noted(self) -> dict[str, Any]:
        noted: dict[str, Any] = json.loads(self.notes.read_text(encoding="utf-8"))
        return noted


@pytest.fixture
def child(tmp_path: Path) -> Child:
    return Child(tmp_path / "child.json")


@pytest.fixture
def teacher(home: Path, child: Child) -> MakeTeacher:
    """A Teacher whose lessons go as the scenario says, in a home with one lesson."""
    proposal = Proposal(LESSON, "L0", 8, ("Answers are short.",), (), 10.0)
    LessonFolder(Paths(home).lessons / LESSON).write(
        StoredLesson(proposal, "starter", "starter", (), "2026-01-01T00:00:00+00:00")
    )

    def made(scenario: str, **options: Any) -> SpawningTeacher:
        command = (sys.executable, str(SCRIPT), scenario, str(child.notes))
        return SpawningTeacher(Paths(home), {}, lambda: None, command=command, **options)

    return made


def first_training(told: Iterator[TeachProgress | Taught]) -> TeachProgress | Taught:
    """Past what is told before the process has said anything."""
    return next(one for one in told if one != TeachProgress("loading"))


def test_where_it_is_and_the_result_are_heard_and_noise_is_not(teacher: MakeTeacher, child: Child) -> None:
    told = [one for one in teacher("done").teach(LESSON, use=False) if one != TeachProgress("loading")]
    assert told[0] == TRAINING
    taught = told[-1]
    assert isinstance(taught, Taught) and len(told) == 2
    assert (taught.decision, taught.items, taught.right_after, taught.reasons) == ("passed", 40, 37, ("It is better.",))
    assert taught.compared[0].follows_after
    assert child.is_gone


@pytest.mark.parametrize(("use", "word"), [(True, "--use"), (False, "--no-use")])
def test_the_process_is_told_which_lesson_and_that_nobody_can_be_asked(
    teacher: MakeTeacher, child: Child, home: Path, use: bool, word: str
) -> None:
    list(teacher("done").teach(LESSON, use=use, language="zh"))
    options = child.options
    assert options[options.index("--lesson") + 1] == LESSON
    assert options[options.index("--home") + 1] == str(Paths(home).home)
    assert options[options.index("--language") + 1] == "zh"
    assert {"--yes", "--json", "--follow-input", word} <= set(options)


def test_the_real_command_takes_these_options(teacher: MakeTeacher, child: Child) -> None:
    from app.cli.teaching import teach

    list(teacher("done").teach(LESSON, use=True, language="en"))
    teach.make_context("teach", child.options)


def test_an_error_that_it_tells_is_raised(teacher: MakeTeacher, child: Child) -> None:
    with pytest.raises(AgentError, match=r"It is held\.") as raised:
        list(teacher("error").teach(LESSON, use=False))
    assert raised.value.hint == "Wait."
    assert child.is_gone


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_one_that_is_killed_is_told_as_a_failure(teacher: MakeTeacher, child: Child) -> None:
    told = teacher("killed").teach(LESSON, use=False)
    assert first_training(told) == TRAINING
    with pytest.raises(RuntimeFailed, match=r"without a result \(exit code -9\)"):
        list(told)
    assert child.is_gone


def test_closing_ends_the_process_in_order(teacher: MakeTeacher, child: Child) -> None:
    told = teacher("waits").teach(LESSON, use=False)
    assert first_training(told) == TRAINING
    assert not child.is_gone
    told.close()
    assert child.is_gone


def test_one_that_does_not_hear_is_ended_all_the_same(teacher: MakeTeacher, child: Child) -> None:
    told = teacher("deaf", end_s=AT_ONCE_S).teach(LESSON, use=False)
    assert first_training(told) == TRAINING
    told.close()
    assert child.is_gone


def test_where_it_is_is_told_again_while_nothing_is_new_so_that_it_can_be_closed(
    teacher: MakeTeacher, child: Child
) -> None:
    told = teacher("waits").teach(LESSON, use=False)
    assert first_training(told) == TRAINING
    began = time.monotonic()
    assert next(told) == TRAINING
    assert time.monotonic() - began < 10
    told.close()
    assert child.is_gone


def test_a_lesson_that_there_is_not_starts_nothing(teacher: MakeTeacher, child: Child) -> None:
    with pytest.raises(UnknownName):
        list(teacher("done").teach("another", use=False))
    assert not child.notes.exists()


# What is proposed.


def answering(profile: str) -> ScriptedClient:
    return ScriptedClient(what_answers=About("A base", "CPU", "", profile=profile))


@pytest.mark.model
def test_the_profile_in_use_is_the_one_that_is_set_until_another_is_chosen(tiny_profile: Path, home: Path) -> None:
    assert profile_in_use(answering("tiny"), Paths(home), None)() == str(tiny_profile)
    assert profile_in_use(answering("starter"), Paths(home), None)() == "starter"
    assert profile_in_use(answering("starter"), Paths(home), "starter")() == "starter"


@pytest.mark.model
def test_a_lesson_is_proposed_in_the_language_of_the_face(
    tiny_profile: Path, home: Path, trainer: Callable[..., TrainerProgram]
) -> None:
    correct(home)
    teacher = SpawningTeacher(Paths(home), {"LC_ALL": "C.UTF-8"}, lambda: str(tiny_profile), trainer=trainer())
    assert "回答" in teacher.propose(language="zh").changes[0]
    assert "Answers" in teacher.propose(language="en").changes[0]


def test_nothing_is_proposed_that_cannot_be_trained_here(home: Path) -> None:
    def missing() -> None:
        raise UsageProblem("Training needs torch.", "Install it.")

    trainer = TrainerProgram(command=lambda run: [], require=missing)
    with pytest.raises(UsageProblem, match="Training needs torch"):
        SpawningTeacher(Paths(home), {}, lambda: None, trainer=trainer).propose()
    assert not home.exists()
