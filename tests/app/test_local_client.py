"""The client in this process: a turn comes before idle work, and a stop reaches the turn that runs."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.local_client import LocalClient
from engine.errors import BadText
from engine.events import TextDelta, TurnOpened
from engine.store import Store

WAIT_S = 10.0


class ScriptedAgent:
    """Turns of two events; idle work that lasts until it is stopped."""

    def __init__(self) -> None:
        self.stops: list[threading.Event] = []
        self.idle_began = threading.Event()
        self.idle_of: list[str] = []
        self.idle_ended_by_stop = False
        self.closed = 0
        self.refused: BadText | None = None

    def turn(self, text: str, *, stop: threading.Event, **options: Any) -> Iterator[Any]:
        return self._events(f"turn {text}", stop)

    def regenerate(self, turn_id: str, *, stop: threading.Event, **options: Any) -> Iterator[Any]:
        return self._events(f"again {turn_id}", stop)

    def edit(self, turn_id: str, text: str, *, stop: threading.Event, **options: Any) -> Iterator[Any]:
        return self._events(f"edit {turn_id} {text}", stop)

    def _events(self, text: str, stop: threading.Event) -> Iterator[Any]:
        if self.refused:
            raise self.refused
        self.stops.append(stop)
        try:
            yield TurnOpened(turn_id="t", number=0, conversation_id="c", parent_turn_id=None, user_text=text)
            yield TextDelta(turn_id="t", number=1, text="hello")
        finally:
            self.closed += 1

    def idle(self, conversation_id: str, stop: threading.Event) -> None:
        self.idle_of.append(conversation_id)
        self.idle_began.set()
        self.idle_ended_by_stop = stop.wait(WAIT_S)


@pytest.fixture
def agent() -> ScriptedAgent:
    return ScriptedAgent()


@pytest.fixture
def client(agent: ScriptedAgent, tmp_path: Path) -> Iterator[LocalClient]:
    with Store.open(tmp_path / "macaron.db") as store:
        names = ("runtime", "profile", "about", "shelf", "tools", "memories", "suggestion_shelf", "interview_shelf")
        unused = dict.fromkeys(names)
        yield LocalClient(agent, store, **unused)  # type: ignore[arg-type]


def test_a_new_turn_interrupts_idle_work(agent: ScriptedAgent, client: LocalClient):
    list(client.ask("first"))
    idling = threading.Thread(target=client.idle)
    idling.start()
    assert agent.idle_began.wait(WAIT_S)
    events = client.ask("second")
    next(events)
    idling.join(WAIT_S)
    assert not idling.is_alive() and agent.idle_ended_by_stop
    events.close()


def test_idle_work_is_for_the_conversation_that_was_last_spoken_in(agent: ScriptedAgent, client: LocalClient):
    client.idle()
    assert agent.idle_of == [], "nothing was said yet"
    list(client.ask("first"))
    idling = threading.Thread(target=client.idle)
    idling.start()
    assert agent.idle_began.wait(WAIT_S)
    list(client.ask("second"))
    idling.join(WAIT_S)
    assert agent.idle_of == ["c"]


def test_no_idle_work_begins_while_a_turn_is_under_way(agent: ScriptedAgent, client: LocalClient):
    list(client.ask("first"))
    events = client.ask("second")
    next(events)
    client.idle()
    assert agent.idle_of == []
    events.close()


@pytest.mark.parametrize("end", ["exhausted", "closed", "refused"])
def test_however_a_turn_ends_idle_work_may_begin_again(agent: ScriptedAgent, client: LocalClient, end: str):
    list(client.ask("first"))
    events = client.ask("second")
    match end:
        case "exhausted":
            list(events)
        case "closed":
            next(events)
            events.close()
        case "refused":
            agent.refused = BadText("The message is empty.")
            with pytest.raises(BadText):
                next(events)
    idling = threading.Thread(target=client.idle)
    idling.start()
    assert agent.idle_began.wait(WAIT_S)
    agent.refused = None
    next(client.ask("third"))
    idling.join(WAIT_S)
    assert not idling.is_alive()


def test_a_stop_reaches_the_turn_that_runs_and_not_the_next_one(agent: ScriptedAgent, client: LocalClient):
    first = client.ask("first")
    next(first)
    client.stop()
    assert agent.stops[0].is_set()
    list(first)
    list(client.ask("second"))
    assert not agent.stops[1].is_set()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(lambda client: client.ask("a"), "turn a", id="ask"),
        pytest.param(lambda client: client.regenerate("t1"), "again t1", id="regenerate"),
        pytest.param(lambda client: client.edit("t1", "b"), "edit t1 b", id="edit"),
    ],
)
def test_closing_the_events_closes_the_turn_at_once(agent: ScriptedAgent, client: LocalClient, call, expected: str):
    events = call(client)
    assert next(events).user_text == expected
    events.close()
    assert agent.closed == 1
