"""Did the candidate lose anything else? All general suites together must be shown not to; no single one may be seen to.

Against the champion, so that nothing learned is lost, and against the factory, so that little losses do not add up.
"""

from collections.abc import Sequence
from statistics import fmean

from engine.adapters.bootstrap import mean_bounds
from engine.adapters.gate.findings import Finding, Outcome, Values
from engine.adapters.gate.inputs import Case
from engine.adapters.gate.pairing import Paired, pair_suites, pool, suite_names
from engine.adapters.gate.rules import GateRules
from engine.adapters.statistics import mcnemar_exact, one_sided_z, paired_difference, pairs_to_hold


def check_general(case: Case, rules: GateRules) -> Sequence[Finding]:
    names = suite_names((case.candidate, case.champion, case.factory), "general")
    findings: list[Finding] = []
    for against, reference in case.references:
        paired, problems = pair_suites("general", "general", names, case.candidate, against, reference)
        findings += problems
        # What is left of incomplete results is no result.
        if not problems:
            findings += _together(pool(paired.values()), against, rules)
        for name, part in paired.items():
            # Many suites are many chances to be wrong; they share one, or many equal candidates would be rejected.
            findings += _alone(name, part, against, rules.alpha / len(names), rules)
    return findings


def _together(paired: Paired, against: str, rules: GateRules) -> Sequence[Finding]:
    """One finding for each way in which items are measured; every one must hold."""
    if paired.units < rules.general_items:
        values: Values = {"against": against, "items": paired.units, "more": rules.general_items - paired.units}
        return [Finding("general", "open", "general.too_few", values, paired.units, rules.general_items)]
    found = [_points(paired, against, rules)] if paired.judged else []
    return [*found, _nats(paired, against, rules)] if paired.nats_change else found


def _points(paired: Paired, against: str, rules: GateRules) -> Finding:
    z = one_sided_z(rules.alpha)
    low, high = paired_difference(paired.wins, paired.losses, paired.judged, z)
    margin = rules.general_margin_points
    values: dict[str, str | int | float] = {
        "against": against,
        "items": paired.judged,
        "wins": paired.wins,
        "losses": paired.losses,
        "points": paired.points,
        "worst": -100 * low,
        "margin": margin,
    }
    outcome: Outcome = "open"
    if 100 * low > -margin:
        outcome, code = "holds", "general.kept"
    elif paired.points <= -margin and _is_worse(paired, rules.alpha):
        outcome, code = "fails", "general.lost"
    elif (needed := pairs_to_hold(paired.wins, paired.losses, paired.judged, margin / 100, z)) is None:
        code = "general.doubtful"
    else:
        code, values["more"] = "general.unclear", max(1, needed - paired.judged)
    return Finding("general", outcome, code, values, paired.points, -margin, (100 * low, 100 * high))


def _nats(paired: Paired, against: str, rules: GateRules) -> Finding:
    mean, low, high = _mean_of(paired, rules.alpha, rules)
    margin = rules.general_margin_nats_share * fmean(paired.nats_before)
    values: Values = {
        "against": against,
        "items": len(paired.nats_change),
        "nats": mean,
        "worst": high,
        "margin": margin,
    }
    outcome: Outcome = "open"
    code = "general.unclear_nats"
    # Losses that are all zero have a margin of zero, which no change at all keeps.
    if high < margin or high <= 0:
        outcome, code = "holds", "general.kept_nats"
    elif mean >= margin and low > 0:
        outcome, code = "fails", "general.lost_nats"
    return Finding("general", outcome, code, values, mean, margin, (low, high))


def _alone(name: str, paired: Paired, against: str, alpha: float, rules: GateRules) -> Sequence[Finding]:
    found = [_alone_in_points(name, paired, against, alpha, rules)] if paired.judged else []
    return [*found, _alone_in_nats(name, paired, against, alpha, rules)] if paired.nats_change else found


def _alone_in_points(name: str, paired: Paired, against: str, alpha: float, rules: GateRules) -> Finding:
    margin = rules.suite_margin_points
    values: Values = {
        "suite": name,
        "against": against,
        "items": paired.judged,
        "wins": paired.wins,
        "losses": paired.losses,
        "points": paired.points,
        "margin": margin,
    }
    if paired.points < -margin and _is_worse(paired, alpha):
        return Finding("suite", "fails", "suite.lost", values, paired.points, -margin)
    return Finding("suite", "holds", "suite.kept", values, paired.points, -margin)


def _alone_in_nats(name: str, paired: Paired, against: str, alpha: float, rules: GateRules) -> Finding:
    mean, low, _ = _mean_of(paired, alpha, rules)
    margin = rules.suite_margin_nats_share * fmean(paired.nats_before)
    values: Values = {
        "suite": name,
        "against": against,
        "items": len(paired.nats_change),
        "nats": mean,
        "margin": margin,
    }
    if mean > margin and low > 0:
        return Finding("suite", "fails", "suite.lost_nats", values, mean, margin)
    return Finding("suite", "holds", "suite.kept_nats", values, mean, margin)


def _is_worse(paired: Paired, alpha: float) -> bool:
    """More than chance would do."""
    return mcnemar_exact(paired.wins, paired.losses, "worse") < alpha


def _mean_of(paired: Paired, alpha: float, rules: GateRules) -> tuple[float, float, float]:
    """The mean change of loss and its bounds."""
    low, high = mean_bounds(paired.nats_change, alpha=alpha, resamples=rules.resamples, seed=rules.resampling_seed)
    return fmean(paired.nats_change), low, high
