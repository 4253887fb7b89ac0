"""A reminder is told once, at its time or soon after the computer wakes, also over a restart."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from engine.harness.builtin.dates.reminders import due_now, tell
from engine.store import Store
from engine.store.dates import DateStore, Event

BERLIN = ZoneInfo("Europe/Berlin")
NINE = datetime(2026, 3, 2, 9)


def at(hour, minute=0, day=2):
    return datetime(2026, 3, day, hour, minute, tzinfo=BERLIN)


def test_a_reminder_is_told_once_also_after_a_restart(tmp_path):
    with Store.open(tmp_path / "macaron.db") as store:
        dates = DateStore(store.database)
        dates.add(Event("Tea", NINE, NINE, zone="Europe/Berlin", rule="FREQ=DAILY", remind_minutes=30))
        dates.add(Event("Quiet", NINE, NINE, zone="Europe/Berlin"))
        assert due_now(dates, at(8, 29), BERLIN) == []
        (one,) = due_now(dates, at(8, 30), BERLIN)
        assert one.event.title == "Tea"
        assert tell(dates, one)
        assert not tell(dates, one)
    with Store.open(tmp_path / "macaron.db") as store:
        dates = DateStore(store.database)
        assert due_now(dates, at(8, 31), BERLIN) == []
        assert [one.starts for one in due_now(dates, at(8, 30, day=3), BERLIN)] == [at(9, day=3)]


def test_I1_what_was_slept_through_is_told_if_it_is_not_long_ago(tmp_path):
    with Store.open(tmp_path / "macaron.db") as store:
        dates = DateStore(store.database)
        dates.add(Event("Tea", NINE, NINE, zone="Europe/Berlin", remind_minutes=0))
        assert len(due_now(dates, at(20, 59), BERLIN)) == 1
        assert due_now(dates, at(21, 1), BERLIN) == []
        assert len(due_now(dates, at(21, 1), BERLIN, timedelta(days=2))) == 1


def test_a_reminder_weeks_before_its_event_is_due(tmp_path):
    with Store.open(tmp_path / "macaron.db") as store:
        dates = DateStore(store.database)
        day = datetime(2026, 3, 30)
        dates.add(Event("Fair", day, day + timedelta(days=1), is_all_day=True, remind_minutes=28 * 24 * 60))
        # The clocks go forward on the 29th, so that 28 times 24 hours before midnight is eleven in the evening.
        assert due_now(dates, at(22, 59, day=1), BERLIN) == []
        assert len(due_now(dates, at(23, 0, day=1), BERLIN)) == 1
