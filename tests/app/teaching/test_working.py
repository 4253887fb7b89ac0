"""A lesson from beginning to end with a real engine, on a tiny base and with a trainer that learns nothing."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.opening import open_store
from app.paths import Paths
from app.teaching.folder import LessonFolder
from app.teaching.proposing import propose
from app.teaching.working import teach
from app.training.trainer import TrainerProgram
from engine.adapters.catalogue import Catalogue
from engine.errors import HomeBusy
from local_training.example_files import read_examples
from local_training.lessons.lesson_files import EXAMPLES
from local_training.runs.recipe import read_recipe
from tests.app.teaching.conftest import correct
from tests.local_training.lessons.scripted import NAME
from ui.teaching import Taught, TeachProgress

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("tiny_profile", "small_lessons")]
ENGLISH = {"LC_ALL": "C.UTF-8"}
Trainers = Callable[..., TrainerProgram]


@pytest.fixture
def folder(home: Path) -> LessonFolder:
    correct(home)
    return propose(Paths(home), ENGLISH)


def taught(
    home: Path,
    folder: LessonFolder,
    trainer: TrainerProgram,
    tell: Callable[[TeachProgress], None] = lambda _: None,
    stop: threading.Event | None = None,
) -> Taught:
    return teach(Paths(home), ENGLISH, folder, use=True, stop=stop or threading.Event(), tell=tell, trainer=trainer)


def test_an_adapter_that_changes_nothing_is_turned_away_and_kept_as_a_candidate(
    home: Path, folder: LessonFolder, trainer: Trainers
):
    told: list[TeachProgress] = []
    result = taught(home, folder, trainer(), told.append)
    assert (result.decision, result.is_in_use) == ("rejected", False)
    assert result.items >= 8 and result.right_before == result.right_after == 0
    assert result.reasons and all(reason.strip() for reason in result.reasons)
    assert {one.phase for one in told} == {"loading", "answering", "training", "testing", "saving"}
    assert all(one.before == one.after for one in result.compared) and len(result.compared) > 1
    answers = folder.read_answers()
    assert answers is not None and len(answers.compared) == result.items
    assert folder.read_result() == result
    with open_store(Paths(home)) as store:
        catalogue = Catalogue(store.database)
        details = catalogue.details(result.adapter_hash)
        assert catalogue.in_use("tiny") == ()
    assert details.record.state == "candidate" and details.record.note == f"lesson {folder.lesson_id}"
    assert {source.source_id for source in details.sources} == {one.turn_id for one in folder.read().corrections}
    assert details.evaluations[0].verdict == "failed"


def test_the_run_learns_the_users_own_answers_and_is_held_to_the_anchor(
    home: Path, folder: LessonFolder, trainer: Trainers
):
    taught(home, folder, trainer())
    recipe = read_recipe(folder.inputs / "recipe.toml")
    assert (recipe.kind, recipe.expert) == ("sft", "L0")
    assert recipe.anchor.weight > 0 and recipe.limits.minutes < 10
    learned = {example.answer for example in read_examples(folder.inputs / EXAMPLES, "sft").examples}
    assert learned & {after for _, _, after in NAME}


def test_a_lesson_that_is_stopped_says_so_and_changes_nothing(home: Path, folder: LessonFolder, trainer: Trainers):
    stop = threading.Event()

    def stop_at_training(told: TeachProgress) -> None:
        if told.phase == "training":
            stop.set()

    result = taught(home, folder, trainer("endless"), stop_at_training, stop)
    assert (result.decision, result.adapter_hash) == ("stopped", "")
    assert folder.read_result() == result


def test_ctrl_c_while_it_learns_stops_it(home: Path, folder: LessonFolder, trainer: Trainers):
    def interrupt(told: TeachProgress) -> None:
        if told.phase == "training":
            os.kill(os.getpid(), signal.SIGINT)

    assert taught(home, folder, trainer("endless"), interrupt).decision == "stopped"


@pytest.mark.parametrize(("scenario", "reason"), [("failed", "The loss is no number."), ("killed", "SIGKILL")])
def test_a_trainer_that_dies_is_a_result_with_its_reason(
    home: Path, folder: LessonFolder, trainer: Trainers, scenario: str, reason: str
):
    result = taught(home, folder, trainer(scenario))
    assert result.decision == "failed"
    assert reason in " ".join(result.reasons)


def test_a_lesson_can_be_taught_again_after_it_was_stopped(home: Path, folder: LessonFolder, trainer: Trainers):
    stop = threading.Event()
    stop.set()
    assert taught(home, folder, trainer(), stop=stop).decision == "stopped"
    assert taught(home, folder, trainer()).decision == "rejected"


def test_nobody_else_works_on_it_meanwhile(home: Path, folder: LessonFolder, trainer: Trainers):
    with folder.held(), pytest.raises(HomeBusy, match="being taught already"):
        taught(home, folder, trainer())
