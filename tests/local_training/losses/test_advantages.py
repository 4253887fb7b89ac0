"""What each rollout of a prompt is credited with, and each segment of a rollout."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.requirements import require_module

require_module("torch")

from local_training.losses import (  # noqa: E402
    dr_grpo_advantages,
    grpo_advantages,
    segment_advantages,
    with_advantages,
)
from local_training.trajectory import Trajectory, TrajectorySegment  # noqa: E402

BOTH = pytest.mark.parametrize("advantages_of", [grpo_advantages, dr_grpo_advantages], ids=["grpo", "dr_grpo"])
REWARDS = st.lists(st.integers(-100, 100).map(lambda number: number / 64), min_size=2, max_size=12)
"""Multiples of 1/64, which adding a small whole number moves without rounding."""
SEGMENT = TrajectorySegment((1, 2), (3,), (-0.5,), ())


def test_advantages_are_told_apart_by_what_they_are_divided_by():
    rewards = [1.0, 0.0, 0.0, 0.0]
    assert dr_grpo_advantages(rewards) == (0.75, -0.25, -0.25, -0.25)
    assert grpo_advantages(rewards) == pytest.approx((1.5, -0.5, -0.5, -0.5), abs=1e-5)


@BOTH
@given(rewards=REWARDS, shift=st.integers(-1000, 1000))
def test_the_same_added_to_every_reward_changes_nothing(advantages_of, rewards, shift):
    moved = advantages_of([reward + shift for reward in rewards])
    assert moved == pytest.approx(advantages_of(rewards), rel=1e-6, abs=1e-9)


@BOTH
@given(rewards=REWARDS, data=st.data())
def test_each_rollout_keeps_its_advantage_in_any_order(advantages_of, rewards, data):
    order = data.draw(st.permutations(range(len(rewards))))
    advantages = advantages_of(rewards)
    assert advantages_of([rewards[place] for place in order]) == tuple(advantages[place] for place in order)


@BOTH
@given(rewards=REWARDS)
def test_advantages_of_a_group_balance_and_rank_as_the_rewards_do(advantages_of, rewards):
    advantages = advantages_of(rewards)
    assert math.fsum(advantages) == pytest.approx(0.0, abs=1e-9)
    for (first, better), (second, worse) in pairwise(zip(advantages, rewards, strict=True)):
        assert (first > second) == (better > worse)


@given(rewards=REWARDS, scale=st.integers(2, 50))
def test_only_the_divided_ones_forget_how_large_the_rewards_are(rewards, scale):
    larger = [reward * scale for reward in rewards]
    assert grpo_advantages(larger) == pytest.approx(grpo_advantages(rewards), rel=1e-3)
    assert dr_grpo_advantages(larger) == pytest.approx([scale * value for value in dr_grpo_advantages(rewards)])


@BOTH
@pytest.mark.parametrize("rewards", [[], [0.7], [0.1] * 3, [1e9] * 7, [-0.0, 0.0]])
def test_equal_rewards_or_a_single_one_give_exactly_zero(advantages_of, rewards):
    assert advantages_of(rewards) == (0.0,) * len(rewards)


@BOTH
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_reward_that_is_not_a_number_is_refused(advantages_of, bad):
    with pytest.raises(ValueError, match="not finite"):
        advantages_of([1.0, bad])


def test_the_segments_of_a_trajectory_share_its_advantage_undivided():
    group = with_advantages([Trajectory((SEGMENT,) * 3, 1.0), Trajectory((SEGMENT,), 0.0)], dr_grpo_advantages)
    assert [trajectory.advantage for trajectory in group] == [0.5, -0.5]
    assert segment_advantages(group) == (0.5, 0.5, 0.5, -0.5)


def test_a_trajectory_without_reward_or_advantage_is_refused():
    unrewarded = Trajectory((SEGMENT,))
    with pytest.raises(ValueError, match="1 of 2 trajectories have no reward"):
        with_advantages([Trajectory((SEGMENT,), 0.0), unrewarded], grpo_advantages)
    with pytest.raises(ValueError, match="trajectory 0 of 1 has no advantage"):
        segment_advantages([unrewarded])
