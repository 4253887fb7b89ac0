"""I-1: when a schedule is due, on the days on which the clocks are set and on all others."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from engine.errors import UsageProblem
from engine.jobs.times import next_after, times_until, zone_named
from engine.jobs.values import MOST_COUNTED, Schedule

BERLIN = "Europe/Berlin"
ZONES = (BERLIN, "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo")


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def by_the_clock(fields: str, after: str, count: int, zone: str = BERLIN) -> Sequence[str]:
    """The next `count` times, as the clocks of the zone show them, with their offset."""
    schedule, found, last = Schedule("cron", fields, zone), [], moment(after)
    for _ in range(count):
        following = next_after(schedule, last)
        assert following is not None and following > last
        found.append(following.astimezone(zone_named(zone)).isoformat(timespec="minutes"))
        last = following
    return found


@pytest.mark.parametrize(
    ("fields", "after", "times"),
    [
        pytest.param(
            "30 2 * * *",
            "2026-03-28T03:00+01:00",
            ["2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"],
            id="a time that is skipped comes as the clocks jump",
        ),
        pytest.param(
            "0,30 2,3 * * *",
            "2026-03-28T12:00+01:00",
            ["2026-03-29T03:00+02:00", "2026-03-29T03:30+02:00", "2026-03-30T02:00+02:00"],
            id="several that are skipped come once",
        ),
        pytest.param(
            "30 2 * * *",
            "2026-10-24T03:00+02:00",
            ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"],
            id="a time that is shown twice comes the first time only",
        ),
        pytest.param(
            "30 2 * * *",
            "2026-10-25T02:10+01:00",
            ["2026-10-26T02:30+01:00"],
            id="asked in the second of the two hours it is over",
        ),
        pytest.param(
            "*/30 * * * *",
            "2026-03-29T01:30+01:00",
            ["2026-03-29T03:00+02:00", "2026-03-29T03:30+02:00"],
            id="every half hour goes on where the clocks jump",
        ),
        pytest.param(
            "*/30 * * * *",
            "2026-10-25T02:30+02:00",
            ["2026-10-25T02:00+01:00", "2026-10-25T02:30+01:00", "2026-10-25T03:00+01:00"],
            id="every half hour comes in both of the two hours",
        ),
        pytest.param(
            "0 9 * * mon-fri",
            "2026-03-27T10:00+01:00",
            ["2026-03-30T09:00+02:00"],
            id="the wall clock counts on both sides of the jump",
        ),
    ],
)
def test_I1_when_the_clocks_are_set(fields: str, after: str, times: list[str]) -> None:
    assert by_the_clock(fields, after, len(times)) == times


def test_I1_where_the_clocks_are_set_by_half_an_hour() -> None:
    found = by_the_clock("*/20 * * * *", "2026-04-05T01:20+11:00", 3, "Australia/Lord_Howe")
    assert found == ["2026-04-05T01:40+11:00", "2026-04-05T01:40+10:30", "2026-04-05T02:00+10:30"]


def test_I1_a_day_that_an_island_left_out_is_made_up_for_at_once() -> None:
    found = by_the_clock("0 9 * * *", "2011-12-29T09:00-10:00", 2, "Pacific/Apia")
    assert found == ["2011-12-31T00:00+14:00", "2011-12-31T09:00+14:00"]


@pytest.mark.parametrize("begins", ["2026-03-29T00:10+01:00", "2026-10-25T00:10+02:00"])
def test_I1_every_so_often_takes_no_notice_of_the_clocks(begins: str) -> None:
    schedule, last = Schedule("every", "3600", BERLIN, moment(begins).astimezone(UTC).isoformat()), moment(begins)
    for _ in range(5):
        following = next_after(schedule, last)
        assert following == last + timedelta(hours=1)
        last = following


@settings(max_examples=40, deadline=None)
@given(
    zone=some.sampled_from(ZONES),
    hour=some.integers(0, 23),
    minute=some.integers(0, 59),
    start=some.datetimes(datetime(2005, 1, 1), datetime(2030, 1, 1)),
)
def test_I1_a_daily_job_comes_once_a_day_in_every_zone(zone: str, hour: int, minute: int, start: datetime) -> None:
    schedule, clocks = Schedule("cron", f"{minute} {hour} * * *", zone), zone_named(zone)
    last = start.replace(tzinfo=UTC)
    days = []
    for _ in range(30):
        following = next_after(schedule, last)
        assert following is not None and following > last
        days.append(following.astimezone(clocks).date())
        last = following
    assert len(set(days)) == 30 or zone == "Pacific/Apia"  # that made up for its lost day on the next one
    assert (days[-1] - days[0]).days in (29, 30)


@settings(max_examples=40, deadline=None)
@given(
    zone=some.sampled_from(ZONES),
    fields=some.sampled_from(["*/7 * * * *", "0 */5 * * *", "15,45 2,3 * * *", "59 23 * * sun"]),
    start=some.datetimes(datetime(2005, 1, 1), datetime(2030, 1, 1)),
    ahead_s=some.integers(1, 90_000),
)
def test_I1_no_time_is_lost_by_asking_late(zone: str, fields: str, start: datetime, ahead_s: int) -> None:
    """Whoever asks at a moment before the next time gets that same time."""
    schedule, early = Schedule("cron", fields, zone), start.replace(tzinfo=UTC)
    following = next_after(schedule, early)
    assert following is not None
    later = min(early + timedelta(seconds=ahead_s), following - timedelta(microseconds=1))
    assert next_after(schedule, later) == following


def test_what_is_due_once_is_due_once() -> None:
    at = moment("2026-12-24T17:00:00+00:00")
    schedule = Schedule("once", at.isoformat(), BERLIN)
    assert next_after(schedule, at - timedelta(seconds=1)) == at
    assert next_after(schedule, at) is None
    assert times_until(schedule, at, at + timedelta(days=4000)) == (at,)


def test_every_so_often_is_counted_from_its_beginning() -> None:
    schedule = Schedule("every", "600", BERLIN, "2026-01-01T00:03:00+00:00")
    assert next_after(schedule, moment("2020-01-01T00:00Z")) == moment("2026-01-01T00:13Z")
    assert next_after(schedule, moment("2026-01-01T00:13Z")) == moment("2026-01-01T00:23Z")
    assert next_after(schedule, moment("2026-01-01T05:00Z")) == moment("2026-01-01T05:03Z")


@pytest.mark.parametrize(
    ("schedule", "away", "first", "count", "last"),
    [
        pytest.param(Schedule("cron", "0 9 * * *", "UTC"), timedelta(days=3), "09:00", 4, "09:00", id="days"),
        pytest.param(Schedule("cron", "0 9 * * *", "UTC"), timedelta(hours=2), "09:00", 1, "09:00", id="one"),
        pytest.param(Schedule("cron", "* * * * *", "UTC"), timedelta(days=9000), "09:00", 100, "12:00", id="minutes"),
        pytest.param(Schedule("cron", "0 * * * *", "UTC"), timedelta(hours=9), "03:00", 10, "12:00", id="hours"),
        pytest.param(
            Schedule("every", "60", "UTC", "2026-01-01T00:00+00:00"), timedelta(days=99), "12:00", 100, "12:00", id="60"
        ),
    ],
)
def test_the_last_times_are_found_however_long_ago_they_began(
    schedule: Schedule, away: timedelta, first: str, count: int, last: str
) -> None:
    until = moment("2040-06-01T12:00Z")
    began = (until - away).replace(hour=int(first[:2]), minute=0)
    times = times_until(schedule, began, until)
    assert len(times) == min(count, MOST_COUNTED)
    assert list(times) == sorted(set(times))
    assert times[-1].strftime("%H:%M") == last and times[-1] <= until


def test_a_leap_day_that_was_missed_years_ago_is_known() -> None:
    schedule, day = Schedule("cron", "0 9 29 2 *", "UTC"), moment("2024-02-29T09:00Z")
    assert times_until(schedule, day, moment("2027-09-01T00:00Z")) == (day,)


def test_before_the_first_time_there_is_none() -> None:
    schedule = Schedule("cron", "0 9 * * *", "UTC")
    assert times_until(schedule, moment("2026-01-02T09:00Z"), moment("2026-01-02T08:59Z")) == ()


def test_a_zone_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageProblem, match="no time zone 'Mars/Base'"):
        zone_named("Mars/Base")
    with pytest.raises(UsageProblem, match="no time zone"):
        zone_named("../../etc/passwd")
