"""`macaron suggestions`, for people and for scripts, with a host and without; the daily number holds at once."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from app.host.starting import ensure_host
from app.opening import open_store
from app.paths import Paths
from app.suggestions.opening import open_suggestions
from engine.jobs.keeping import KeptJobs
from engine.memory.values import Draft
from engine.store import Store
from engine.store.memories import MemoryStore
from engine.values import TurnRecord
from tests.app.running import macaron
from tests.support.hosting import end_host, host_pid


@pytest.fixture
def due(home: Path, earlier: TurnRecord) -> None:
    """Something is due tomorrow."""
    with open_store(Paths(home)) as store:
        plan_for_tomorrow(store, earlier.turn_id)


def plan_for_tomorrow(store: Store, turn_id: str) -> None:
    now = datetime.now().astimezone()
    day = (now + timedelta(days=1)).date().isoformat()
    draft = Draft("I have a dentist appointment", "plan", "I have a dentist appointment", turn_id, due_on=day)
    MemoryStore(store.database, store.mender).add(draft, "dentist appointment", now, validation=0.8)


@pytest.mark.usefixtures("due")
def test_it_is_listed_with_its_reason_and_accepted(home: Path):
    listed = macaron("suggestions", "list")
    assert "dentist" in listed.out and "because" in listed.out and "suggestions off --kind due" in listed.out
    (found,) = macaron("suggestions", "list", "--json").json["suggestions"]
    assert (found["kind"], found["state"]) == ("due", "offered")
    accepted = macaron("suggestions", "accept", str(found["suggestion_id"]), "--json").json
    assert accepted["state"] == "accepted"
    assert host_pid(home) is not None, "who reminds must run"
    end_host(home)
    with open_store(Paths(home)) as store:
        (job,) = KeptJobs(store.database).jobs()
    assert (job.kind, job.text) == ("reminder", "I have a dentist appointment")
    assert macaron("suggestions", "dismiss", str(found["suggestion_id"])).code != 0


@pytest.mark.usefixtures("due")
def test_off_is_off_and_the_number_a_day_holds_at_once(home: Path):
    assert macaron("suggestions", "off", "--json").json == {"is_on": False, "off": []}
    assert macaron("suggestions", "list", "--json").json["suggestions"] == []
    assert "off" in macaron("suggestions", "list").out
    macaron("suggestions", "on")
    (home / "settings.toml").write_text("suggestions_a_day = 0\n")
    assert macaron("suggestions", "list", "--json").json["suggestions"] == []
    (home / "settings.toml").write_text("suggestions_a_day = 2\n")
    assert len(macaron("suggestions", "list", "--json").json["suggestions"]) == 1


@pytest.mark.usefixtures("due")
def test_one_kind_can_be_off(home: Path):
    assert macaron("suggestions", "off", "--kind", "due", "--json").json["off"] == ["due"]
    assert macaron("suggestions", "list", "--json").json["suggestions"] == []
    assert "Off: due" in macaron("suggestions", "list").out
    assert macaron("suggestions", "on", "--kind", "due", "--json").json["off"] == []


@pytest.mark.usefixtures("due")
def test_the_host_is_asked_where_one_runs(home: Path):
    paths = Paths(home)
    ensure_host(paths)
    with open_suggestions(paths) as shelf:
        (found,) = shelf.suggestions()
        assert (found.kind, found.text) == ("due", "I have a dentist appointment")
        assert shelf.dismiss_suggestion(found.suggestion_id).state == "dismissed"
        assert [one.state for one in shelf.past_suggestions()] == ["dismissed"]
        assert shelf.switch_suggestions(False, "habit").off == ("habit",)
    end_host(home)
    with open_suggestions(paths) as shelf:
        assert shelf.suggestion_switches().off == ("habit",)
