"""kill -9 of the host under its faces: each is told, goes on with another host, and no committed message is lost."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.host.starting import find_host
from app.opening import open_store
from app.paths import Paths
from app.remote_client import RemoteClient, connect
from engine.events import Notice, TextDelta, TurnClosed, TurnEvent, TurnOpened
from tests.support.hosting import end_host, kill_host

pytestmark = pytest.mark.model

LONG = "@L0 Write a long story about a river, at least one thousand words, and do not stop early."
MOMENTS_S = (0.0, 0.06, 0.25, 0.5, 0.9)
"""After the question was sent: while it is queued, routed, read and answered."""


@pytest.fixture
def client(home: Path, starter_base: Path) -> Iterator[RemoteClient]:
    client = connect(Paths(home))
    client.about()
    yield client
    client.close()


def test_a_turn_whose_host_is_killed_is_told_as_interrupted_with_what_was_said(client: RemoteClient, home: Path):
    events: list[TurnEvent] = []
    for event in client.ask(LONG):
        events.append(event)
        if sum(isinstance(event, TextDelta) for event in events) == 5:
            kill_host(home)
    opened, closed = events[0], events[-1]
    assert isinstance(opened, TurnOpened) and isinstance(closed, TurnClosed)
    assert closed.state == "interrupted" and closed.problem and closed.hint
    assert closed.text == "".join(event.text for event in events if isinstance(event, TextDelta)) != ""
    (record,) = client.path(opened.conversation_id)
    assert (record.state, record.user_text) == ("interrupted", opened.user_text)
    again = client.regenerate(record.turn_id)
    assert next(event.text for event in again if isinstance(event, TextDelta)), "it is answered after all"
    again.close()


def test_a_host_that_was_killed_while_nobody_spoke_is_told_with_the_next_turn(client: RemoteClient, home: Path):
    first = list(client.ask("@L0 Say hello."))
    kill_host(home)
    events = list(client.ask("@L0 Say hello again.", conversation_id=first[0].conversation_id))
    told = [event.code for event in events if isinstance(event, Notice) and event.code != "waiting"]
    assert told == ["host_restarted"]
    assert isinstance(events[-1], TurnClosed) and events[-1].state == "answered"
    later = list(client.ask("@L0 And again."))
    assert "host_restarted" not in [event.code for event in later if isinstance(event, Notice)], "it is told once"


def test_two_faces_that_lose_their_host_meet_again_in_one(client: RemoteClient, home: Path):
    other = connect(Paths(home))
    kill_host(home)
    threads = [threading.Thread(target=face.conversations) for face in (client, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert client.address == other.address == find_host(Paths(home))
    other.close()


def test_no_committed_message_is_lost_whenever_the_host_is_killed(client: RemoteClient, home: Path):
    committed: dict[str, str] = {}
    ends: list[str] = []
    for moment_s in MOMENTS_S:
        client.about()  # the base is loaded, so that the moment falls into the turn
        killer = threading.Timer(moment_s, kill_host, [home])
        killer.start()
        for event in client.ask(LONG):
            match event:
                case TurnOpened(turn_id=turn_id, user_text=text):
                    committed[turn_id] = text
                case TurnClosed(state=state):
                    ends.append(state)
        killer.join()
        time.sleep(0.05)
    client.close()
    end_host(home)
    with open_store(Paths(home)) as store:
        assert store.integrity() == "ok"
        kept = {turn_id: store.turn(turn_id) for turn_id in committed}
    assert {turn_id: turn.user_text for turn_id, turn in kept.items()} == committed
    assert {turn.state for turn in kept.values()} <= {"answered", "interrupted"}
    assert len(ends) == len(MOMENTS_S)
    assert ends.count("interrupted") >= 2, "few moments fell into a turn, so little was tried"
