"""Results side by side: nothing is dropped, and what belongs together counts once."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.gate import AdapterResults, ItemResult, SuiteResult
from engine.adapters.gate.pairing import count, pair_items, pool
from tests.engine.adapters.gate.cases import suite

OUTCOMES = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30)


def results(*suites: SuiteResult) -> AdapterResults:
    return AdapterResults("any", suites)


def paired(before: SuiteResult, after: SuiteResult):
    pairs, problem = pair_items(before.suite, before.role, results(after), results(before))
    assert problem is None
    return count(pairs)


def problem_of(before: AdapterResults, after: AdapterResults):
    pairs, problem = pair_items("facts", "general", after, before)
    assert pairs == ()
    return problem.code, problem.count


BEFORE = suite("facts", "general", [True, True, False, False])
AFTER = suite("facts", "general", [True, False, True, False])


def test_changes_are_counted_by_direction():
    found = paired(BEFORE, AFTER)
    assert (found.units, found.judged, found.wins, found.losses) == (4, 4, 1, 1)
    assert (found.right_before, found.right_after) == (2, 2)


def test_items_are_paired_by_their_id_in_whatever_order_they_come():
    turned = replace(AFTER, items=AFTER.items[::-1])
    assert paired(BEFORE, turned) == paired(BEFORE, AFTER)


@settings(max_examples=60, deadline=None)
@given(outcomes=OUTCOMES, times=st.integers(2, 4))
def test_an_item_that_is_asked_in_several_wordings_counts_once(outcomes, times):
    def worded(rights):
        return suite("facts", "general", rights), replace(
            suite("facts", "general", []),
            items=tuple(
                ItemResult(f"{place}-{wording}", right, group=f"question-{place}")
                for place, right in enumerate(rights)
                for wording in range(times)
            ),
        )

    before, before_worded = worded([old for old, _ in outcomes])
    after, after_worded = worded([new for _, new in outcomes])
    assert paired(before_worded, after_worded) == paired(before, after)


def test_a_group_goes_the_way_in_which_most_of_it_went():
    def grouped(rights):
        items = tuple(ItemResult(f"{place}", right, group="one") for place, right in enumerate(rights))
        return SuiteResult("facts", "general", "items-1", items)

    assert paired(grouped([True] * 3), grouped([True, False, True])).losses == 1
    assert paired(grouped([True, False, False]), grouped([False, True, True])).wins == 1
    assert paired(grouped([True, False]), grouped([False, True])).judged == 1
    assert paired(grouped([True, False]), grouped([False, True])).wins == 0


def test_a_group_that_is_named_like_an_item_is_not_that_item():
    items = (ItemResult("a", True), ItemResult("b", True, group="a"))
    alone = SuiteResult("facts", "general", "items-1", items)
    assert paired(alone, alone).units == 2


def test_losses_are_means_of_their_group():
    def lossy(*nats):
        return SuiteResult(
            "facts", "general", "items-1", tuple(ItemResult(f"{n}", None, loss, "g") for n, loss in enumerate(nats))
        )

    found = paired(lossy(1.0, 2.0), lossy(2.0, 3.0))
    assert (found.units, found.judged, found.nats_before, found.nats_change) == (1, 0, (1.5,), (1.0,))


@settings(max_examples=60, deadline=None)
@given(first=OUTCOMES, second=OUTCOMES)
def test_pooled_suites_count_like_one(first, second):
    def pair_of(outcomes, name):
        return paired(
            suite(name, "general", [old for old, _ in outcomes]), suite(name, "general", [new for _, new in outcomes])
        )

    assert pool([pair_of(first, "a"), pair_of(second, "b")]) == pair_of([*first, *second], "a")


def test_a_suite_that_one_side_lacks_or_ran_on_nothing_is_missing():
    empty = replace(BEFORE, items=())
    assert problem_of(results(BEFORE), results()) == ("pair.missing", 0)
    assert problem_of(results(BEFORE), results(empty)) == ("pair.missing", 0)
    assert problem_of(results(), results(AFTER)) == ("pair.reference_missing", 0)
    assert problem_of(results(empty), results(empty)) == ("pair.missing", 0)


def test_a_suite_under_another_role_is_missing():
    assert problem_of(results(BEFORE), results(replace(AFTER, role="target"))) == ("pair.missing", 0)


def test_a_suite_that_comes_twice_or_has_changed_is_no_pair():
    assert problem_of(results(BEFORE), results(AFTER, AFTER)) == ("pair.suite_twice", 0)
    assert problem_of(results(BEFORE, BEFORE), results(AFTER)) == ("pair.suite_twice", 0)
    assert problem_of(results(BEFORE), results(replace(AFTER, content_hash="items-2"))) == ("pair.other_items", 0)


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        pytest.param(AFTER.items[:3], ("pair.unpaired", 1), id="one left out"),
        pytest.param((*AFTER.items, ItemResult("more", True)), ("pair.unpaired", 1), id="one more"),
        pytest.param((*AFTER.items, AFTER.items[2]), ("pair.item_twice", 1), id="one twice"),
        pytest.param(
            tuple(replace(item, is_right=item.is_right or None) for item in AFTER.items),
            ("pair.unlike", 2),
            id="wrong ones not judged",
        ),
        pytest.param(
            tuple(replace(item, nats_per_token=1.0) for item in AFTER.items),
            ("pair.unlike", 4),
            id="measured otherwise",
        ),
        pytest.param(
            tuple(replace(item, group="all") for item in AFTER.items), ("pair.unlike", 4), id="grouped otherwise"
        ),
        pytest.param(
            (replace(AFTER.items[0], nats_per_token=math.nan), *AFTER.items[1:]), ("pair.not_finite", 1), id="NaN"
        ),
        pytest.param(
            (replace(AFTER.items[0], nats_per_token=math.inf), *AFTER.items[1:]), ("pair.not_finite", 1), id="infinite"
        ),
        pytest.param(
            (replace(AFTER.items[0], nats_per_token=-0.1), *AFTER.items[1:]),
            ("pair.not_finite", 1),
            id="likelier than certain",
        ),
    ],
)
def test_items_that_do_not_match_are_no_pair(items, problem):
    assert problem_of(results(BEFORE), results(replace(AFTER, items=items))) == problem


def test_items_that_nobody_measured_are_no_pair():
    bare = replace(BEFORE, items=tuple(ItemResult(item.item_id) for item in BEFORE.items))
    assert problem_of(results(bare), results(bare)) == ("pair.unlike", 4)


def test_a_reference_without_numbers_is_told_from_a_candidate_without():
    broken = replace(BEFORE, items=(replace(BEFORE.items[0], nats_per_token=math.nan), *BEFORE.items[1:]))
    assert problem_of(results(broken), results(AFTER)) == ("pair.reference_not_finite", 1)
