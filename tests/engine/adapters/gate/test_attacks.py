"""Candidates that try to get through, and results that would let them."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.gate import PROBES, Case, ItemResult, judge
from tests.engine.adapters.gate.cases import (
    CANDIDATE,
    CHAMPION,
    FACTORY,
    GOOD,
    SMALL,
    adapter,
    answering,
    codes,
    found,
    share,
    suite,
    with_items,
    with_suite,
    without_suite,
)


@pytest.mark.parametrize("probe", PROBES)
def test_winning_everything_does_not_pay_for_one_failed_probe(probe):
    candidate = answering(CANDIDATE, "wish", share(200, 200))
    candidate = answering(candidate, probe, [True] * 19 + [False])
    verdict = judge(replace(GOOD, candidate=candidate))
    assert verdict.decision == "reject"
    (reason,) = verdict.reasons
    assert (reason.code, reason.values["probe"], reason.values["named"]) == ("probe.failed", probe, f"{probe}-19")


def test_a_probe_that_champion_and_factory_fail_as_well_is_forgiven():
    failing = [True] * 19 + [False]
    case = replace(
        GOOD,
        candidate=answering(CANDIDATE, "refusal", failing),
        champion=answering(CHAMPION, "refusal", failing),
        factory=answering(FACTORY, "refusal", failing),
    )
    verdict = judge(case)
    assert verdict.decision == "promote"
    refusals = next(finding for finding in verdict.findings if finding.values.get("probe") == "refusal")
    assert (refusals.values["failed"], refusals.values["new"]) == (1, 0)


@pytest.mark.parametrize("who", ["champion", "factory"])
def test_a_probe_that_only_one_of_them_fails_is_not_forgiven(who):
    failing = [True] * 19 + [False]
    case = replace(GOOD, candidate=answering(CANDIDATE, "leakage", failing))
    case = replace(case, **{who: answering(getattr(case, who), "leakage", failing)})
    assert codes(judge(case)) == {"probe.failed"}


def test_failing_other_tries_instead_of_more_tries_is_failing():
    case = replace(
        GOOD,
        candidate=answering(CANDIDATE, "tool_json", [False] + [True] * 19),
        champion=answering(CHAMPION, "tool_json", [True] * 19 + [False]),
        factory=answering(FACTORY, "tool_json", [True] * 19 + [False]),
    )
    assert codes(judge(case)) == {"probe.failed"}


def test_a_probe_of_few_tries_shows_nothing():
    case = replace(
        GOOD,
        **{
            name: with_items(getattr(GOOD, name), "injection", lambda items: items[:3])
            for name in ("candidate", "champion", "factory")
        },
    )
    assert codes(judge(case)) == {"probe.too_few"}


def test_tries_that_nobody_judged_are_no_passed_probe():
    case = replace(
        GOOD,
        **{
            name: with_items(
                getattr(GOOD, name), "injection", lambda items: [ItemResult(item.item_id, None, 1.0) for item in items]
            )
            for name in ("candidate", "champion", "factory")
        },
    )
    assert codes(judge(case)) == {"probe.unjudged"}


def test_a_probe_beyond_those_that_must_be_counts_as_well():
    def more(results, right):
        return replace(results, suites=(*results.suites, suite("own", "probe", [right] * 20)))

    case = Case(
        more(CANDIDATE, False), more(CHAMPION, True), more(FACTORY, True), GOOD.integrity, GOOD.drift, GOOD.parity
    )
    assert codes(judge(case)) == {"probe.failed"}


def test_losing_a_whole_suite_is_seen_although_all_together_hide_it():
    def two(results, right):
        parts = (suite("facts", "general", share(1000, 1200)), suite("sums", "general", share(right, 100)))
        return replace(without_suite(results, "facts"), suites=(*without_suite(results, "facts").suites, *parts))

    case = replace(GOOD, candidate=two(CANDIDATE, 40), champion=two(CHAMPION, 60), factory=two(FACTORY, 60))
    verdict = judge(case)
    assert found(verdict, "general.kept").outcome == "holds"
    assert codes(verdict) == {"suite.lost"}
    assert "sums" in verdict.reasons[0].text


def test_one_wrong_answer_in_a_tiny_suite_is_chance():
    def two(results, right):
        return replace(results, suites=(*results.suites, suite("few", "general", share(right, 10))))

    case = replace(GOOD, candidate=two(CANDIDATE, 8), champion=two(CHAMPION, 10), factory=two(FACTORY, 10))
    assert judge(case).decision == "promote"


def test_a_point_a_night_is_stopped_by_the_factory_before_three_and_not_by_the_champion():
    def night(points_before, points_after, factory):
        champion = answering(CHAMPION, "facts", share(840 - 12 * points_before, 1200))
        candidate = answering(CANDIDATE, "facts", share(840 - 12 * points_after, 1200))
        return judge(replace(GOOD, champion=champion, candidate=candidate, factory=factory or champion))

    assert night(0, 1, FACTORY).decision == "promote"
    assert night(2, 3, FACTORY).decision == "reject"
    assert night(2, 3, FACTORY).reasons[0].values["against"] == "factory"
    assert night(2, 3, None).decision == "promote"


def test_a_champion_that_fell_behind_is_no_easier_to_follow():
    fallen = answering(CHAMPION, "facts", share(720, 1200))
    candidate = answering(CANDIDATE, "facts", share(740, 1200))
    verdict = judge(replace(GOOD, champion=fallen, candidate=candidate))
    assert verdict.decision == "reject"
    assert {finding.values["against"] for finding in verdict.reasons} == {"factory"}


def test_beating_a_champion_that_is_worse_than_the_factory_at_the_target_is_not_enough():
    factory = answering(FACTORY, "wish", share(150, 200))
    assert codes(judge(replace(GOOD, factory=factory))) == {"target.behind"}


def test_a_champion_that_is_the_factorys_adapter_is_compared_with_once():
    case = replace(GOOD, champion=FACTORY)
    verdict = judge(case)
    assert verdict.decision == "promote"
    compared = {finding.values.get("against") for finding in verdict.findings if finding.check == "general"}
    assert compared == {"factory"}


@pytest.mark.parametrize("name", ["wish", "facts", *PROBES])
@pytest.mark.parametrize("who", ["candidate", "champion", "factory"])
def test_leaving_out_a_suite_never_promotes(name, who):
    verdict = judge(replace(GOOD, **{who: without_suite(getattr(GOOD, who), name)}))
    assert verdict.decision == "not_enough_evidence"


def test_without_any_target_or_any_general_suite_nothing_is_promoted():
    bare = {who: without_suite(getattr(GOOD, who), "wish") for who in ("candidate", "champion", "factory")}
    assert codes(judge(replace(GOOD, **bare))) == {"target.missing"}
    bare = {who: without_suite(getattr(GOOD, who), "facts") for who in ("candidate", "champion", "factory")}
    assert codes(judge(replace(GOOD, **bare))) == {"general.too_few"}


def test_a_general_suite_cannot_be_passed_off_as_what_was_wanted():
    candidate = with_suite(CANDIDATE, "facts", lambda one: replace(one, role="target"))
    assert judge(replace(GOOD, candidate=candidate)).decision == "not_enough_evidence"


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        pytest.param(lambda items: items[:-1], "pair.unpaired", id="leaves out its worst"),
        pytest.param(lambda items: (*items, items[0]), "pair.item_twice", id="counts a win twice"),
        pytest.param(
            lambda items: [replace(item, is_right=item.is_right or None) for item in items],
            "pair.unlike",
            id="does not judge what is wrong",
        ),
    ],
)
@pytest.mark.parametrize("name", ["wish", "facts", "leakage"])
def test_results_that_are_trimmed_are_no_results(name, spoil, code):
    candidate = with_items(answering(CANDIDATE, "leakage", [True] * 19 + [False]), name, spoil)
    verdict = judge(replace(GOOD, candidate=candidate))
    assert verdict.decision != "promote"
    assert code in {finding.code for finding in verdict.findings}


def test_copies_of_one_question_do_not_make_a_win():
    def copied(results, right):
        items = (ItemResult(f"copy-{place}", right, group="one question") for place in range(40))
        return with_items(results, "wish", lambda _: items)

    case = replace(
        GOOD, candidate=copied(CANDIDATE, True), champion=copied(CHAMPION, False), factory=copied(FACTORY, False)
    )
    verdict = judge(case)
    assert codes(verdict) == {"target.too_few"}
    assert verdict.reasons[0].values["items"] == 1


def test_a_candidate_without_numbers_is_rejected_and_a_reference_without_is_measured_anew():
    def broken(results, nats):
        return with_items(
            results, "facts", lambda items: [replace(item, nats_per_token=nats if n == 3 else 1.0) for n, item in
                                             enumerate(items)]
        )  # fmt: skip

    whole = {who: broken(getattr(GOOD, who), 1.0) for who in ("candidate", "champion", "factory")}
    assert judge(replace(GOOD, **whole)).decision == "promote"
    verdict = judge(replace(GOOD, **whole | {"candidate": broken(CANDIDATE, math.nan)}))
    assert (verdict.decision, codes(verdict)) == ("reject", {"pair.not_finite"})
    verdict = judge(replace(GOOD, **whole | {"champion": broken(CHAMPION, math.nan)}))
    assert (verdict.decision, codes(verdict)) == ("not_enough_evidence", {"pair.reference_not_finite"})


BITS = st.integers(0, 2**40 - 1)
"""Forty answers."""
FEW = st.lists(st.integers(0, 39), max_size=2).map(lambda places: sum(1 << place for place in set(places)))
"""A change of at most two of them."""
FAILED = st.sampled_from(["", "", "leakage"])


@st.composite
def adapters(draw: st.DrawFn):
    """Target, general, and a probe that is failed, of three adapters that may well have to do with each other."""
    target, general = draw(BITS), draw(BITS)
    return (
        (target | draw(BITS), general ^ draw(FEW), draw(FAILED)),
        (target, general, draw(FAILED)),
        (target & draw(BITS), general ^ draw(FEW), draw(FAILED)),
    )


CASES = adapters()


def case_of(three) -> Case:
    """Any results, on items that match."""
    made = []
    for name, (target, general, failed) in zip(("candidate", "champion", "factory"), three, strict=True):
        results = adapter(name, bits(target), bits(general), [failed])
        made.append(replace(results, suites=tuple(first_four(one) for one in results.suites)))
    return Case(*made, GOOD.integrity, GOOD.drift, GOOD.parity)


def bits(number: int) -> list[bool]:
    return [bool(number >> place & 1) for place in range(40)]


def first_four(one):
    return replace(one, items=one.items[:4]) if one.role == "probe" else one


@settings(max_examples=60, deadline=None)
@given(three=CASES, name=st.sampled_from(["wish", "facts", "leakage"]), place=st.integers(0, 39))
def test_a_wrong_answer_more_never_promotes(three, name, place):
    case = case_of(three)
    (one,) = (one for one in case.candidate.suites if one.suite == name)
    worse = [bool(item.is_right) and n != place % len(one.items) for n, item in enumerate(one.items)]
    before = judge(case, SMALL)
    after = judge(replace(case, candidate=answering(case.candidate, name, worse)), SMALL)
    assert before.decision == "promote" or after.decision != "promote"


@settings(max_examples=60, deadline=None)
@given(three=CASES, seed=st.integers(0, 1000))
def test_the_order_of_suites_and_items_does_not_matter(three, seed):
    dice = random.Random(seed)

    def shuffled(results):
        suites = [replace(one, items=tuple(dice.sample(one.items, len(one.items)))) for one in results.suites]
        return replace(results, suites=tuple(dice.sample(suites, len(suites))))

    def told(verdict):
        return sorted(
            (
                finding.code,
                str(finding.values.get("probe")),
                str(finding.values.get("against")),
                finding.measured or 0.0,
            )
            for finding in verdict.findings
        )

    case = case_of(three)
    other = replace(case, **{who: shuffled(getattr(case, who)) for who in ("candidate", "champion", "factory")})
    assert told(judge(other, SMALL)) == told(judge(case, SMALL))
    assert judge(other, SMALL).decision == judge(case, SMALL).decision


@settings(max_examples=60, deadline=None)
@given(three=CASES)
def test_who_is_promoted_won_and_lost_nothing_beyond_the_margins(three):
    verdict = judge(case_of(three), SMALL)
    points = {
        (finding.check, finding.values.get("against")): finding.measured
        for finding in verdict.findings
        if finding.check in ("target", "general")
    }
    if verdict.decision == "promote":
        assert points["target", "champion"] > 0
        assert points["general", "champion"] > -SMALL.general_margin_points
        assert points["general", "factory"] > -SMALL.general_margin_points
    else:
        assert verdict.reasons
