"""At most one at a time, few a day, none of what was refused; and when it is too late for an answer."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from engine.suggestions.choosing import choose, has_expired, quiet_kinds
from engine.suggestions.values import Candidate, Suggestion

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HABIT, STALE, DUE = (Candidate(kind, f"{kind}:1") for kind in ("habit", "stale", "due"))


def made(kind, state, hours_ago, number=1, text="I live in Bergen", **facts):
    at = (NOW - timedelta(hours=hours_ago)).isoformat()
    return Suggestion(number, kind, f"{kind}:old-{number}", text, facts, state, at)


def chosen(candidates, past=(), most_a_day=3, off=()):
    counted = [one.suggestion_id for one in past]
    return choose(candidates, past, NOW, most_a_day=most_a_day, off=off, counted=counted)


def test_the_most_pressing_one_is_chosen():
    assert chosen([STALE, HABIT, DUE]) is DUE
    assert chosen([]) is None


def test_while_one_is_open_there_is_no_other():
    assert chosen([DUE], [made("stale", "offered", 30)]) is None


def test_only_so_many_are_made_on_a_day():
    past = [made("break", "accepted", hours, hours) for hours in (2, 4)]
    assert chosen([DUE], past, most_a_day=2) is None
    assert chosen([DUE], past, most_a_day=3) is DUE
    yesterday = [made("break", "accepted", hours, hours) for hours in (13, 14)]
    assert chosen([DUE], yesterday, most_a_day=1) is DUE
    assert chosen([DUE], most_a_day=0) is None


def test_they_keep_apart():
    assert chosen([DUE], [made("break", "dismissed", 0.5)]) is None


@pytest.mark.parametrize("state", ["accepted", "dismissed", "expired"])
def test_the_same_is_suggested_once_only(state):
    assert chosen([DUE], [replace(made("due", state, 30), key=DUE.key)]) is None


def test_dismissed_twice_in_a_row_a_kind_is_quiet_and_the_others_are_not():
    past = [made("habit", "dismissed", 30, 3), made("habit", "expired", 40, 2), made("habit", "dismissed", 50, 1)]
    assert quiet_kinds(past) == {"habit"}
    assert chosen([HABIT], past) is None
    assert chosen([HABIT, STALE], past) is STALE
    assert choose([HABIT], past, NOW, most_a_day=3, off=(), counted=()) is HABIT
    assert quiet_kinds([made("habit", "dismissed", 30), made("habit", "accepted", 40)]) == frozenset()


def test_a_kind_that_is_off_is_not_chosen():
    assert chosen([HABIT], off=["habit"]) is None


def test_after_a_while_it_is_too_late_to_answer():
    assert not has_expired(made("stale", "offered", 70), NOW)
    assert has_expired(made("stale", "offered", 73), NOW)
    assert has_expired(made("break", "offered", 1, text=""), NOW)
    assert not has_expired(made("break", "offered", 0.2, text=""), NOW)
    assert not has_expired(made("stale", "dismissed", 100), NOW)
    assert has_expired(made("due", "offered", 0, remind_at=NOW.isoformat()), NOW)


def test_without_its_words_there_is_nothing_to_answer():
    assert has_expired(made("stale", "offered", 0, text=""), NOW)
