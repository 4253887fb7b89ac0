"""A home belongs to one process at a time, and to nobody once that process is gone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.home_lock import hold_home
from app.paths import Paths, make_home
from engine.errors import AgentError, HomeBusy
from tests.app.running import environment

HOLD = """
import sys, time
from pathlib import Path
from app.home_lock import hold_home
from app.paths import Paths
with hold_home(Paths(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def paths(home: Path) -> Paths:
    make_home(Paths(home))
    return Paths(home)


def test_the_second_is_told_who_holds_the_home(paths: Paths):
    with hold_home(paths):
        with pytest.raises(HomeBusy) as caught, hold_home(paths):
            pass
        assert f"(process {os.getpid()})" in caught.value.problem
        assert str(paths.home) in caught.value.problem and "--home" in caught.value.hint


def test_the_holder_keeps_the_home_when_another_was_refused(paths: Paths):
    with hold_home(paths):
        for _ in range(2):
            with pytest.raises(HomeBusy), hold_home(paths):
                pass


def test_a_home_can_be_held_again_once_it_was_let_go(paths: Paths):
    for _ in range(2):
        with hold_home(paths):
            pass
    with pytest.raises(ZeroDivisionError), hold_home(paths):
        _ = 1 // 0
    with hold_home(paths):
        pass
    assert not paths.lock.with_suffix(".pid").exists()


def test_a_killed_process_holds_nothing_although_its_note_is_still_there(paths: Paths):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(paths.home)], stdout=subprocess.PIPE, env=environment()
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == b"held\n"
        with pytest.raises(HomeBusy, match=rf"\(process {child.pid}\)"), hold_home(paths):
            pass
        child.send_signal(signal.SIGKILL)
    assert paths.lock.with_suffix(".pid").exists()
    with hold_home(paths):
        assert paths.lock.with_suffix(".pid").read_text() == str(os.getpid())


@pytest.mark.parametrize("note", ["", "not a number", "\xff"])
def test_without_a_readable_note_the_second_is_refused_all_the_same(paths: Paths, note: str):
    with hold_home(paths):
        paths.lock.with_suffix(".pid").write_text(note, encoding="latin-1")
        with pytest.raises(HomeBusy, match=r"^Another macaron is using"), hold_home(paths):
            pass


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system has no folder in which nobody can make files")
def test_a_lock_that_cannot_be_made_is_not_taken_for_another_process():
    with pytest.raises(AgentError) as caught, hold_home(Paths(Path("/proc"))):
        pass
    assert not isinstance(caught.value, HomeBusy)
    assert "cannot be locked" in caught.value.problem


def test_a_folder_in_the_place_of_the_lock_is_not_taken_for_another_process(paths: Paths):
    paths.lock.mkdir()
    with pytest.raises(AgentError, match="cannot be locked") as caught, hold_home(paths):
        pass
    assert not isinstance(caught.value, HomeBusy)
