"""The day that a sentence speaks of, said on a Monday."""

from datetime import date

import pytest

from engine.memory.writing.days import day_said, speaks_of_time_to_come

MONDAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("tomorrow at nine", "2026-12-01"),
        ("the day after tomorrow", "2026-12-02"),
        ("on Friday", "2026-12-04"),
        ("next Friday", "2026-12-11"),
        ("on 3 December", "2026-12-03"),
        ("December 3rd", "2026-12-03"),
        ("on 12 May", "2027-05-12"),
        ("May 5, 2028", "2028-05-05"),
        ("2026-12-24", "2026-12-24"),
        ("in two weeks", "2026-12-14"),
        ("in 3 days", "2026-12-03"),
        ("明天", "2026-12-01"),
        ("后天", "2026-12-02"),
        ("大后天", "2026-12-03"),
        ("这周三", "2026-12-02"),
        ("下周五", "2026-12-11"),
        ("下下周一", "2026-12-14"),
        ("12月3号", "2026-12-03"),
        ("2027年1月2日", "2027-01-02"),
        ("三天后", "2026-12-03"),
        ("两周后", "2026-12-14"),
    ],
)
def test_the_day_is_understood(said, day):
    assert day_said(f"I go {said}.", MONDAY) == date.fromisoformat(day)


@pytest.mark.parametrize("said", ["I like tea", "31 February", "on Fridays", "我喜欢茶", "2026-13-40", "13月40号"])
def test_there_is_no_day(said):
    assert day_said(said, MONDAY) is None


@pytest.mark.parametrize(
    ("said", "is_to_come"),
    [("in May", True), ("next year", True), ("last May in winter", False), ("明年", True), ("去年", False)],
)
def test_a_time_without_a_day(said, is_to_come):
    assert speaks_of_time_to_come(said) is is_to_come
