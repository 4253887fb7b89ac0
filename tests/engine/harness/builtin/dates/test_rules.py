"""Events repeat as calendars mean it, over changes of the clock, and no rule of others keeps the program busy."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from engine.errors import UsageProblem
from engine.harness.builtin.dates.occurrences import due, occurrence_at, occurrences
from engine.harness.builtin.dates.rules import checked_rule, starts_between
from engine.store.dates import Event

BERLIN = ZoneInfo("Europe/Berlin")
SHANGHAI = ZoneInfo("Asia/Shanghai")
MONDAY = datetime(2026, 3, 2, 9)


def days(rule, starts=MONDAY, first=datetime(2026, 1, 1), last=datetime(2027, 1, 1), limit=4):
    found = starts_between(checked_rule(rule, starts, BERLIN), starts, first, last)
    return [f"{moment:%m-%d}" for moment, _ in zip(found, range(limit), strict=False)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        pytest.param("daily", ["03-02", "03-03", "03-04", "03-05"], id="daily"),
        pytest.param("weekdays", ["03-02", "03-03", "03-04", "03-05"], id="weekdays"),
        pytest.param("Weekly", ["03-02", "03-09", "03-16", "03-23"], id="weekly"),
        pytest.param("monthly", ["03-02", "04-02", "05-02", "06-02"], id="monthly"),
        pytest.param("yearly", ["03-02"], id="yearly"),
        pytest.param("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH", ["03-02", "03-05", "03-16", "03-19"], id="two_weeks"),
        pytest.param("RRULE:FREQ=MONTHLY;BYDAY=-1FR", ["03-27", "04-24", "05-29", "06-26"], id="last_friday"),
        pytest.param("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1", ["03-02", "04-06", "05-04", "06-01"], id="first_of"),
        pytest.param("FREQ=DAILY;COUNT=2", ["03-02", "03-03"], id="count"),
        pytest.param("FREQ=DAILY;UNTIL=20260303", ["03-02", "03-03"], id="until_a_day"),
        pytest.param("FREQ=DAILY;UNTIL=20260303T080000Z", ["03-02", "03-03"], id="until_a_moment_there"),
        pytest.param("FREQ=DAILY;UNTIL=20260303T075959Z", ["03-02"], id="until_a_moment_before"),
    ],
)
def test_a_rule_gives_its_days(rule, expected):
    assert days(rule) == expected


def test_an_old_rule_gives_the_same_days_as_when_it_is_followed_from_its_start():
    start = datetime(1971, 5, 5, 9)
    rule = checked_rule("FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,WE,SU;WKST=SU", start, BERLIN)
    all_days = list(starts_between(rule, start, start, datetime(2027, 1, 1)))
    for offset in range(25):
        first = datetime(2026, 3, 1) + timedelta(days=offset)
        last = first + timedelta(days=60)
        assert list(starts_between(rule, start, first, last)) == [day for day in all_days if first <= day < last]


@pytest.mark.parametrize(
    "rule",
    [
        *("FREQ=SECONDLY", "FREQ=MINUTELY;INTERVAL=1", "FREQ=HOURLY", "FREQ=WEEKLY;BYHOUR=1"),
        *("FREQ=YEARLY;BYYEARDAY=1", "FREQ=YEARLY;BYWEEKNO=1", "FREQ="),
        *("INTERVAL=2", "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;INTERVAL=99999", "FREQ=DAILY;COUNT=9999", "often"),
        *("FREQ=DAILY;COUNT=2;UNTIL=20260303", "FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY;UNTIL=20261399", "FREQ=DAILY;X=1"),
        *("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=40", "FREQ=DAILY;BYSETPOS=2"),
        *("FREQ=MONTHLY;INTERVAL=2;BYMONTH=2", "FREQ=DAILY;INTERVAL=7;BYDAY=TU", "FREQ=WEEKLY;BYMONTHDAY=1"),
        *("FREQ=YEARLY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "FREQ=DAILY;BYDAY=" + "MO," * 5000 + "MO"),
        *("FREQ=MONTHLY;BYMONTHDAY=" + "1," * 70 + "1", "FREQ=DAILY\nDTSTART:20260101", "FREQ=WEEKLY;BYDAY=9MO"),
    ],
)  # fmt: skip
def test_a_rule_that_is_none_or_never_ends_being_worked_out_is_refused(rule):
    with pytest.raises(UsageProblem, match="repetition"):
        checked_rule(rule, MONDAY, BERLIN)


def shown(found):
    return [f"{one.starts:%m-%d %H:%M}" for one in found]


def test_nine_o_clock_stays_nine_o_clock_when_the_clocks_change_and_moves_elsewhere():
    # Clocks in Berlin go forward on 2026-03-29 and back on 2026-10-25.
    event = Event("Tea", datetime(2026, 3, 28, 9), datetime(2026, 3, 28, 10), zone="Europe/Berlin", rule="FREQ=DAILY")
    first = datetime(2026, 3, 28, tzinfo=BERLIN)
    assert shown(occurrences([event], first, first + timedelta(days=3), BERLIN)) == [
        "03-28 09:00", "03-29 09:00", "03-30 09:00"
    ]  # fmt: skip
    assert shown(occurrences([event], first, first + timedelta(days=3), SHANGHAI)) == [
        "03-28 16:00", "03-29 15:00", "03-30 15:00"
    ]  # fmt: skip


def test_a_time_that_the_clocks_skip_or_repeat_takes_place_once():
    skipped = Event("A", datetime(2026, 3, 29, 2, 30), datetime(2026, 3, 29, 2, 30), zone="Europe/Berlin")
    twice = Event("B", datetime(2026, 10, 25, 2, 30), datetime(2026, 10, 25, 2, 30), zone="Europe/Berlin")
    year = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    found = occurrences([skipped, twice], *year, UTC)
    assert [f"{one.event.title} {one.starts:%H:%M}" for one in found] == ["A 01:30", "B 00:30"]
    assert shown(occurrences([skipped], *year, BERLIN)) == ["03-29 03:30"]


def test_a_reminder_in_the_hour_that_comes_twice_is_told_at_its_first_time_only():
    event = Event("B", datetime(2026, 10, 25, 2, 30), datetime(2026, 10, 25, 2, 30), zone="Europe/Berlin",
                  remind_minutes=45)  # fmt: skip
    for minute, count in ((44, 0), (45, 1)):
        now = datetime(2026, 10, 25, 1, minute, tzinfo=BERLIN)
        assert len(due([event], {}, now, timedelta(minutes=50), BERLIN)) == count
    again = datetime(2026, 10, 25, 2, 40, fold=1, tzinfo=BERLIN)
    assert due([event], {}, again, timedelta(minutes=50), BERLIN) == []


def test_what_began_before_and_still_goes_on_counts_and_what_is_over_does_not():
    event = Event("Fair", datetime(2026, 3, 1), datetime(2026, 3, 4), is_all_day=True)
    for day, count in ((28, 0), (1, 1), (3, 1), (4, 0)):
        first = datetime(2026, 2 if day == 28 else 3, day, tzinfo=BERLIN)
        assert len(occurrences([event], first, first + timedelta(days=1), BERLIN)) == count, day


def test_a_time_that_is_left_out_does_not_take_place():
    event = Event("Tea", MONDAY, MONDAY, rule="FREQ=DAILY", left_out=(datetime(2026, 3, 3, 9),))
    first = datetime(2026, 3, 2, tzinfo=BERLIN)
    assert shown(occurrences([event], first, first + timedelta(days=3), BERLIN)) == ["03-02 09:00", "03-04 09:00"]
    assert occurrence_at(event, datetime(2026, 3, 3, 9), BERLIN) is None
    assert occurrence_at(event, datetime(2026, 3, 4, 9), BERLIN).wall == datetime(2026, 3, 4, 9)


def test_one_event_never_fills_everything():
    event = Event("Tea", datetime(1970, 1, 1), datetime(1970, 1, 1), rule="FREQ=DAILY")
    found = occurrences([event], datetime(1980, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC), UTC)
    assert len(found) <= 1000


def test_what_is_due_is_told_within_its_time_and_once():
    event = Event("Tea", MONDAY, MONDAY, zone="Europe/Berlin", remind_minutes=15, rule="FREQ=DAILY", event_id=1)
    silent = Event("Quiet", MONDAY, MONDAY, zone="Europe/Berlin", event_id=2)

    def told_at(hour, minute, told=frozenset()):
        now = datetime(2026, 3, 2, hour, minute, tzinfo=BERLIN)
        return shown(due([event, silent], {1: told}, now, timedelta(hours=12), BERLIN))

    assert told_at(8, 44) == []
    assert told_at(8, 45) == ["03-02 09:00"]
    assert told_at(20, 44) == ["03-02 09:00"]
    assert told_at(20, 46) == []
    assert told_at(8, 45, frozenset(["2026-03-02T09:00:00"])) == []
