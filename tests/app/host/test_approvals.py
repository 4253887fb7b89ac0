"""Turns that wait for an approval: others are served meanwhile, and a host that dies then has done nothing."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.host.feed import Feed
from app.host.queue import WorkQueue
from app.host.turns import Turns
from engine.events import ApprovalAsked, TurnClosed
from engine.store import Store
from tests.support.hands import TestHands, call_text
from tests.support.talking import Talk
from tests.support.waiting_turn import files_of

ROOT = Path(__file__).parents[3]


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    with Store.open(tmp_path / "macaron.db") as store:
        yield Talk(store, hands=TestHands([files_of(tmp_path)]))


async def test_while_a_turn_waits_another_conversation_is_answered(talk: Talk, tmp_path: Path) -> None:
    queue, feed = WorkQueue(), Feed()
    turns = Turns(queue, feed)
    talk.runtime.will_say(call_text("write_file", path="granted/a.txt", text="written"), "Hello.", "It is there.")
    turns.begin("first", "faces", lambda stop: talk.agent.turn("Write a file.", expert="L1", stop=stop))
    first = turns.follow("first")
    async for event in first:
        if isinstance(event, ApprovalAsked):
            break
    assert not (tmp_path / "granted" / "a.txt").exists()
    turns.begin("second", "faces", lambda stop: talk.agent.turn("Hi.", expert="L0", stop=stop))
    second = [event async for event in turns.follow("second")]
    assert isinstance(second[-1], TurnClosed) and second[-1].text == "Hello."
    talk.hands.approvals.answer(event.approval_id, "once")
    rest = [event async for event in first]
    assert isinstance(rest[-1], TurnClosed) and rest[-1].text == "It is there."
    assert (tmp_path / "granted" / "a.txt").read_text() == "written"
    queue.stop_all()


def test_a_process_that_is_killed_while_it_waits_has_run_nothing_and_the_turn_can_be_asked_again(
    tmp_path: Path,
) -> None:
    waiting = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.support.waiting_turn", str(tmp_path)],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        text=True,
    )
    try:
        assert waiting.stdout is not None and waiting.stdout.readline() == "waiting\n"
    finally:
        waiting.kill()
        waiting.wait()
        waiting.stdout and waiting.stdout.close()
    with Store.open(tmp_path / "macaron.db") as store:
        (conversation,) = store.conversations()
        (lost,) = store.path(conversation.leaf_turn_id or "")
        assert (lost.state, [call.state for call in lost.calls]) == ("interrupted", ["interrupted"])
        assert not (tmp_path / "granted" / "a.txt").exists()
        talk = Talk(store, hands=TestHands([files_of(tmp_path)]), conversation_id=conversation.conversation_id)
        talk.hands.mode = "auto"
        talk.runtime.will_say(call_text("write_file", path="granted/a.txt", text="written"), "It is there.")
        again = talk.regenerate(lost.turn_id, expert="L1")
        assert (again.state, again.text) == ("answered", "It is there.")
        assert (tmp_path / "granted" / "a.txt").read_text() == "written"


async def test_a_turn_whose_face_is_gone_while_it_waits_is_stopped_and_runs_nothing(talk: Talk, tmp_path: Path) -> None:
    queue = WorkQueue()
    turns = Turns(queue, Feed(), grace_s=0.1)
    talk.runtime.will_say(call_text("write_file", path="granted/a.txt", text="written"))
    turns.begin("gone", "faces", lambda stop: talk.agent.turn("Write a file.", expert="L1", stop=stop))
    following = turns.follow("gone")
    async for event in following:
        if isinstance(event, ApprovalAsked):
            break
    await following.aclose()
    deadline = time.monotonic() + 10
    while talk.store.turn(event.turn_id).state == "running" and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    assert talk.store.turn(event.turn_id).state == "stopped"
    assert not (tmp_path / "granted" / "a.txt").exists()
    queue.stop_all()
