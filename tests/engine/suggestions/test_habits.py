"""A habit is the same kind of request at about the same time of the day or of the week, on three days."""

from datetime import UTC, datetime, timedelta

import pytest

from engine.suggestions.habits import habits
from engine.suggestions.values import Asked

MONDAY = datetime(2026, 11, 30, 8, 10, tzinfo=UTC)
WEATHER = "What is the weather in Bergen today?"
WEATHER_ZH = "杭州今天天气怎么样？"


def asked(*when: datetime, text: str = WEATHER) -> list[Asked]:
    """The newest first."""
    return [Asked(f"t-{number}", text, at) for number, at in enumerate(sorted(when, reverse=True))]


def days_ago(*days: float) -> list[datetime]:
    return [MONDAY - timedelta(days=day) for day in days]


@pytest.mark.parametrize("text", [WEATHER, WEATHER_ZH])
def test_asked_on_three_working_days_in_a_row_is_a_habit_of_working_days(text):
    (found,) = habits(asked(*days_ago(0, 3, 4), text=text), [], "Europe/Oslo")
    assert (found.kind, found.about.turn_id) == ("habit", "t-0")
    assert found.facts["cron"] == "10 8 * * mon-fri"
    assert (found.facts["count"], found.facts["time"], found.facts["zone"]) == ("3", "08:10", "Europe/Oslo")
    assert found.facts["days"] == "2026-11-26, 2026-11-27, 2026-11-30"


def test_asked_on_a_weekend_too_it_is_of_every_day():
    (found,) = habits(asked(*days_ago(0, 1, 2)), [], "UTC")
    assert found.facts["cron"] == "10 8 * * *"


def test_asked_on_three_mondays_it_is_of_mondays():
    (found,) = habits(asked(*days_ago(0, 7, 14)), [], "UTC")
    assert found.facts["cron"] == "10 8 * * mon"


@pytest.mark.parametrize(
    ("when", "what"),
    [
        pytest.param(days_ago(0, 1), "twice", id="twice"),
        pytest.param([*days_ago(0, 1), MONDAY + timedelta(minutes=5)], "three times on two days", id="two_days"),
        pytest.param([MONDAY, *(MONDAY - timedelta(days=day, hours=5 * day) for day in (1, 2))], "times", id="times"),
        pytest.param(days_ago(0, 12, 25), "now and then", id="now_and_then"),
        pytest.param(days_ago(0, 21, 42), "every third week", id="too_seldom"),
    ],
)
def test_less_is_no_habit(when, what):
    assert habits(asked(*when), [], "UTC") == [], what


def test_words_may_differ_and_the_time_is_the_middle_one():
    texts = ("Weather in Bergen today?", "What's the weather in Bergen?", "weather today in Bergen please")
    moments = (MONDAY + timedelta(minutes=20), MONDAY - timedelta(days=1), MONDAY - timedelta(days=2, minutes=10))
    (found,) = habits([Asked(f"t-{at}", text, at) for text, at in zip(texts, moments, strict=True)], [], "UTC")
    assert found.facts["time"] == "08:10"


def test_around_midnight_the_middle_is_not_noon():
    night = datetime(2026, 11, 30, 0, 10, tzinfo=UTC)
    when = (night, night - timedelta(days=1, minutes=30), night - timedelta(days=1, minutes=20) - timedelta(days=1))
    (found,) = habits(asked(*when), [], "UTC")
    assert found.facts["time"] in ("23:45", "23:50")


def test_other_requests_are_told_apart():
    news = asked(*days_ago(0.1, 1.1, 2.1), text="Summarise the football results")
    mixed = sorted([*asked(*days_ago(0, 1, 2)), *news], key=lambda one: one.at, reverse=True)
    assert len(habits(mixed, [], "UTC")) == 2
    thanks = [Asked("t", "Thanks!", at) for at in days_ago(0, 1, 2)]
    assert habits(thanks, [], "UTC") == []


def test_what_a_job_does_already_is_no_news():
    assert habits(asked(*days_ago(0, 1, 2)), ["weather in Bergen today"], "UTC") == []


def test_the_same_habit_has_the_same_key_a_day_later_and_no_words_in_it():
    (first,) = habits(asked(*days_ago(1, 2, 3)), [], "UTC")
    (later,) = habits(asked(*days_ago(0, 1, 2, 3)), [], "UTC")
    assert first.key == later.key
    assert "weather" not in str(later).lower()
