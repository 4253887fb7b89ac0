"""A tab and the turn it has running."""

import threading

import pytest

from engine.errors import AgentError, RuntimeFailed, UsageProblem
from engine.events import TextDelta, TurnClosed, TurnOpened
from tests.ui.scripted import Gate, ScriptedClient
from ui.browser.tabs import Tab, Tabs


def test_the_events_of_a_turn_come_in_batches_and_in_order() -> None:
    client = ScriptedClient()
    client.will(*"abc")
    tab = Tab(client, "en")
    running = tab.begin(client.ask("Spell."))
    events = [event for batch in running.batches() for event in batch]
    tab.end(running)
    assert isinstance(events[0], TurnOpened) and isinstance(events[-1], TurnClosed)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "abc"
    assert not tab.is_running


def test_a_slow_reader_holds_up_no_turn() -> None:
    client = ScriptedClient()
    client.will("quick")
    tab = Tab(client, "en")
    running = tab.begin(client.ask("Go."))
    for _ in range(200):
        if "idle" in client.names():
            break
        threading.Event().wait(0.05)
    assert "idle" in client.names(), "the turn should end, and the agent be told so, before anyone looks"
    assert isinstance([event for batch in running.batches() for event in batch][-1], TurnClosed)


def test_a_clock_ticks_while_nothing_comes() -> None:
    client, held = ScriptedClient(), Gate()
    client.will("a", held)
    tab = Tab(client, "en")
    batches = tab.begin(client.ask("Wait.")).batches()
    assert next(batches) != [] and [] in (next(batches), next(batches))
    held.open()
    assert any(isinstance(event, TurnClosed) for batch in batches for event in batch)


def test_one_tab_has_one_turn_at_a_time() -> None:
    client, held = ScriptedClient(), Gate()
    client.will("a", held)
    tab = Tab(client, "en")
    running = tab.begin(client.ask("One."))
    with pytest.raises(UsageProblem, match="in this tab"):
        tab.begin(client.ask("Two."))
    tab.stop()
    assert any(isinstance(event, TurnClosed) and event.state == "stopped" for b in running.batches() for event in b)


def test_stop_without_a_turn_tells_nobody() -> None:
    client = ScriptedClient()
    Tab(client, "en").stop()
    assert client.calls == []


def test_an_error_of_ours_reaches_the_reader_and_a_strange_one_is_named() -> None:
    client = ScriptedClient()
    client.will("a", broken=AgentError("Gone.", "Again."))
    client.will("a", broken=ValueError("odd"))
    tab = Tab(client, "en")
    for kind, words in ((AgentError, "Gone."), (RuntimeFailed, "odd")):
        running = tab.begin(client.ask("Go."))
        with pytest.raises(kind, match=words):
            list(running.batches())
        tab.end(running)


def test_each_tab_has_its_own_client_until_it_is_closed() -> None:
    made: list[ScriptedClient] = []

    def connect() -> ScriptedClient:
        made.append(ScriptedClient())
        return made[-1]

    tabs = Tabs(connect, "en")
    assert tabs.of("a") is tabs.of("a") and tabs.of("b") is not tabs.of("a")
    assert len(made) == 2
    tabs.leave("a")
    tabs.leave("unknown")
    assert made[0].names() == ["close"] and made[1].names() == []
    assert tabs.of("a").client is made[2]
