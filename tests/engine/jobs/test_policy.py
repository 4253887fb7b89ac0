"""What is run of the times that are due, and what is let go."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.errors import UsageProblem
from engine.jobs.policy import ON_TIME, REPEATED_AFTER_SET_BACK, Plan, is_news, plan, require_typed, was_set_back
from engine.jobs.values import Missed, MissedKind, Schedule
from engine.values import Provenance

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def ago(*minutes: float) -> tuple[datetime, ...]:
    return tuple(NOW - timedelta(minutes=minute) for minute in minutes)


@pytest.mark.parametrize(
    ("missed", "times", "run", "let_go"),
    [
        pytest.param(Missed("skip"), ago(0), ago(0), (), id="skip, on time"),
        pytest.param(Missed("skip"), ago(1), ago(1), (), id="skip, a minute late is on time"),
        pytest.param(Missed("skip"), ago(9), (), ago(9), id="skip, late"),
        pytest.param(Missed("skip"), ago(19, 9, 0), ago(0), ago(19, 9), id="skip, late and on time"),
        pytest.param(Missed("once"), ago(29, 19, 9), ago(9), ago(29, 19), id="once, the last of them"),
        pytest.param(Missed("once"), ago(19, 9, 0), ago(0), ago(19, 9), id="once, the one on time is enough"),
        pytest.param(Missed("all", 2), ago(29, 19, 9), ago(19, 9), ago(29), id="all, the last few"),
        pytest.param(Missed("all", 5), ago(29, 19, 9), ago(29, 19, 9), (), id="all, fewer than allowed"),
        pytest.param(Missed("all", 1), ago(19, 9, 0), ago(9, 0), ago(19), id="all, and the one on time"),
        pytest.param(Missed("all", 5), (), (), (), id="nothing was due"),
    ],
)
def test_missed_times_go_by_the_policy_of_the_job(
    missed: Missed, times: tuple[datetime, ...], run: tuple[datetime, ...], let_go: tuple[datetime, ...]
) -> None:
    assert plan(missed, times, NOW) == Plan(run, let_go)


@pytest.mark.parametrize(
    ("missed", "run"), [(Missed("skip"), ()), (Missed("once"), ago(0.5)), (Missed("all", 3), ago(0.5))]
)
def test_a_run_that_broke_off_counts_as_missed_however_short_ago(missed: Missed, run: tuple[datetime, ...]) -> None:
    assert plan(missed, (), NOW, interrupted=ago(0.5)).run == run


@given(
    kind=some.sampled_from(get_args(MissedKind)),
    most=some.integers(1, 5),
    minutes=some.lists(some.integers(0, 50), unique=True, max_size=12),
    broken=some.lists(some.integers(60, 90), unique=True, max_size=3),
)
def test_every_time_is_either_run_or_let_go(kind: MissedKind, most: int, minutes: list[int], broken: list[int]) -> None:
    times, interrupted = ago(*minutes), ago(*broken)
    decided = plan(Missed(kind, most), times, NOW, interrupted)
    assert sorted(decided.run + decided.let_go) == sorted({*times, *interrupted})
    assert list(decided.run) == sorted(decided.run)
    assert len(decided.run) <= {"skip": 1, "once": 1, "all": most + 1}[kind]
    assert any(NOW - time <= ON_TIME for time in decided.run) == any(NOW - time <= ON_TIME for time in times)


def test_a_clock_that_is_set_back_a_little_plans_nothing_anew() -> None:
    daily, often = Schedule("cron", "0 9 * * *", "UTC"), Schedule("every", "600", "UTC", NOW.isoformat())
    once = Schedule("once", NOW.isoformat(), "UTC")
    second, hour, year = timedelta(seconds=1), timedelta(hours=1), timedelta(days=365)
    assert [was_set_back(daily, NOW, NOW - gap) for gap in (second, hour, REPEATED_AFTER_SET_BACK, year)] == [
        False,
        False,
        False,
        True,
    ]
    assert [was_set_back(often, NOW, NOW - gap) for gap in (second, hour, year)] == [False, True, True]
    assert not was_set_back(once, NOW, NOW - year)


@pytest.mark.parametrize("provenance", get_args(Provenance))
def test_I3_only_what_a_person_typed_makes_a_job(provenance: Provenance) -> None:
    if provenance == "typed":
        require_typed(provenance)
    else:
        with pytest.raises(UsageProblem, match="Only what you type"):
            require_typed(provenance)


def test_the_same_trouble_is_news_once() -> None:
    assert is_news("blocked", None) and is_news("blocked", "done") and is_news("failed", "blocked")
    assert not is_news("blocked", "blocked") and not is_news("failed", "failed")
    assert not is_news("done", "failed") and not is_news("missed", None)
