"""Forgetting where a host holds the home: between turns, with a real engine whose views go too."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from app.host.calls import FORGETTING_NAMES, call_named, result_from_plain
from app.host.feed import Feed
from app.host.queue import WorkQueue
from app.host.service import Service
from app.host.turns import Turns
from app.opening import open_store
from app.paths import Paths
from app.remote_client import connect
from app.settings import load_settings
from engine.agent import Steps
from engine.errors import UnknownName
from engine.events import Notice, TurnClosed
from engine.forgetting import MARK, Forgotten, Place, Remaining, Retired, Wanted
from engine.runtime import wire
from engine.runtime.protocol import Stop, Tokens
from engine.store.rows import unpack_tokens
from tests.app.evaluation.conftest import tiny_profile
from tests.app.running import macaron
from tests.support.hosting import end_host, host_pid
from tests.support.remnants import blobs, columns_with_tokens, files_with, files_with_tokens
from ui.forgetting import Forgetter

__all__ = ["tiny_profile"]
SECRET = "Quastenflosser swim in Windhoek."
FORGOTTEN = Forgotten(
    (Place("messages", 2), Place("adapters", 1)),
    (Retired("a" * 32, "starter", "L0", True, 7),),
    (Place("notes", 1),),
    (Remaining("backup", "/b.zip", "2026-11-30T12:00:00+00:00", "rm /b.zip"),),
    ("c-1",),
    (3, 4),
    True,
    True,
)


def test_its_calls_are_those_of_whoever_forgets():
    assert set(FORGETTING_NAMES) == {name for name in vars(Forgetter) if not name.startswith("_")}


@pytest.mark.parametrize("name", FORGETTING_NAMES)
def test_what_went_comes_through_the_wire_unchanged(name: str):
    sent = json.loads(json.dumps(wire.to_plain(FORGOTTEN)))
    assert result_from_plain(call_named(name), sent) == FORGOTTEN


async def test_turns_that_are_over_can_be_read_no_more():
    queue = WorkQueue()
    turns = Turns(queue, Feed())

    def start(_stop: Stop) -> Steps:
        yield Notice(turn_id="t-1", number=0, code="folded", values={})

    turns.begin("key", "faces", start)
    assert len([event async for event in turns.follow("key")]) == 1
    turns.ahead("key")
    queue.wait(10)
    turns.forget_over()
    with pytest.raises(UnknownName):
        turns.ahead("key")


@contextmanager
def service(home: Path) -> Iterator[Service]:
    paths = Paths(home)
    with open_store(paths) as store, closing(Service(paths, store, load_settings(paths.settings))) as opened:
        yield opened


def say(host: Service, text: str, conversation_id: str | None = None, expert: str = "L0") -> TurnClosed:
    work = host.turn(lambda agent, stop: agent.turn(text, conversation_id=conversation_id, expert=expert, stop=stop))
    closed = host.queue.submit("faces", work).result()[-1]
    assert isinstance(closed, TurnClosed) and closed.state in ("answered", "stopped"), closed
    return closed


@pytest.mark.model
def test_G5_no_view_of_the_engine_and_no_token_ids_are_left_and_the_next_turn_reads_the_mark(
    home: Path, tiny_profile: Path
):
    with service(home) as host:
        before = say(host, "Good morning, how are you?")
        said = say(host, SECRET, before.conversation_id)
        after = say(host, "Thank you very much.", before.conversation_id)
        tokens: Tokens = host.runtime.encode(SECRET)
        assert any(key.startswith(before.conversation_id) for key, _ in host.runtime.views())
        assert holds(host.store.traces(after.turn_id)[-1].prompt, tokens), "otherwise nothing would be shown"
        done = host.forget(Wanted(said.turn_id, SECRET))
        assert done.is_scrubbed and done.conversations == (before.conversation_id,)
        assert host.runtime.views() == ()
        last = say(host, "Good night.", before.conversation_id)
        epoch = host.store.epoch_of_turn(last.turn_id, "L0")
        assert epoch is not None and epoch.reason == "forgotten"
        read = host.runtime.decode(host.store.traces(last.turn_id)[-1].prompt)
        assert MARK in read and "Quastenflosser" not in read and "Good morning" in read
    assert files_with(home, SECRET, "Quastenflosser") == []
    assert files_with_tokens(home, tokens) == [] == columns_with_tokens(home / "macaron.db", tokens)
    # Whatever the words were cut into beside others: no blob reads as them.
    with service(home) as host:
        host.loaded()
        for table, column, value in list(blobs(home / "macaron.db")):
            if table in ("segments", "traces", "epochs") and column != "logprobs":
                assert "Quastenflosser" not in host.runtime.decode(unpack_tokens(value)), f"{table}.{column}"


def holds(tokens: Tokens, part: Tokens) -> bool:
    return any(tokens[start : start + len(part)] == part for start in range(len(tokens)))


@pytest.mark.model
def test_the_verb_goes_through_the_host_that_runs(home: Path, tiny_profile: Path):
    with closing(connect(Paths(home))) as client:
        *_, closed = client.ask(f"@L0 {SECRET}")
        assert isinstance(closed, TurnClosed)
        pid = host_pid(home)
        assert files_with(home, "Quastenflosser") != []
        done = macaron("history", "forget", closed.turn_id, "--yes", "--json").json
        assert done["is_done"] and host_pid(home) == pid, "the same host runs on"
        (turn,) = client.path(closed.conversation_id)
        assert turn.user_text == MARK
        assert files_with(home, "Quastenflosser") == [], "while the host runs, its log included"
        *_, again = client.ask("@L0 Good night.", conversation_id=closed.conversation_id)
        assert isinstance(again, TurnClosed) and again.state in ("answered", "stopped")
    end_host(home)
