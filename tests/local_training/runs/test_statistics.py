"""Intervals and tests against values worked out elsewhere."""

import pytest

from local_training.runs.statistics import mcnemar_exact, paired_changes, wilson


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(90, 100, 0.826, 0.945), (180, 200, 0.851, 0.934), (270, 300, 0.861, 0.929)],
)
def test_the_wilson_interval_has_its_known_bounds(right, n, low, high):
    assert wilson(right, n) == pytest.approx((low, high), abs=5e-4)


def test_the_wilson_interval_stays_within_0_and_1_and_has_room_even_at_the_ends():
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert wilson(0, 7)[0] == 0.0
    assert wilson(7, 7)[1] == 1.0


def test_the_wilson_interval_is_the_same_seen_from_the_wrong_ones():
    low, high = wilson(13, 40)
    assert wilson(27, 40) == pytest.approx((1 - high, 1 - low))


def test_the_wilson_interval_of_no_items_is_everything():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("right", "n"), [(-1, 3), (4, 3)])
def test_what_is_no_share_is_refused(right, n):
    with pytest.raises(ValueError, match="no share"):
        wilson(right, n)


@pytest.mark.parametrize(("losses", "needed"), list(enumerate([5, 7, 9, 10, 12, 13])))
def test_so_many_wins_are_needed_to_be_better_at_5_percent(losses, needed):
    assert mcnemar_exact(needed, losses, "better") < 0.05
    assert mcnemar_exact(needed - 1, losses, "better") >= 0.05


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(5, 0, 0.0625), (6, 0, 0.03125), (10, 2, 0.03857421875), (2, 10, 0.03857421875), (3, 3, 1.0), (0, 0, 1.0)],
)
def test_the_two_sided_p_is_exact_and_the_same_in_both_directions(wins, losses, p):
    assert mcnemar_exact(wins, losses) == p


def test_worse_looks_at_the_losses():
    assert mcnemar_exact(0, 5, "worse") == 1 / 32
    assert mcnemar_exact(5, 0, "worse") == 1.0
    assert mcnemar_exact(5, 2, "worse") == mcnemar_exact(2, 5, "better")


def test_thousands_of_pairs_are_no_trouble():
    assert 0.0 < mcnemar_exact(1100, 900) < 1e-4
    assert mcnemar_exact(4000, 0) < 1e-300


@pytest.mark.parametrize(("wins", "losses"), [(-1, 0), (0, -1)])
def test_negative_counts_are_refused(wins, losses):
    with pytest.raises(ValueError, match="no counts"):
        mcnemar_exact(wins, losses)


def test_changes_are_counted_by_direction():
    pairs = [(True, True), (False, True), (False, True), (True, False), (False, False)]
    assert paired_changes(pairs) == (2, 1)
