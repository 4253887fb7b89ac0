"""Held-out items before and after, paired."""

import pytest

from local_training.runs.comparison import Means, compare
from local_training.runs.evaluations import EvaluatedItem
from tests.local_training.runs.reporting import answers, losses


def test_items_are_paired_by_their_id_and_those_of_one_side_do_not_count():
    before = [EvaluatedItem("a", correct=True), EvaluatedItem("b", correct=False), EvaluatedItem("gone", correct=True)]
    after = [EvaluatedItem("new", correct=True), EvaluatedItem("b", correct=True), EvaluatedItem("a", correct=True)]
    found = compare((0, before), (20, after), {})
    assert (found.step_before, found.step_after, found.items) == (0, 20, 2)
    assert found.accuracy is not None
    assert (found.accuracy.before.right, found.accuracy.after.right, found.accuracy.after.n) == (1, 2, 2)
    assert (found.accuracy.paired.gained, found.accuracy.paired.lost) == (1, 0)


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        pytest.param("------++", "++++++++", "better", id="six_gained"),
        pytest.param("-----+++", "++++++++", "same", id="five_gained_may_be_chance"),
        pytest.param("++++++--", "--------", "worse", id="six_lost"),
        pytest.param("+-+-", "+-+-", "same", id="nothing_changed"),
    ],
)
def test_a_change_is_one_that_chance_would_not_explain(before, after, outcome):
    assert compare((0, answers(before)), (9, answers(after)), {}).outcome == outcome


def test_items_that_became_wrong_come_first_with_what_was_asked():
    found = compare((0, answers("-+-+")), (9, answers("+--+")), {"sum-1": "What is 5 + 7?"})
    assert [(one.before.item_id, one.became_right, one.question) for one in found.changes] == [
        ("sum-1", False, "What is 5 + 7?"),
        ("sum-0", True, ""),
    ]


def test_examples_are_compared_by_how_many_losses_fell():
    found = compare((0, losses([2, 2, 2, 2, 2, 2, 2])), (9, losses([1, 1, 1, 1, 1, 1, 2])), {})
    assert found.accuracy is None
    assert found.loss is not None
    assert (found.loss.paired.gained, found.loss.paired.lost, found.loss.paired.p) == (6, 0, 0.03125)
    assert found.loss.means == Means(2.0, pytest.approx(8 / 7))
    assert found.outcome == "better"


def test_nothing_in_common_is_no_outcome():
    found = compare((0, answers("+-")), (9, losses([1.0])), {})
    assert (found.items, found.outcome, found.changes) == (0, None, ())
