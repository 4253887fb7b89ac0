"""Groups that can teach, and how many more are drawn for those that cannot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.requirements import require_module

require_module("torch")

from local_training.losses import ResamplingPlan, is_informative, plan_resampling  # noqa: E402

WON, LOST, MIXED = (1.0, 1.0), (0.0, 0.0), (1.0, 0.0)
GROUPS = st.lists(st.sampled_from([WON, LOST, MIXED]), max_size=40)


def test_a_group_teaches_only_where_its_rollouts_differ():
    assert [is_informative(group) for group in (WON, LOST, MIXED, (), (0.5,))] == [False, False, True, False, False]


def test_enough_groups_end_the_drawing_and_the_first_are_kept():
    assert plan_resampling([WON, MIXED, LOST, MIXED, MIXED], 2, waves_drawn=1) == ResamplingPlan((1, 3), 0, 0)


def test_the_next_wave_is_as_large_as_the_share_that_was_of_use_makes_likely():
    assert plan_resampling([MIXED, WON, WON, MIXED], 5, waves_drawn=1) == ResamplingPlan((0, 3), 3, 6)
    assert plan_resampling([MIXED] * 3, 5, waves_drawn=1) == ResamplingPlan((0, 1, 2), 2, 2)


def test_a_wave_stays_bounded_where_nothing_or_hardly_anything_was_of_use():
    assert plan_resampling([WON] * 6, 3, waves_drawn=1) == ResamplingPlan((), 3, 12)
    assert plan_resampling([WON] * 99 + [MIXED], 3, waves_drawn=2) == ResamplingPlan((99,), 2, 8)


def test_before_anything_is_drawn_as_many_are_asked_for_as_are_wanted():
    assert plan_resampling([], 7, waves_drawn=0) == ResamplingPlan((), 7, 7)


@pytest.mark.parametrize("groups", [[], [WON, LOST], [WON, MIXED]])
def test_when_the_waves_are_used_up_the_step_goes_on_with_what_there_is(groups):
    plan = plan_resampling(groups, 4, waves_drawn=3, max_waves=3)
    assert plan.draw == 0
    assert plan.missing == 4 - len(plan.kept)


@given(groups=GROUPS, wanted=st.integers(0, 10), waves=st.integers(0, 6))
def test_a_plan_keeps_only_groups_that_teach_and_draws_while_some_are_missing(groups, wanted, waves):
    plan = plan_resampling(groups, wanted, waves)
    assert all(groups[place] == MIXED for place in plan.kept)
    assert len(plan.kept) + plan.missing == wanted
    assert plan.missing == 0 or len(plan.kept) == groups.count(MIXED)
    assert plan.missing <= plan.draw <= 4 * plan.missing if waves < 4 else plan.draw == 0


@given(data=st.data(), wanted=st.integers(1, 8))
def test_drawing_always_ends(data, wanted):
    groups, waves = [], 0
    while draw := plan_resampling(groups, wanted, waves).draw:
        groups += data.draw(st.lists(st.sampled_from([WON, MIXED]), min_size=draw, max_size=draw))
        waves += 1
    assert waves <= 4
    assert len(groups) <= wanted + 3 * 4 * wanted
