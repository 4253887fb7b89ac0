"""Fewer items when there is less time: enough for the rules, whole groups, and the same ones every time."""

from dataclasses import replace

from engine.adapters.gate import TEACH
from engine.evaluation.suites import Suite
from engine.evaluation.thinning import thinned
from tests.support.evaluating import choices, written

RULES = replace(TEACH, general_items=30, probe_items=2)
SUITES = (choices("a", "a" * 64, 60), choices("b", "b" * 64, 20), written("p", "c" * 64, 11))


def ids(suite: Suite) -> list[str]:
    return [item.item_id for item in suite.items]


def test_every_general_suite_keeps_the_same_share_and_every_probe_the_same_number():
    assert [len(suite.items) for suite in thinned(SUITES, RULES)] == [23, 8, 4]


def test_the_same_items_are_kept_whatever_their_order_in_the_file():
    turned = [replace(suite, items=suite.items[::-1]) for suite in SUITES]
    for one, other in zip(thinned(SUITES, RULES), thinned(turned, RULES), strict=True):
        assert ids(one) == ids(other)[::-1]
        assert one.content_hash == other.content_hash


def test_a_thinned_suite_is_another_suite_and_a_whole_one_the_same():
    assert not {suite.content_hash for suite in SUITES} & {suite.content_hash for suite in thinned(SUITES, RULES)}
    assert thinned(SUITES, replace(RULES, general_items=800, probe_items=20)) == SUITES


def test_groups_stay_whole_and_count_once():
    grouped = tuple(replace(item, group=str(place // 3)) for place, item in enumerate(SUITES[0].items))
    (suite,) = thinned([replace(SUITES[0], items=grouped)], replace(RULES, general_items=9))
    groups = [item.group for item in suite.items]
    assert len(set(groups)) == 9 and len(groups) == 27


def test_targets_are_left_alone():
    target = replace(SUITES[0], role="target")
    assert thinned([target], RULES) == (target,)
