"""The order of a run: endless, different in every pass, and known from seed and place alone."""

from collections import Counter

import pytest

from local_training.runs.order import take, take_in_order

ITEMS = tuple("abcdefg")


@pytest.mark.parametrize("epoch", [0, 1, 5])
def test_one_pass_holds_every_item_once(epoch: int):
    assert sorted(take(ITEMS, epoch * len(ITEMS), len(ITEMS), seed=3)) == list(ITEMS)


def test_passes_and_seeds_have_orders_of_their_own():
    passes = [take(ITEMS, epoch * len(ITEMS), len(ITEMS), seed=3) for epoch in range(4)]
    assert len({*passes, take(ITEMS, 0, len(ITEMS), seed=4)}) == 5


def test_an_order_is_the_same_whatever_was_taken_before():
    whole = take(ITEMS, 0, 30, seed=3)
    take(ITEMS, 400, 50, seed=8)
    assert take(ITEMS, 0, 30, seed=3) == whole


@pytest.mark.parametrize(("start", "count"), [(0, 3), (5, 4), (6, 1), (7, 7), (13, 16)])
def test_a_batch_is_a_piece_of_that_order_wherever_it_is_cut(start: int, count: int):
    assert take(ITEMS, start, count, seed=3) == take(ITEMS, 0, 30, seed=3)[start : start + count]


def test_a_batch_larger_than_the_data_takes_items_again():
    assert Counter(take(ITEMS, 0, 3 * len(ITEMS), seed=0)) == dict.fromkeys(ITEMS, 3)


def test_nothing_asked_is_nothing_taken():
    assert take(ITEMS, 5, 0, seed=0) == ()
    assert take(("only",), 2, 3, seed=0) == ("only",) * 3


def test_in_their_own_order_the_first_follows_the_last():
    assert take_in_order(("a", "b", "c"), 1, 4) == ("b", "c", "a", "b")
    assert take_in_order(("a", "b", "c"), 5, 0) == ()
