"""The thread count is measured, and more threads must earn their cores."""

from pathlib import Path

import pytest

from engine.runtime import threads
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import LoadPlan


@pytest.mark.parametrize(("cores", "expected"), [(1, (1,)), (2, (1, 2)), (8, (1, 4, 8)), (3, (1, 3))])
def test_a_few_counts_are_tried(cores: int, expected: tuple[int, ...]) -> None:
    assert threads.candidates(cores) == expected


@pytest.mark.parametrize(
    ("seconds", "chosen"),
    [
        ({1: 1.0, 2: 0.55}, 2),
        ({1: 1.0, 2: 0.95}, 1),
        ({1: 1.0, 2: 20.0}, 1),
        ({1: 1.0, 4: 0.3, 8: 0.29}, 4),
        ({1: 1.0, 4: 0.3, 8: 0.2}, 8),
        ({1: 1.0}, 1),
    ],
    ids=["faster", "hardly faster", "collapsed", "half the cores do", "all cores", "one core"],
)
def test_more_threads_must_be_worth_it(seconds: dict[int, float], chosen: int) -> None:
    assert threads.choose(seconds) == chosen


def test_the_better_of_two_interleaved_passes_counts() -> None:
    times = iter([0.0, 0.0, 9.0, 9.0, 10.0, 10.0, 10.0, 11.0, 11.0, 12.0, 12.0])
    order: list[tuple[int, int]] = []
    measured = threads.measure((1, 2), lambda count, tokens: order.append((count, tokens)), clock=lambda: next(times))
    assert measured == {1: 9.0, 2: 1.0}, "the budget ends after a slow first pass"
    assert order == [(1, 1), (1, 6), (2, 1), (2, 6)]


@pytest.mark.model
def test_the_runtime_says_how_many_threads_it_took_and_leaves_no_trace(starter_base: Path) -> None:
    runtime = LlamaRuntime()
    try:
        info = runtime.load(LoadPlan(str(starter_base), context_tokens=256, pool_tokens=256))
        assert 1 <= info.threads <= threads.usable_cores()
        assert f"{info.threads} thread" in info.backend
        assert info.backend_reason
        assert runtime.views() == ()
        fixed = runtime.load(LoadPlan(str(starter_base), context_tokens=256, pool_tokens=256, threads=1))
        assert fixed.threads == 1
    finally:
        runtime.close()
