"""Identifiers sort by age."""

import time

from hypothesis import given
from hypothesis import strategies as st

from engine.store.ids import IdMaker, new_id, time_us_of

TIMES_US = st.integers(min_value=0, max_value=2**55 - 1)
RANDOM_BITS = st.integers(min_value=0, max_value=2**65 - 1)


@given(TIMES_US, TIMES_US, RANDOM_BITS, RANDOM_BITS)
def test_a_later_id_sorts_after_an_earlier_one_whatever_the_random_bits(time_a, time_b, random_a, random_b):
    ids = [new_id("t", time_a, random_a), new_id("t", time_b, random_b)]
    if time_a != time_b:
        assert (ids[0] < ids[1]) == (time_a < time_b)
    assert [time_us_of(identifier) for identifier in ids] == [time_a, time_b]


def test_an_id_is_its_prefix_and_24_lower_case_digits():
    assert new_id("c", 1, 33) == "c-" + "0" * 10 + "1" + "0" * 11 + "11"


def test_ids_made_within_one_microsecond_keep_their_order():
    maker = IdMaker()
    ids = [maker.make("t") for _ in range(5000)]
    assert ids == sorted(set(ids))


def test_ids_go_on_after_the_newest_one_when_the_clock_was_set_back():
    an_hour_ahead = new_id("t", time.time_ns() // 1000 + 3_600_000_000, 0)
    assert IdMaker(an_hour_ahead).make("t") > an_hour_ahead
