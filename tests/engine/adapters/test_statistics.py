"""Intervals and tests against values worked out elsewhere, or in another way."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.statistics import (
    Z_95,
    Z_95_ONE_SIDED,
    mcnemar_exact,
    one_sided_z,
    paired_changes,
    paired_difference,
    pairs_to_hold,
    pairs_to_win,
    wilson,
)


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


COUNTS = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60)).filter(lambda counts: sum(counts) > 0)
"""Wins, losses and pairs that did not change."""


@pytest.mark.parametrize(("wins", "losses", "n"), [(12, 2, 50), (2, 12, 50), (30, 25, 800), (1, 0, 20), (0, 3, 20)])
@pytest.mark.parametrize("z", [Z_95, Z_95_ONE_SIDED])
def test_the_bounds_of_a_paired_difference_are_where_the_score_test_turns(wins, losses, n, z):
    low, high = paired_difference(wins, losses, n, z)
    assert score_by_search(wins, losses, n, low) == pytest.approx(z, abs=0.01)
    assert score_by_search(wins, losses, n, high) == pytest.approx(-z, abs=0.01)


def score_by_search(wins: int, losses: int, n: int, difference: float) -> float:
    """The score of a difference; the likeliest share of losses under it is looked for among very many."""
    first, last = max(0.0, -difference), (1 - difference) / 2
    shares = [first + (last - first) * step / 20_000 for step in range(1, 20_000)]
    share = max(
        shares,
        key=lambda lost: (
            wins * math.log(lost + difference or 1e-300)
            + losses * math.log(lost)
            + (n - wins - losses) * math.log(1 - 2 * lost - difference)
        ),
    )
    return (wins - losses - n * difference) / math.sqrt(n * (2 * share + difference * (1 - difference)))


@settings(max_examples=60, deadline=None)
@given(counts=COUNTS)
def test_the_bounds_hold_the_difference_and_are_the_same_seen_from_the_other_side(counts):
    wins, losses, same = counts
    n = wins + losses + same
    low, high = paired_difference(wins, losses, n)
    assert -1 <= low <= (wins - losses) / n + 1e-9
    assert (wins - losses) / n - 1e-9 <= high <= 1
    assert paired_difference(losses, wins, n) == pytest.approx((-high, -low))


@settings(max_examples=60, deadline=None)
@given(counts=COUNTS)
def test_a_win_more_raises_the_lower_bound_and_a_loss_more_lowers_it(counts):
    wins, losses, same = counts
    n = wins + losses + same + 1
    low, _ = paired_difference(wins, losses, n)
    assert paired_difference(wins + 1, losses, n)[0] > low - 1e-9
    assert paired_difference(wins, losses + 1, n)[0] < low + 1e-9


@pytest.mark.parametrize(("win", "loss"), [(0.02, 0.02), (0.1, 0.1), (0.05, 0.10), (0.3, 0.1)])
def test_the_lower_bound_is_wrong_about_as_seldom_as_it_says_counted_over_all_outcomes(win, loss):
    n, wrong = 60, 0.0
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            ways = math.comb(n, wins) * math.comb(n - wins, losses)
            chance = ways * win**wins * loss**losses * (1 - win - loss) ** (n - wins - losses)
            if chance > 1e-9 and paired_difference(wins, losses, n)[0] > win - loss:
                wrong += chance
    assert wrong == pytest.approx(0.05, abs=0.02)


def test_pairs_that_never_differ_still_leave_room():
    low, high = paired_difference(0, 0, 100)
    assert -0.03 < low < -0.02
    assert high == -low
    assert paired_difference(0, 0, 0) == (-1.0, 1.0)


@pytest.mark.parametrize(("wins", "losses", "n"), [(-1, 0, 3), (0, -1, 3), (2, 2, 3)])
def test_what_are_no_counts_of_pairs_is_refused(wins, losses, n):
    with pytest.raises(ValueError, match="no counts"):
        paired_difference(wins, losses, n)


@settings(max_examples=60, deadline=None)
@given(counts=COUNTS)
def test_as_many_pairs_as_are_said_to_be_needed_do_decide(counts):
    wins, losses, same = counts
    n = wins + losses + same
    needed = pairs_to_hold(wins, losses, n, margin=0.05)
    if needed is None:
        assert losses - wins >= 0.05 * n or needed_is_out_of_reach(wins, losses, n)
    else:
        assert paired_difference(wins * needed / n, losses * needed / n, needed)[0] > -0.05
        assert needed >= n


def needed_is_out_of_reach(wins: int, losses: int, n: int) -> bool:
    return paired_difference(wins * 1e6 / n, losses * 1e6 / n, 1e6)[0] <= -0.05


def test_nothing_is_promised_to_who_loses_the_margin_or_does_not_lean_towards_a_win():
    assert pairs_to_hold(0, 5, 100, margin=0.05) is None
    assert pairs_to_hold(0, 0, 0, margin=0.05) is None
    assert pairs_to_win(3, 3, 50, alpha=0.05) is None
    assert pairs_to_win(0, 0, 50, alpha=0.05) is None


@pytest.mark.parametrize(("wins", "losses", "n"), [(2, 1, 30), (3, 0, 8), (30, 25, 200), (10, 7, 40)])
def test_about_as_many_pairs_as_are_said_to_be_needed_make_a_win(wins, losses, n):
    needed = pairs_to_win(wins, losses, n, alpha=0.05)
    assert mcnemar_exact(round(wins * needed / n), round(losses * needed / n), "better") < 0.07
    assert mcnemar_exact(round(0.8 * wins * needed / n), round(0.8 * losses * needed / n), "better") > 0.04


def test_the_quantile_of_a_bound_is_the_one_in_tables():
    assert one_sided_z(0.05) == pytest.approx(Z_95_ONE_SIDED)
    assert one_sided_z(0.025) == pytest.approx(Z_95)
