"""Ctrl+C and a polite end of the process: prompt, quiet, and with the text kept that was already there."""

import json
import os
import select
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from app.home_lock import hold_home
from app.paths import Paths
from engine.values import TurnRecord
from tests.app.conftest import stored_turns
from tests.app.running import macaron, start, wait_until

pytestmark = pytest.mark.model

LONG = "Write a long story about a river, at least one thousand words, and do not stop early."
SILENCE_S = 2.0
STOPPED = 130


def read_some(child: subprocess.Popen[bytes], minimum_bytes: int) -> bytes:
    """The first bytes of an answer while it is being written."""
    assert child.stdout is not None
    received = b""
    deadline = time.monotonic() + 30
    while len(received) < minimum_bytes:
        assert time.monotonic() < deadline and child.poll() is None, received
        if select.select([child.stdout], [], [], 0.05)[0]:
            received += os.read(child.stdout.fileno(), 4096)
    return received


def is_committed(home: Path, text: str) -> bool:
    """Whether another process has said this; the log beside the database may hold more than turns."""
    with closing(sqlite3.connect(f"file:{home / 'macaron.db'}?mode=ro", uri=True)) as database:
        return bool(database.execute("SELECT 1 FROM messages WHERE role = 'user' AND text = ?", [text]).fetchone())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl+c", "terminate"])
def test_a_signal_during_an_answer_ends_it_at_once_and_keeps_its_text(home: Path, number: signal.Signals):
    with start("ask", "--alone", LONG, "--expert", "L0") as child:
        shown = read_some(child, 40)
        sent = time.monotonic()
        child.send_signal(number)
        rest, errors = child.communicate(timeout=30)
        assert time.monotonic() - sent < SILENCE_S
    assert (child.returncode, errors) == (STOPPED, b"")
    (turn,) = stored_turns(home)
    assert turn.state == "stopped"
    assert turn.answer_text and (shown + rest).decode() == turn.answer_text + "\n"
    assert not (home / "home.pid").exists()


def test_a_stopped_answer_in_json_says_so_and_the_conversation_goes_on(home: Path, earlier: TurnRecord):
    with start("ask", "--alone", LONG, "--json", "--expert", "L0") as child:
        wait_until(lambda: is_committed(home, LONG), "the message is committed")
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=30)
    assert (child.returncode, errors) == (STOPPED, b"")
    assert json.loads(output)["stopped"] is True
    assert stored_turns(home)[-1].state == "stopped"
    conversation = json.loads(output)["conversation_id"]
    again = macaron("ask", "--alone", "@L0 Say hello.", "--conversation", conversation, "--json")
    assert again.code == 0 and again.json["text"]


@pytest.mark.parametrize("delay_s", [0.0, 0.15, 0.4], ids=lambda delay_s: f"after {delay_s} s")
def test_ctrl_c_while_the_base_is_loading_ends_without_a_traceback_and_frees_the_home(home: Path, delay_s: float):
    with start("ask", "--alone", LONG) as child:
        wait_until((home / "home.pid").exists, "the process holds the home")
        time.sleep(delay_s)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=30)
        assert time.monotonic() - sent < SILENCE_S
    assert child.returncode == STOPPED
    assert errors.strip() == b""
    assert not (home / "home.pid").exists()
    with hold_home(Paths(home)):
        pass
    assert all(turn.state == "stopped" for turn in stored_turns(home))


def test_a_process_that_is_killed_while_loading_leaves_no_lock(home: Path):
    with start("ask", "--alone", LONG) as child:
        wait_until((home / "home.pid").exists, "the process holds the home")
        child.kill()
    with hold_home(Paths(home)):
        pass
