"""Minutes of a lesson: the run gets what its tests leave, and enough to learn something in any case."""

import time
from pathlib import Path

import pytest

from app.teaching.timing import Budget, reading_seconds
from tests.support.evaluating import open_bench

READ_S = 0.005


def budget(spent_s: float) -> Budget:
    found = Budget(600.0, lambda _progress: None)
    found.began -= spent_s
    return found


def test_what_the_tests_leave_is_learned_in():
    pace = budget(60.0).pace(READ_S, 6.0)
    assert pace.step_s == 6.0
    # 600 s without the 60 spent, 45 for the end of the run and 267 for the tests.
    assert pace.seconds == pytest.approx(228.5, abs=1.0)
    assert 0 < pace.start_s < pace.seconds


def test_a_machine_that_reads_twice_as_fast_learns_longer():
    assert budget(60.0).pace(READ_S / 2, 3.0).seconds > budget(60.0).pace(READ_S, 6.0).seconds + 100


@pytest.mark.parametrize("spent_s", [300.0, 700.0])
def test_late_there_is_still_time_for_some_steps(spent_s):
    pace = budget(spent_s).pace(READ_S, 6.0)
    assert 30.0 < pace.seconds - pace.start_s < 60.0


@pytest.mark.model
def test_a_busy_moment_does_not_make_the_machine_a_slow_one(tiny_moe: Path, monkeypatch: pytest.MonkeyPatch):
    with open_bench(tiny_moe) as bench:
        score, held_up = bench.runtime.score, iter((2.0, 2.0))

        def scored(*arguments):
            time.sleep(next(held_up, 0.0))
            return score(*arguments)

        monkeypatch.setattr(bench.runtime, "score", scored)
        assert 0 < 192 * reading_seconds(bench) < 1.0
        assert next(held_up, None) is None
