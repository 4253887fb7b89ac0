"""What interrupts a run: a file that asks it to wait, one that asks it to end, a parent that is gone."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local_training.runs import signals
from local_training.runs.folder import RunFolder
from local_training.runs.signals import Interrupted, Signals

ROOT = Path(__file__).parents[3]
PATIENCE_S = 20.0


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(signals, "_LOOK_S", 0.01)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


class Watched:
    """Signals of a folder, and what they said of pauses."""

    def __init__(self, folder: RunFolder) -> None:
        self.pauses: list[bool] = []
        self.signals = Signals(folder, self.pauses.append)


@pytest.fixture
def watched(folder: RunFolder) -> Iterator[Watched]:
    watched = Watched(folder)
    with watched.signals:
        yield watched


def eventually(is_so: Callable[[], bool]) -> bool:
    ends_at = time.monotonic() + PATIENCE_S
    while not is_so() and time.monotonic() < ends_at:
        time.sleep(0.005)
    return is_so()


class Checking(threading.Thread):
    """Calls `check` once; `ending` is what it raised."""

    def __init__(self, signals: Signals) -> None:
        super().__init__(daemon=True)
        self._signals = signals
        self.ending: Interrupted | None = None
        self.start()

    def run(self) -> None:
        try:
            self._signals.check()
        except Interrupted as ending:
            self.ending = ending


def test_without_any_file_nothing_is_interrupted(watched: Watched):
    watched.signals.check()
    assert not watched.signals.is_set()
    assert (watched.pauses, watched.signals.paused_seconds) == ([], 0.0)


def test_a_paused_run_waits_goes_on_and_counts_the_time(watched: Watched, folder: RunFolder):
    folder.pause.touch()
    assert eventually(watched.signals.is_set)
    began = time.monotonic()
    checking = Checking(watched.signals)
    assert eventually(lambda: watched.pauses == [True])
    time.sleep(0.1)
    assert checking.is_alive()
    folder.pause.unlink()
    checking.join(PATIENCE_S)
    assert not checking.is_alive()
    assert checking.ending is None
    assert watched.pauses == [True, False]
    assert 0.1 <= watched.signals.paused_seconds <= time.monotonic() - began
    assert not watched.signals.is_set()


def test_pauses_add_up(watched: Watched, folder: RunFolder):
    waited = []
    for _ in range(2):
        folder.pause.touch()
        assert eventually(watched.signals.is_set)
        checking = Checking(watched.signals)
        assert eventually(lambda: watched.pauses[-1:] == [True])
        folder.pause.unlink()
        checking.join(PATIENCE_S)
        waited.append(watched.signals.paused_seconds)
    assert 0.0 < waited[0] < waited[1]
    assert watched.pauses == [True, False, True, False]


def test_the_engine_is_told_to_stop_for_a_pause_and_may_go_on_after_it(watched: Watched, folder: RunFolder):
    folder.pause.touch()
    assert eventually(watched.signals.is_set)
    folder.pause.unlink()
    assert eventually(lambda: not watched.signals.is_set())
    watched.signals.check()
    assert watched.pauses == []


def test_a_file_that_asks_to_end_ends_the_run_where_it_can_be_left(watched: Watched, folder: RunFolder):
    folder.stop.touch()
    assert eventually(watched.signals.is_set)
    for _ in range(2):
        with pytest.raises(Interrupted, match="It was asked to end"):
            watched.signals.check()
    assert folder.stop.exists()


def test_an_end_ends_a_pause(watched: Watched, folder: RunFolder):
    folder.pause.touch()
    assert eventually(watched.signals.is_set)
    checking = Checking(watched.signals)
    assert eventually(lambda: watched.pauses == [True])
    folder.stop.touch()
    checking.join(PATIENCE_S)
    assert str(checking.ending) == "It was asked to end."
    assert watched.pauses == [True]
    assert watched.signals.paused_seconds > 0.0


def test_after_an_end_a_pause_holds_nothing_up(watched: Watched, folder: RunFolder):
    watched.signals.ask_to_end("Enough.")
    folder.pause.touch()
    time.sleep(0.1)
    assert watched.signals.is_set()
    with pytest.raises(Interrupted):
        watched.signals.check()
    assert watched.pauses == []


def test_the_first_reason_to_end_is_the_one_that_is_told(watched: Watched):
    watched.signals.ask_to_end("First.")
    watched.signals.ask_to_end("Second.")
    with pytest.raises(Interrupted, match=r"^First\.$"):
        watched.signals.check()


def test_nothing_catches_an_interruption_by_accident():
    assert not issubclass(Interrupted, Exception)


def test_afterwards_nobody_looks_any_more(folder: RunFolder):
    watched = Watched(folder)
    before = set(threading.enumerate())
    with watched.signals:
        (looking,) = set(threading.enumerate()) - before
    assert eventually(lambda: not looking.is_alive())
    folder.stop.touch()
    time.sleep(0.05)
    assert not watched.signals.is_set()


CHILD = """
import sys, time
from pathlib import Path
from local_training.runs.folder import RunFolder
from local_training.runs.signals import Interrupted, Signals

with Signals(RunFolder(Path(sys.argv[1])), lambda is_paused: print("paused", is_paused, flush=True)) as signals:
    signals.watch_parent()
    print("working", flush=True)
    try:
        while True:
            signals.check()
            time.sleep(0.01)
    except Interrupted as ending:
        print(ending, flush=True)
"""


@pytest.mark.parametrize("is_paused", [False, True], ids=["at work", "while it waits"])
def test_a_run_ends_with_the_program_that_started_it(folder: RunFolder, is_paused: bool):
    if is_paused:
        folder.pause.touch()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder.path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None and child.stdout is not None
    with child:
        try:
            assert child.stdout.readline() == "working\n"
            if is_paused:
                assert child.stdout.readline() == "paused True\n"
            child.stdin.write("what is said is not listened to\n")
            child.stdin.flush()
            time.sleep(0.3)
            assert child.poll() is None
            child.stdin.close()
            assert child.stdout.read() == "The program that started it has ended.\n"
            assert child.wait(PATIENCE_S) == 0
        finally:
            child.kill()
