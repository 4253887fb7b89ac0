"""The folder of a run: its state survives damage, and one process at a time writes to it."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from engine.errors import HomeBusy, UsageProblem
from local_training.runs.folder import VERSION, Frozen, RunFolder, RunState

ROOT = Path(__file__).parents[3]
FROZEN = Frozen(
    kind="rl",
    title="简短",
    expert="L0",
    profile="profiles/starter",
    base="models/base.gguf",
    base_hash="0" * 32,
    expert_adapter="",
    expert_adapter_hash="",
    recipe_hash="1" * 64,
    data_hash="2" * 64,
    created_at=1.5,
    versions={"torch": "2.6.0", "peft": ""},
)
STATE = RunState("paused", 7, "问题。", "Do this.", "Someone asked it to wait.", 4711, 125.5, 1e9)

HOLD = """
import sys, time
from pathlib import Path
from local_training.runs.folder import RunFolder
with RunFolder(Path(sys.argv[1])).held():
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def test_a_state_comes_back_as_it_was_written(folder: RunFolder):
    folder.write_state(STATE)
    assert folder.read_state() == STATE
    folder.write_state(replace(STATE, state="finished", step=8))
    assert folder.read_state().step == 8


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="no file"),
        pytest.param(b"", id="empty"),
        pytest.param(b"\x00" * 40, id="zeros"),
        pytest.param(json.dumps(asdict(STATE)).encode()[:-5], id="torn"),
        pytest.param(b"[]", id="a list"),
        pytest.param(json.dumps(asdict(STATE) | {"state": "asleep"}).encode(), id="a state that there is not"),
        pytest.param(json.dumps(asdict(STATE) | {"step": "7"}).encode(), id="a text for a number"),
        pytest.param(json.dumps(asdict(STATE) | {"more": 1}).encode(), id="a field too many"),
    ],
)
def test_where_nothing_is_known_the_state_is_new(folder: RunFolder, content: bytes | None):
    if content is not None:
        folder.state.write_bytes(content)
    assert folder.read_state() == RunState("new")


def test_what_a_run_was_made_of_comes_back(folder: RunFolder):
    assert not folder.exists()
    folder.write_frozen(FROZEN)
    assert folder.exists()
    assert folder.read_frozen() == FROZEN
    assert "简短" in folder.frozen.read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="only here can a file name be no Unicode")
def test_a_base_whose_path_is_no_unicode_comes_back(folder: RunFolder):
    frozen = replace(FROZEN, base=os.fsdecode(b"/models/caf\xe9.gguf"))
    folder.write_frozen(frozen)
    assert folder.read_frozen() == frozen


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="no file"),
        pytest.param(b"{", id="torn"),
        pytest.param(b'{"name": "package"}', id="of something else"),
        pytest.param(json.dumps(asdict(FROZEN) | {"base": 7}).encode(), id="a number for a path"),
        pytest.param(json.dumps(asdict(FROZEN) | {"versions": {"torch": 2}}).encode(), id="a number for a version"),
    ],
)
def test_what_is_no_run_is_said(folder: RunFolder, content: bytes | None):
    if content is not None:
        folder.frozen.write_bytes(content)
    with pytest.raises(UsageProblem, match=r"is no run\.$"):
        folder.read_frozen()


def test_a_run_of_another_version_is_said_whatever_else_it_holds(folder: RunFolder):
    folder.frozen.write_text(json.dumps({"version": VERSION + 1, "device": "moon"}))
    with pytest.raises(UsageProblem, match="another version of the program"):
        folder.read_frozen()


def test_a_run_is_trained_by_one_process_and_by_nobody_once_that_is_killed(folder: RunFolder):
    command = [sys.executable, "-c", HOLD, str(folder.path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout is not None and child.stdout.readline() == b"held\n"
        busy = pytest.raises(HomeBusy, match=f"The run {folder.path.name} is already being trained")
        with busy as caught, folder.held():
            pass
        assert "macaron train stop" in caught.value.hint
        child.send_signal(signal.SIGKILL)
    with folder.held():
        pass


def test_a_run_can_be_held_again_once_it_was_let_go(folder: RunFolder):
    with pytest.raises(ZeroDivisionError), folder.held():
        _ = 1 // 0
    with folder.held(), pytest.raises(HomeBusy), folder.held():
        pass
    with folder.held():
        pass
