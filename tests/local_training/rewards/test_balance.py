"""Balanced reasoning: what length costs, and when it costs nothing."""

import pytest

from engine.errors import UsageProblem
from local_training.rewards import Balance, balanced

BALANCE = Balance(strength=0.5, longest_tokens=100)


def test_right_answers_lose_by_what_they_are_longer_than_the_shortest_and_a_quarter():
    rewards = balanced([1.0, 1.0, 1.0, 0.0], [True, True, True, False], [40, 50, 90, 10], BALANCE)
    # Up to 50 tokens are free; 40 more of 100 cost half of 0.4.
    assert rewards == pytest.approx((1.0, 1.0, 0.8, 0.0))


def test_a_wrong_answer_gains_and_loses_nothing_by_its_length():
    short, long = (balanced([1.0, 0.2], [True, False], [20, length], BALANCE)[1] for length in (1, 100))
    assert short == long == 0.2


def test_a_wrong_answer_never_sets_what_is_short():
    assert balanced([1.0, 1.0, 0.0], [True, True, False], [80, 80, 1], BALANCE) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(("right", "is_balanced"), [(1, False), (2, True), (3, True)])
def test_nothing_is_lost_while_less_than_half_of_the_group_is_right(right, is_balanced):
    correct = [place < right for place in range(4)]
    values = [float(is_right) for is_right in correct]
    rewards = balanced(values, correct, [100 - 30 * (place == 1) - 60 * (place == 2) for place in range(4)], BALANCE)
    assert (rewards != tuple(values)) is is_balanced


def test_the_longest_right_answer_keeps_more_than_any_wrong_one():
    assert balanced([1.0, 1.0], [True, True], [1, 1_000_000], BALANCE)[1] == pytest.approx(0.5)


def test_a_group_without_a_right_answer_is_left_as_it_is():
    assert balanced([0.1, 0.0], [False, False], [1, 2], BALANCE) == (0.1, 0.0)
    assert balanced([], [], [], BALANCE) == ()


def test_a_right_answer_below_zero_would_be_paid_for_its_length_and_is_refused():
    with pytest.raises(UsageProblem, match="negative reward"):
        balanced([-0.5, 1.0], [True, True], [90, 10], BALANCE)


@pytest.mark.parametrize(("strength", "longest"), [(-0.1, 100), (1.1, 100), (float("nan"), 100), (0.5, 0)])
def test_a_penalty_that_cannot_be_is_refused(strength, longest):
    with pytest.raises(UsageProblem, match="length penalty"):
        Balance(strength, longest)
