"""Which rollouts are imitated."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.requirements import require_module

require_module("torch")

from local_training.losses import best_of, rewarded  # noqa: E402

REWARDS = st.lists(st.floats(-10, 10), max_size=10)


@given(rewards=REWARDS, keep=st.integers(0, 12), least=st.floats(-10, 10))
def test_the_best_are_kept_and_nothing_that_was_left_out_is_better(rewards, keep, least):
    kept = best_of(rewards, keep, least)
    allowed = rewarded(rewards, least)
    assert len(kept) == min(keep, len(allowed))
    assert list(kept) == sorted(kept)
    assert set(kept) <= set(allowed)
    left_out = [rewards[place] for place in allowed if place not in kept]
    assert not left_out or not kept or min(rewards[place] for place in kept) >= max(left_out)


def test_of_equal_rewards_the_earlier_is_kept():
    assert best_of([0.5, 1.0, 1.0, 1.0], keep=2) == (1, 2)


def test_a_group_without_a_good_answer_teaches_nothing():
    assert best_of([0.1, 0.2], at_least=0.5) == ()
    assert best_of([]) == ()


def test_a_threshold_keeps_all_that_reach_it():
    assert rewarded([0.5, 0.4, 1.0, -1.0], at_least=0.5) == (0, 2)


def test_a_reward_that_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        best_of([1.0, math.nan])
    with pytest.raises(ValueError, match="NaN"):
        rewarded([math.nan], at_least=0.0)
