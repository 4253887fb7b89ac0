"""What the gate decides about candidates, and why."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from engine.adapters.gate import (
    NIGHT,
    PROBES,
    TEACH,
    AdapterResults,
    Case,
    GeneralDrift,
    ItemResult,
    Parity,
    Verdict,
    judge,
)
from tests.engine.adapters.gate.cases import (
    CANDIDATE,
    CHAMPION,
    FACTORY,
    GOOD,
    STILL,
    WHOLE,
    answering,
    codes,
    found,
    losing_nats,
    share,
    with_items,
    without_suite,
)


def test_a_candidate_that_wins_its_target_and_loses_nothing_is_promoted():
    verdict = judge(GOOD)
    assert verdict.decision == "promote"
    assert verdict.reasons == ()
    assert [finding.outcome for finding in verdict.findings] == ["holds"] * len(verdict.findings)
    assert {finding.check for finding in verdict.findings} == {
        "integrity", "target", "general", "suite", "probe", "drift", "parity",
    }  # fmt: skip


def test_every_finding_of_a_comparison_says_what_was_measured_and_what_it_was_held_against():
    won = found(judge(GOOD), "target.won")
    assert (won.measured, won.limit) == (15.0, 0.0)
    assert won.bounds is not None and 0 < won.bounds[0] < 15 < won.bounds[1]
    assert won.values["wins"] == 30
    assert won.text == (
        "It learned what it was trained for: 30 % right before, 45 % now (38 to 52 %); of 200 items, 30 became right "
        "and 0 wrong."
    )


def test_a_verdict_about_nothing_is_no_promotion():
    assert Verdict(()).decision == "not_enough_evidence"


def test_a_candidate_that_changed_nothing_is_not_promoted_and_not_called_bad():
    verdict = judge(replace(GOOD, candidate=replace(CHAMPION, content_hash="candidate")))
    assert verdict.decision == "not_enough_evidence"
    assert codes(verdict) == {"target.no_win"}


def test_a_win_that_chance_could_make_says_how_many_more_items_would_decide():
    candidate = answering(CANDIDATE, "wish", share(62, 200))
    (reason,) = judge(replace(GOOD, candidate=candidate)).reasons
    assert reason.code == "target.unclear"
    assert 150 < reason.values["more"] < 400
    assert reason.text.endswith(f"About {reason.values['more']} more items would decide.")


def test_a_candidate_that_got_worse_at_its_target_is_rejected():
    candidate = answering(CANDIDATE, "wish", share(45, 200))
    assert codes(judge(replace(GOOD, candidate=candidate))) == {"target.lost"}


def test_a_lesson_of_eight_items_is_promoted_by_five_wins_without_a_loss_and_shows_wide_bounds():
    case = replace(
        GOOD,
        candidate=with_items(answering(CANDIDATE, "wish", share(5, 200)), "wish", lambda items: items[:8]),
        champion=with_items(answering(CHAMPION, "wish", share(0, 200)), "wish", lambda items: items[:8]),
        factory=with_items(answering(FACTORY, "wish", share(0, 200)), "wish", lambda items: items[:8]),
    )
    verdict = judge(case, TEACH)
    assert verdict.decision == "promote"
    won = found(verdict, "target.won")
    assert won.bounds[1] - won.bounds[0] > 45
    assert won.values["after_high"] - won.values["after_low"] > 50
    few = judge(case, NIGHT)
    assert codes(few) == {"target.too_few"}
    assert few.reasons[0].values["more"] == 22


def test_a_target_without_right_and_wrong_is_won_by_likelihood():
    def case(change: float):
        before = [2.0 + place / 100 for place in range(60)]
        after = [loss + change + (place % 3 - 1) / 20 for place, loss in enumerate(before)]
        return replace(
            GOOD,
            candidate=losing_nats(CANDIDATE, "wish", after),
            champion=losing_nats(CHAMPION, "wish", before),
            factory=losing_nats(FACTORY, "wish", before),
        )

    assert judge(case(-0.1)).decision == "promote"
    assert found(judge(case(-0.1)), "target.won_nats").measured == pytest.approx(-0.1)
    assert codes(judge(case(0.0))) == {"target.unclear_nats"}
    assert codes(judge(case(0.1))) == {"target.lost_nats", "target.behind"}


def test_likelihoods_of_fewer_than_thirty_items_win_nothing_even_in_a_lesson():
    case = replace(
        GOOD,
        candidate=losing_nats(CANDIDATE, "wish", [1.0 + place / 100 for place in range(12)]),
        champion=losing_nats(CHAMPION, "wish", [2.0] * 12),
        factory=losing_nats(FACTORY, "wish", [2.0] * 12),
    )
    assert codes(judge(case, TEACH)) == {"target.too_few"}


@pytest.mark.parametrize(
    ("right", "decision", "reasons"),
    [
        pytest.param(835, "promote", set(), id="5 of 1200 items less"),
        pytest.param(822, "promote", set(), id="1.5 points less"),
        pytest.param(815, "not_enough_evidence", {"general.unclear"}, id="2.1 points less"),
        pytest.param(800, "reject", {"general.lost"}, id="3.3 points less"),
    ],
)
def test_what_is_lost_in_general_decides(right, decision, reasons):
    verdict = judge(replace(GOOD, candidate=answering(CANDIDATE, "facts", share(right, 1200))))
    assert verdict.decision == decision
    assert codes(verdict) == reasons


def test_a_loss_that_is_probable_but_not_shown_says_that_more_items_would_hardly_help():
    rules = replace(NIGHT, general_items=40)

    def few(results, rights):
        return with_items(answering(results, "facts", [*rights, *share(0, 1160)]), "facts", lambda items: items[:40])

    case = replace(
        GOOD,
        candidate=few(CANDIDATE, share(28, 40)),
        champion=few(CHAMPION, share(30, 40)),
        factory=few(FACTORY, share(28, 40)),
    )
    verdict = judge(case, rules)
    assert "general.doubtful" in codes(verdict)
    assert verdict.decision == "not_enough_evidence"


def test_too_few_general_items_say_how_many_are_missing():
    case = replace(
        GOOD,
        **{
            name: with_items(getattr(GOOD, name), "facts", lambda items: items[:900])
            for name in ("candidate", "champion", "factory")
        },
    )
    verdict = judge(case)
    assert codes(verdict) == {"general.too_few"}
    assert verdict.reasons[0].values["more"] == 300
    assert judge(case, TEACH).decision == "promote"


@pytest.mark.parametrize(
    ("rise", "decision"), [(0.0, "promote"), (0.01, "promote"), (0.024, "not_enough_evidence"), (0.08, "reject")]
)
def test_losses_of_given_answers_are_kept_within_a_share_of_what_they_were(rise, decision):
    before = [2.0 + place % 100 / 100 for place in range(1200)]
    after = [loss + rise + (place % 5 - 2) / 20 for place, loss in enumerate(before)]
    case = replace(
        GOOD,
        candidate=losing_nats(CANDIDATE, "facts", after),
        champion=losing_nats(CHAMPION, "facts", before),
        factory=losing_nats(FACTORY, "facts", before),
    )
    assert judge(case).decision == decision


def test_items_that_are_measured_both_ways_must_hold_both_ways():
    def both(results, nats):
        return with_items(
            results, "facts", lambda items: [replace(item, nats_per_token=nats + n % 7) for n, item in enumerate(items)]
        )

    case = replace(GOOD, candidate=both(CANDIDATE, 1.2), champion=both(CHAMPION, 1.0), factory=both(FACTORY, 1.0))
    assert codes(judge(case)) == {"general.lost_nats", "suite.lost_nats"}
    assert {"general.kept", "general.lost_nats"} <= {finding.code for finding in judge(case).findings}


@pytest.mark.parametrize("fact", ["is_finite", "has_its_hash", "fits_base", "loads_in_engine"])
def test_a_file_that_is_not_in_order_is_rejected(fact):
    verdict = judge(replace(GOOD, integrity=replace(WHOLE, **{fact: False})))
    assert verdict.decision == "reject"
    assert [finding.check for finding in verdict.reasons] == ["integrity"]


@pytest.mark.parametrize("size_bytes", [0, -1, (1 << 30) + 1])
def test_a_file_of_an_impossible_size_is_rejected(size_bytes):
    assert codes(judge(replace(GOOD, integrity=replace(WHOLE, size_bytes=size_bytes)))) == {"integrity.size"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"kl_from_champion_nats": 0.021}, "drift.kl.beyond", id="too far in one night"),
        pytest.param({"kl_from_factory_nats": 0.051}, "drift.kl.beyond", id="too far in all"),
        pytest.param({"candidate_nats": 2.53}, "drift.nats.beyond", id="text less likely"),
        pytest.param({"factory_nats": 2.4}, "drift.nats.beyond", id="text less likely than by the factory"),
        pytest.param({"candidate_tokens": 31.0}, "drift.length.beyond", id="shorter"),
        pytest.param({"candidate_tokens": 49.0}, "drift.length.beyond", id="longer"),
        pytest.param({"kl_from_champion_nats": math.nan}, "drift.kl.beyond", id="no number"),
        pytest.param({"candidate_nats": math.nan}, "drift.nats.beyond", id="no likelihood"),
        pytest.param({"champion_nats": math.inf}, "drift.nats.beyond", id="nothing to compare with"),
        pytest.param({"candidate_tokens": math.nan}, "drift.length.beyond", id="no length"),
        pytest.param({"champion_tokens": 0.0}, "drift.length.beyond", id="no answers before"),
    ],
)
def test_general_prompts_that_moved_too_far_reject(change, code):
    verdict = judge(replace(GOOD, drift=replace(STILL, **change)))
    assert verdict.decision == "reject"
    assert codes(verdict) == {code}


def test_another_length_is_no_fault_where_it_was_wanted():
    drift = replace(STILL, candidate_tokens=12.0)
    assert judge(replace(GOOD, drift=drift)).decision == "reject"
    assert judge(replace(GOOD, drift=drift, length_is_objective=True)).decision == "promote"


def read_as(case: Case, first: Sequence[float], rest: float) -> Case:
    """Given answers of two tokens, of which the candidate finds the first as likely as the others, or less."""

    def reading(adapter: AdapterResults, opening: float, continued: float) -> AdapterResults:
        item = ItemResult("", None, (opening + continued) / 2, continued_nats=continued)
        return with_items(adapter, "facts", lambda items: [replace(item, item_id=one.item_id) for one in items])

    return replace(
        case,
        candidate=reading(case.candidate, first[1], rest),
        champion=reading(case.champion, first[0], 2.0),
        factory=reading(case.factory, first[0], 2.0),
    )


def test_another_beginning_of_answers_is_no_fault_where_it_was_wanted():
    begun = read_as(GOOD, first=(2.0, 5.0), rest=2.0)
    assert "general.lost_nats" in codes(judge(begun))
    assert judge(replace(begun, opening_is_objective=True)).decision == "promote"


def test_what_follows_another_beginning_must_be_kept_all_the_same():
    worse = read_as(GOOD, first=(2.0, 5.0), rest=2.5)
    verdict = judge(replace(worse, opening_is_objective=True))
    assert codes(verdict) == {"general.lost_nats", "suite.lost_nats"}
    # And who finds beginnings likelier hides nothing by that.
    hidden = read_as(GOOD, first=(2.0, 0.1), rest=2.5)
    assert judge(hidden).decision == "promote"
    assert judge(replace(hidden, opening_is_objective=True)).decision == "reject"


def test_right_answers_are_counted_as_ever_whatever_was_wanted():
    fewer = answering(CANDIDATE, "facts", share(700, 1200))
    assert "general.lost" in codes(judge(replace(GOOD, candidate=fewer, opening_is_objective=True)))


def test_a_lesson_may_move_further_in_one_step_than_a_night_but_no_further_in_all():
    drift = replace(STILL, kl_from_champion_nats=0.04, kl_from_factory_nats=0.04)
    assert judge(replace(GOOD, drift=drift)).decision == "reject"
    assert judge(replace(GOOD, drift=drift), TEACH).decision == "promote"
    assert TEACH.kl_from_factory_nats == NIGHT.kl_from_factory_nats


def test_an_engine_that_computes_something_else_rejects():
    assert codes(judge(replace(GOOD, parity=Parity(64, 0.03)))) == {"parity.beyond"}
    assert codes(judge(replace(GOOD, parity=Parity(64, math.nan)))) == {"parity.beyond"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"drift": None}, "drift.missing", id="drift"),
        pytest.param({"parity": None}, "parity.missing", id="parity"),
        pytest.param({"drift": GeneralDrift(31, 0, 0, 2, 2, 2, 40, 40)}, "drift.too_few", id="little drift"),
        pytest.param({"parity": Parity(63, 0.001)}, "parity.too_few", id="little parity"),
    ],
)
def test_what_was_not_measured_leaves_the_verdict_open(change, code):
    verdict = judge(replace(GOOD, **change))
    assert verdict.decision == "not_enough_evidence"
    assert codes(verdict) == {code}


@pytest.mark.parametrize("probe", PROBES)
def test_every_probe_must_have_been_run(probe):
    verdict = judge(replace(GOOD, candidate=without_suite(CANDIDATE, probe)))
    assert verdict.decision == "not_enough_evidence"
    assert codes(verdict) == {"pair.missing"}


def test_all_checks_are_made_although_one_has_failed():
    verdict = judge(replace(GOOD, integrity=replace(WHOLE, is_finite=False), parity=None))
    assert verdict.decision == "reject"
    assert found(verdict, "target.won").outcome == "holds"
    assert found(verdict, "parity.missing").outcome == "open"
    assert codes(verdict) == {"integrity.finite"}
