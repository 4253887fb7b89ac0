"""A lesson that was really taught, on a tiny base with a trainer that learns nothing: no file of it outlives a turn."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.forgetting.forgetting import Forgetting
from app.opening import open_store
from app.paths import Paths
from app.teaching.proposing import propose
from app.teaching.working import teach
from app.training.trainer import TrainerProgram
from engine.adapters.catalogue import Catalogue
from engine.errors import UsageProblem
from engine.forgetting import Wanted
from engine.signals.keeping import KeptSignals
from tests.app.evaluation.conftest import small_suites, tiny_profile
from tests.app.teaching.conftest import correct, small_lessons, trainer
from tests.local_training.lessons.scripted import NAME
from tests.support.remnants import files_with

__all__ = ["small_lessons", "small_suites", "tiny_profile", "trainer"]
pytestmark = [pytest.mark.model, pytest.mark.usefixtures("tiny_profile", "small_lessons")]
ENGLISH = {"LC_ALL": "C.UTF-8"}
SECRET = ("Where does Quastenflosser swim?", "In the sea.", "Mira, Quastenflosser swims off Windhoek.")


def test_H4_a_lesson_leaves_no_file_and_is_proposed_without_the_turn(
    home: Path, trainer: Callable[..., TrainerProgram]
):
    paths = Paths(home)
    correct(home, (*NAME, SECRET))
    folder = propose(paths, ENGLISH)
    taught = teach(paths, ENGLISH, folder, use=True, stop=threading.Event(), tell=lambda _: None, trainer=trainer())
    assert taught.adapter_hash
    held = files_with(home, "Quastenflosser")
    assert {"macaron.db", f"lessons/{folder.lesson_id}/lesson.json"} < set(held), held
    with open_store(paths) as store:
        turn_id = KeptSignals(store.database).corrections("L0")[-1].turn_id
        details = Catalogue(store.database).details(taught.adapter_hash)
        assert turn_id in {source.source_id for source in details.sources}
        done = Forgetting(paths, store).forget(Wanted(turn_id))
    assert [one.content_hash for one in done.adapters] == [taught.adapter_hash]
    assert files_with(home, "Quastenflosser") == []
    assert not (paths.adapters / details.record.file).exists() and not any(paths.runs.iterdir())
    again = propose(paths, ENGLISH)
    assert len(again.read().corrections) == len(NAME)
    assert files_with(home, "Quastenflosser") == []
    with open_store(paths) as store, pytest.raises(UsageProblem, match="forgotten"):
        Catalogue(store.database).add(details.record)
