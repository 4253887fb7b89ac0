"""Bounds of means, against what chance really does to samples."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.bootstrap import mean_bounds

CHANGES = st.lists(st.floats(-3, 3).map(lambda value: round(value, 3)), min_size=2, max_size=40)


@pytest.mark.parametrize(
    ("name", "draw", "mean"),
    [
        pytest.param("normal", lambda generator: generator.normal(0.2, 1.0, 60), 0.2, id="symmetric"),
        pytest.param("skewed", lambda generator: generator.exponential(1.0, 60), 1.0, id="a tail of bad changes"),
        pytest.param("skewed", lambda generator: -generator.exponential(1.0, 60), -1.0, id="a tail of good changes"),
    ],
)
def test_each_bound_alone_is_wrong_about_once_in_twenty_samples(name, draw, mean):
    generator, wrong = np.random.default_rng(1), [0, 0]
    for sample in range(400):
        low, high = mean_bounds(draw(generator), resamples=400, seed=sample)
        wrong[0] += low > mean
        wrong[1] += high < mean
    # Twenty of 400, give or take three standard deviations and what sixty values cost any bootstrap.
    assert all(7 <= times <= 38 for times in wrong), wrong


@settings(max_examples=60, deadline=None)
@given(changes=CHANGES)
def test_the_bounds_lie_around_the_mean_and_within_the_changes(changes):
    low, high = mean_bounds(changes, resamples=200)
    mean = sum(changes) / len(changes)
    assert min(changes) - 1e-9 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= max(changes) + 1e-9


@settings(max_examples=60, deadline=None)
@given(changes=CHANGES, factor=st.sampled_from([0.5, 2.0, 4.0]), shift=st.sampled_from([-2.0, 0.0, 1.0]))
def test_another_unit_gives_the_same_bounds_in_that_unit(changes, factor, shift):
    low, high = mean_bounds(changes, resamples=200)
    moved = mean_bounds([factor * change + shift for change in changes], resamples=200)
    assert moved == pytest.approx((factor * low + shift, factor * high + shift), abs=0.02 * factor)


def test_the_same_seed_gives_the_same_bounds_and_another_seed_others():
    changes = np.random.default_rng(3).normal(size=50)
    assert mean_bounds(changes, seed=5) == mean_bounds(changes, seed=5)
    assert mean_bounds(changes, seed=5) != mean_bounds(changes, seed=6)


def test_less_alpha_gives_wider_bounds():
    changes = np.random.default_rng(3).normal(size=50)
    low, high = mean_bounds(changes, alpha=0.05)
    wider_low, wider_high = mean_bounds(changes, alpha=0.01)
    assert wider_low < low < high < wider_high


def test_many_changes_are_drawn_in_portions_and_bounded_all_the_same():
    changes = np.random.default_rng(0).normal(0.5, 1.0, 5000)
    low, high = mean_bounds(changes, resamples=1000)
    half = 1.645 / math.sqrt(5000)
    assert (low, high) == pytest.approx((changes.mean() - half, changes.mean() + half), abs=half / 5)


def test_changes_that_are_all_alike_have_no_width_and_a_single_one_no_bounds():
    assert mean_bounds([0.25] * 40) == (0.25, 0.25)
    assert mean_bounds([0.25]) == (-math.inf, math.inf)


@pytest.mark.parametrize("changes", [[], [1.0, math.nan], [1.0, math.inf]], ids=["none", "NaN", "infinite"])
def test_a_mean_that_does_not_exist_has_no_bounds(changes):
    with pytest.raises(ValueError, match="no bounds"):
        mean_bounds(changes)
