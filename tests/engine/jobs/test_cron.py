"""Cron texts mean what other crons mean by them."""

from datetime import datetime

import pytest

from engine.errors import UsageProblem
from engine.jobs.cron import after, checked_cron, next_wall_time

MONDAY = datetime(2026, 6, 1)


def days(field: str) -> str:
    """The days of the week of a field, from Monday on."""
    start, found = MONDAY, []
    while (following := next_wall_time(f"0 9 * * {field}", start)) is not None and (following - MONDAY).days < 7:
        found.append(following.strftime("%a"))
        start = after(following)
    return " ".join(found)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("0", "Sun"),
        ("7", "Sun"),
        ("1-5", "Mon Tue Wed Thu Fri"),
        ("mon-fri", "Mon Tue Wed Thu Fri"),
        ("6,0", "Sat Sun"),
        ("5-7", "Fri Sat Sun"),
        ("fri-sun", "Fri Sat Sun"),
        ("*/2", "Tue Thu Sat Sun"),
        ("1-5/2", "Mon Wed Fri"),
        ("2/2", "Tue Thu Sat"),
    ],
)
def test_days_of_the_week_are_counted_from_sunday(field: str, expected: str) -> None:
    assert days(field) == expected


def test_fields_are_written_down_in_one_way() -> None:
    assert checked_cron("  30  8 *\t* MON-FRI ") == "30 8 * * mon-fri"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "30 8 * *",
        "0 30 8 * * *",
        "60 8 * * *",
        "30 24 * * *",
        "30 8 32 * *",
        "30 8 * 13 *",
        "30 8 * * 8",
        "30 8 * * someday",
        "30 8 * * fri-mon",
        "30 8 * * 1-5/0",
        "*/0 8 * * *",
        "30 8 * * mon;reboot",
        "@daily",
        "1" * 400 + " 8 * * *",
        "٣ 8 * * *x",
    ],
)
def test_what_is_no_schedule_is_refused_in_our_words(text: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        checked_cron(text)
    assert "30 8 * * mon-fri" in refused.value.hint


def test_a_day_of_the_month_with_a_day_of_the_week_is_refused_as_programs_differ() -> None:
    with pytest.raises(UsageProblem, match="a day of the month and a day of the week"):
        checked_cron("0 9 13 * fri")


def test_a_text_that_is_never_due_has_no_next_time() -> None:
    assert next_wall_time("0 9 30 2 *", MONDAY) is None
