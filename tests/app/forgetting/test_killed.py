"""kill -9 between any two steps of a forgetting: nothing comes back, nothing else is lost, the next start finishes."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.doctor.home import database
from app.opening import open_store
from engine.adapters.catalogue import Catalogue
from engine.errors import DiskFull
from engine.forgetting import MARK
from engine.store.database import Database
from engine.store.forgetting import ForgettingStore, Step
from tests.app.forgetting.learned import SECRET, Learned, learned
from tests.app.running import ROOT, environment
from tests.support.remnants import files_with

KINDS = ("adapter", "lesson", "run", "pages")
"""The steps of what was learned, in their order."""


def forget_and_die(taught: Learned, step: int) -> None:
    arguments = [str(taught.paths.home), taught.turn_ids[0], str(step)]
    command = [sys.executable, "-m", "tests.app.forgetting.forgetting_process", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.mark.parametrize("step", range(len(KINDS)), ids=KINDS)
def test_what_a_kill_left_is_finished_at_the_next_start(home: Path, step: int):
    taught = learned(home)
    forget_and_die(taught, step)
    assert "macaron.db" in files_with(home, SECRET), "otherwise nothing would be shown"
    with open_store(taught.paths) as store:
        assert ForgettingStore(store.database, store.mender).steps() == ()
        assert store.turn(taught.turn_ids[0]).user_text == MARK
        assert [store.turn(turn_id).user_text for turn_id in taught.turn_ids[1:]] == [
            f"Question {number} of first?" for number in range(7)
        ]
        assert Catalogue(store.database).in_use("starter") == ()
        assert store.integrity() == "ok"
    assert files_with(home, SECRET, "4711-Mitzi") == []
    assert not taught.file.exists() and not taught.run.path.exists() and not taught.lesson.path.exists()


def test_what_is_left_to_do_is_named_without_what_is_forgotten(home: Path):
    taught = learned(home)
    forget_and_die(taught, 0)
    with Database.open(taught.paths.database).reading() as connection:
        left = [Step(*row) for row in connection.execute("SELECT kind, name FROM forgetting ORDER BY step_id")]
    assert left == [
        Step("adapter", taught.record.content_hash),
        Step("lesson", taught.lesson.lesson_id),
        Step("run", taught.run.path.name),
        Step("pages"),
    ]


def test_a_disk_that_is_full_keeps_nobody_from_their_history_and_the_doctor_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    taught = learned(home)
    forget_and_die(taught, 3)

    def refuse(_database: Database) -> bool:
        raise DiskFull("The disk is full.", "Free some space.")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "scrub", refuse)
        with open_store(taught.paths) as store:
            assert ForgettingStore(store.database, store.mender).steps() == (Step("pages"),)
            assert store.turn(taught.turn_ids[0]).user_text == MARK
        found = database(taught.paths).check
        assert (found.level, "forgotten" in found.detail) == ("warning", True)
    with open_store(taught.paths) as store:
        assert ForgettingStore(store.database, store.mender).steps() == ()
    assert files_with(home, SECRET) == []
