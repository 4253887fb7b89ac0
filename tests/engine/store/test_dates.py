"""Events and reminders are kept with wall-clock times, changed only as they were seen, and never lost half-way."""

from contextlib import closing
from dataclasses import replace
from datetime import datetime

import pytest

import engine.store.dates as dates_module
from engine.errors import BadText, UnknownName, UsageProblem
from engine.store import Store
from engine.store.dates import DateStore, Event
from engine.store.salvage import salvage

NINE = datetime(2026, 3, 2, 9)
TEN = datetime(2026, 3, 2, 10)
TEA = Event(
    "Tea",
    NINE,
    TEN,
    zone="Asia/Shanghai",
    place="咖啡馆",
    notes="bring cups",
    rule="FREQ=WEEKLY",
    left_out=(datetime(2026, 3, 9, 9),),
    remind_minutes=10,
    source="user",
)


@pytest.fixture
def dates(store) -> DateStore:
    return DateStore(store.database)


def test_an_event_comes_back_as_it_was_given(dates):
    added = dates.add(TEA)
    assert added.uid
    assert replace(added, event_id=0, uid="") == TEA
    assert dates.get(added.event_id) == added
    assert dates.all() == (added,)


def test_events_near_a_time_are_those_that_may_take_place_then(dates):
    once = dates.add(Event("Once", NINE, TEN))
    weekly = dates.add(TEA)
    dates.add(Event("Later", datetime(2026, 5, 1), datetime(2026, 5, 2)))
    assert dates.near(datetime(2026, 3, 3), datetime(2026, 3, 4)) == (once, weekly)
    assert dates.near(datetime(2026, 4, 3), datetime(2026, 4, 4)) == (weekly,)
    assert dates.near(datetime(2026, 1, 3), datetime(2026, 1, 4)) == ()


def test_an_event_is_changed_only_as_it_was_seen(dates):
    seen = dates.add(TEA)
    changed = dates.change(seen, replace(seen, title="Coffee"))
    assert dates.get(seen.event_id).title == "Coffee"
    with pytest.raises(UsageProblem, match="meanwhile"):
        dates.change(seen, replace(seen, title="Milk"))
    cancelled = dates.change(changed, replace(changed, is_cancelled=True))
    assert dates.all() == ()
    assert dates.change(cancelled, changed) == changed


def test_one_time_of_a_repeated_event_is_taken_out_or_neither_is_changed(dates):
    seen = dates.add(TEA)
    without = replace(seen, left_out=(*seen.left_out, datetime(2026, 3, 16, 9)))
    instead = replace(seen, rule="", left_out=(), instance="2026-03-16T09:00:00", title="")
    with pytest.raises(BadText):
        dates.take_out(seen, without, instead)
    assert dates.all() == (seen,)
    moved = dates.take_out(seen, without, replace(instead, title="Tea"))
    assert dates.all() == (dates.get(seen.event_id), moved)
    assert dates.get(seen.event_id).left_out == without.left_out


def test_a_time_that_was_moved_and_cancelled_can_be_moved_again(dates):
    seen = dates.add(TEA)
    instead = replace(seen, rule="", left_out=(), instance="2026-03-16T09:00:00")
    moved = dates.take_out(seen, seen, instead)
    dates.tell(moved.event_id, NINE)
    dates.change(moved, replace(moved, is_cancelled=True))
    again = dates.take_out(dates.get(seen.event_id), seen, instead)
    assert [event.event_id for event in dates.all()] == sorted([seen.event_id, again.event_id])


def test_J5_events_that_are_here_are_not_added_again_nor_changed(dates):
    first = dates.add(replace(TEA, uid="a"))
    hostile = replace(TEA, uid="a", title="Overwritten", source="imported")
    new = replace(TEA, uid="b", source="imported")
    (added,) = dates.add_all([hostile, new, new])
    assert added.uid == "b"
    assert dates.get(first.event_id).title == "Tea"
    assert dates.add_all([hostile, new]) == ()


def test_events_are_added_all_or_none(dates):
    with pytest.raises(UsageProblem):
        dates.add_all([replace(TEA, uid="a"), replace(TEA, uid="b", ends=datetime(2026, 1, 1))])
    assert dates.all() == ()


def test_there_are_never_more_events_than_can_be_worked_out(dates, monkeypatch):
    monkeypatch.setattr(dates_module, "MOST_EVENTS", 2)
    dates.add(TEA)
    with pytest.raises(UsageProblem, match="do not fit"):
        dates.add_all([replace(TEA, uid="a"), replace(TEA, uid="b")])
    assert len(dates.all()) == 1


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"title": " "}, id="without_title"),
        pytest.param({"title": "x" * 501}, id="long_title"),
        pytest.param({"notes": "\ud83d"}, id="half_a_character"),
        pytest.param({"ends": datetime(2026, 3, 1)}, id="ends_before_it_starts"),
    ],
)
def test_what_is_no_event_is_refused(dates, changes):
    with pytest.raises(UsageProblem):
        dates.add(replace(TEA, **changes))


def test_a_reminder_is_told_once(dates):
    event = dates.add(TEA)
    assert dates.tell(event.event_id, NINE)
    assert not dates.tell(event.event_id, NINE)
    assert dates.told(event.event_id) == {"2026-03-02T09:00:00"}
    with pytest.raises(UnknownName):
        dates.tell(99, NINE)


def test_an_erased_event_is_gone_with_what_was_told(dates):
    event = dates.add(TEA)
    dates.tell(event.event_id, NINE)
    dates.erase(event.event_id)
    assert dates.told(event.event_id) == frozenset()
    with pytest.raises(UnknownName, match="no event"):
        dates.get(event.event_id)


def test_what_was_imported_is_erased_by_its_numbers_and_can_be_imported_again(dates):
    mine = dates.add(TEA)
    added = dates.add_all([replace(TEA, uid=name, source="imported") for name in "abc"])
    assert [event.event_id for event in added] == [2, 3, 4]
    assert dates.imported(1, 3) == added[:2]
    assert dates.erase_imported(1, 3) == added[:2]
    assert dates.all() == (mine, added[2])
    assert len(dates.add_all([replace(TEA, uid="a", source="imported")])) == 1


def test_events_are_salvaged(database_path, tmp_path):
    with closing(Store.open(database_path)) as store:
        event = DateStore(store.database).add(TEA)
        DateStore(store.database).tell(event.event_id, NINE)
    assert salvage(database_path, tmp_path / "new.db").is_complete
    with closing(Store.open(tmp_path / "new.db")) as store:
        assert DateStore(store.database).all() == (event,)
        assert DateStore(store.database).told(event.event_id)
