"""Did the candidate win what it was trained for? Over the champion it must; behind the factory it may not fall."""

from collections.abc import Sequence
from statistics import fmean

from engine.adapters.bootstrap import FEWEST_CHANGES, mean_bounds
from engine.adapters.gate.findings import Finding, Outcome, Values
from engine.adapters.gate.inputs import Case
from engine.adapters.gate.pairing import Paired, pair_suites, pool, suite_names
from engine.adapters.gate.rules import GateRules
from engine.adapters.statistics import mcnemar_exact, one_sided_z, paired_difference, pairs_to_win, wilson


def check_target(case: Case, rules: GateRules) -> Sequence[Finding]:
    """All target suites count as one."""
    names = suite_names((case.candidate, case.champion, case.factory), "target")
    if not names:
        return [Finding("target", "open", "target.missing")]
    findings: list[Finding] = []
    for place, (against, reference) in enumerate(case.references):
        paired, problems = pair_suites("target", "target", names, case.candidate, against, reference)
        findings += problems
        # What is left of incomplete results is no result.
        if not problems:
            judge = _won if place == 0 else _not_behind
            findings.append(judge(pool(paired.values()), against, rules))
    return findings


def _won(paired: Paired, against: str, rules: GateRules) -> Finding:
    items = paired.judged or len(paired.nats_change)
    needed = rules.target_items if paired.judged else max(rules.target_items, FEWEST_CHANGES)
    if items < needed:
        return Finding("target", "open", "target.too_few", {"items": items, "more": needed - items}, items, needed)
    return _won_by_items(paired, against, rules) if paired.judged else _won_by_nats(paired, against, rules)


def _won_by_items(paired: Paired, against: str, rules: GateRules) -> Finding:
    """By McNemar's exact test. The bounds shown are wide where items are few."""
    low, high = paired_difference(paired.wins, paired.losses, paired.judged, one_sided_z(rules.alpha))
    values: dict[str, str | int | float] = {
        "against": against,
        "items": paired.judged,
        "wins": paired.wins,
        "losses": paired.losses,
        "points": paired.points,
        "low": 100 * low,
        "high": 100 * high,
        **_shares(paired),
    }
    outcome: Outcome = "open"
    if mcnemar_exact(paired.wins, paired.losses, "better") < rules.alpha:
        outcome, code = "holds", "target.won"
    elif mcnemar_exact(paired.wins, paired.losses, "worse") < rules.alpha:
        outcome, code = "fails", "target.lost"
    elif (needed := pairs_to_win(paired.wins, paired.losses, paired.judged, rules.alpha)) is None:
        code = "target.no_win"
    else:
        code, values["more"] = "target.unclear", max(1, needed - paired.judged)
    return Finding("target", outcome, code, values, paired.points, 0.0, (100 * low, 100 * high))


def _shares(paired: Paired) -> dict[str, float]:
    """Right before and after, in percent, and the 95 % interval of the latter."""
    low, high = wilson(paired.right_after, paired.judged)
    return {
        "before": 100 * paired.right_before / paired.judged,
        "after": 100 * paired.right_after / paired.judged,
        "after_low": 100 * low,
        "after_high": 100 * high,
    }


def _won_by_nats(paired: Paired, against: str, rules: GateRules) -> Finding:
    low, high = _bounds(paired, rules)
    mean = fmean(paired.nats_change)
    values: Values = {"against": against, "items": len(paired.nats_change), "nats": mean, "low": low, "high": high}
    outcome: Outcome = "open"
    code = "target.unclear_nats"
    if high < 0:
        outcome, code = "holds", "target.won_nats"
    elif low > 0:
        outcome, code = "fails", "target.lost_nats"
    return Finding("target", outcome, code, values, mean, 0.0, (low, high))


def _not_behind(paired: Paired, against: str, rules: GateRules) -> Finding:
    """A champion that fell behind the factory is no measure: beating it alone must not be enough."""
    if paired.judged:
        is_behind = mcnemar_exact(paired.wins, paired.losses, "worse") < rules.alpha
    else:
        is_behind = _bounds(paired, rules)[0] > 0
    measured = paired.points if paired.judged else fmean(paired.nats_change)
    values: Values = {"against": against, "items": paired.units}
    if is_behind:
        return Finding("target", "fails", "target.behind", values, measured, 0.0)
    return Finding("target", "holds", "target.not_behind", values, measured, 0.0)


def _bounds(paired: Paired, rules: GateRules) -> tuple[float, float]:
    return mean_bounds(paired.nats_change, alpha=rules.alpha, resamples=rules.resamples, seed=rules.resampling_seed)
