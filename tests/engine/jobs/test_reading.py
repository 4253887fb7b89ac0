"""What a person writes of a time becomes the schedule they mean, or is refused with what to write instead."""

from datetime import UTC, datetime, timedelta

import pytest

from engine.errors import UsageProblem
from engine.jobs.reading import cron, duration, every, once_at, once_in, require_sound, stamp
from engine.jobs.values import Schedule

BERLIN = "Europe/Berlin"
NOW = datetime(2026, 6, 1, 12, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        pytest.param("2026-12-24 18:00", "2026-12-24T17:00:00.000+00:00", id="by the clocks of the zone"),
        pytest.param("2026-07-01T08:30", "2026-07-01T06:30:00.000+00:00", id="in summer"),
        pytest.param("2026-12-24T18:00-05:00", "2026-12-24T23:00:00.000+00:00", id="with an offset of its own"),
        pytest.param("2027-03-28 02:30", "2027-03-28T01:00:00.000+00:00", id="a time that the clocks skip"),
        pytest.param("2026-10-25 02:30", "2026-10-25T00:30:00.000+00:00", id="a time that they show twice"),
    ],
)
def test_a_date_and_time_is_a_moment(text: str, moment: str) -> None:
    assert once_at(text, BERLIN, NOW) == Schedule("once", moment, BERLIN)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2026-06-01 14:00", "over"),
        ("2050-01-01 09:00", "over, or more than ten years"),
        ("9999-12-31T23:59-23:59", "over, or more than ten years"),
        ("2026-12-24", "no time of day"),
        ("tomorrow", "no date and time"),
        ("2026-02-30 09:00", "no date and time"),
    ],
)
def test_what_is_no_moment_to_come_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageProblem, match=problem):
        once_at(text, BERLIN, NOW)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90s", timedelta(seconds=90)),
        ("20m", timedelta(minutes=20)),
        ("1h30m", timedelta(minutes=90)),
        (" 1 W ", timedelta(days=7)),
    ],
)
def test_lengths_of_time(text: str, length: timedelta) -> None:
    assert duration(text) == length
    assert once_in(text, BERLIN, NOW).text == stamp(NOW + length)


@pytest.mark.parametrize("text", ["", "0m", "-5m", "5", "m", "5 minutes", "1.5h", "99999999999m", "999999999w", "5m;"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(UsageProblem, match="no length of time"):
        duration(text)


def test_what_repeats_does_so_every_minute_at_most() -> None:
    assert every("1m", BERLIN, NOW) == Schedule("every", "60", BERLIN, stamp(NOW))
    with pytest.raises(UsageProblem, match="too short"):
        every("59s", BERLIN, NOW)


def test_a_cron_text_that_is_never_due_is_refused() -> None:
    with pytest.raises(UsageProblem, match="never due"):
        cron("0 9 30 2 *", BERLIN, NOW)


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule("once", "2026-06-01T11:59:00+00:00", BERLIN),
        Schedule("once", "2026-07-01T12:00:00", BERLIN),
        Schedule("once", "soon", BERLIN),
        Schedule("once", "2126-07-01T12:00:00+00:00", BERLIN),
        Schedule("every", "5", BERLIN, stamp(NOW)),
        Schedule("every", "600", BERLIN, ""),
        Schedule("every", "600", BERLIN, "0001-01-01T00:00:00+00:00"),
        Schedule("every", "9" * 30, BERLIN, stamp(NOW)),
        Schedule("cron", "0 9 * *", BERLIN),
        Schedule("cron", "0 9 * * *", "Nowhere"),
    ],
)
def test_a_schedule_from_elsewhere_is_looked_at_before_it_is_kept(schedule: Schedule) -> None:
    with pytest.raises(UsageProblem):
        require_sound(schedule, NOW)


def test_a_moment_that_passed_while_a_host_was_started_is_due_at_once() -> None:
    schedule = once_in("1s", BERLIN, NOW)
    assert require_sound(schedule, NOW + timedelta(seconds=59)) == NOW + timedelta(seconds=1)
