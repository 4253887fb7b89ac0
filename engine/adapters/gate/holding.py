"""Is the file whole, did general prompts stay where they were, and does the engine compute what the trainer did?

Every comparison is written so that a number that is none (NaN) breaks it.
"""

import math
from collections.abc import Sequence

from engine.adapters.gate.findings import Check, Finding, Values
from engine.adapters.gate.inputs import Case, GeneralDrift, Integrity
from engine.adapters.gate.rules import GateRules


def check_integrity(integrity: Integrity, rules: GateRules) -> Sequence[Finding]:
    facts = (
        ("finite", integrity.is_finite),
        ("hash", integrity.has_its_hash),
        ("base", integrity.fits_base),
        ("loads", integrity.loads_in_engine),
    )
    broken = [Finding("integrity", "fails", f"integrity.{name}") for name, holds in facts if not holds]
    size, limit = integrity.size_bytes, rules.largest_bytes
    if not 0 < size <= limit:
        values: Values = {"size_mib": size / (1 << 20), "limit_mib": limit / (1 << 20)}
        broken.append(Finding("integrity", "fails", "integrity.size", values, size, limit))
    return broken or [Finding("integrity", "holds", "integrity.whole")]


def check_drift(case: Case, rules: GateRules) -> Sequence[Finding]:
    drift = case.drift
    if drift is None:
        return [Finding("drift", "open", "drift.missing")]
    if drift.prompts < rules.drift_prompts:
        values: Values = {"prompts": drift.prompts, "more": rules.drift_prompts - drift.prompts}
        return [Finding("drift", "open", "drift.too_few", values, drift.prompts, rules.drift_prompts)]
    limits = {"champion": rules.kl_from_champion_nats, "factory": rules.kl_from_factory_nats}
    distances = {"champion": drift.kl_from_champion_nats, "factory": drift.kl_from_factory_nats}
    losses = {"champion": drift.champion_nats, "factory": drift.factory_nats}
    found = [_within("drift", "drift.kl", distances[name], limits[name], name) for name in limits]
    found += [_rise(drift.candidate_nats, losses[name], rules.nats_rise_share, name) for name in losses]
    return found if case.length_is_objective else [*found, _length(drift, rules.length_change_share)]


def check_parity(case: Case, rules: GateRules) -> Sequence[Finding]:
    parity = case.parity
    if parity is None:
        return [Finding("parity", "open", "parity.missing")]
    if parity.prompts < rules.parity_prompts:
        values: Values = {"prompts": parity.prompts, "more": rules.parity_prompts - parity.prompts}
        return [Finding("parity", "open", "parity.too_few", values, parity.prompts, rules.parity_prompts)]
    return [_within("parity", "parity", parity.logp_difference_nats, rules.parity_nats, "")]


def _within(check: Check, code: str, measured: float, limit: float, against: str) -> Finding:
    values: Values = {"against": against, "nats": measured, "limit": limit}
    # An estimate of no distance at all may fall a little below 0.
    if -limit <= measured <= limit:
        return Finding(check, "holds", f"{code}.within", values, measured, limit)
    return Finding(check, "fails", f"{code}.beyond", values, measured, limit)


def _rise(nats: float, before: float, limit: float, against: str) -> Finding:
    """Relative, so that a limit fits easy and hard texts."""
    share = nats / before - 1 if 0 < before < math.inf else math.nan
    values: Values = {"against": against, "percent": 100 * share, "limit": 100 * limit}
    if share <= limit and nats >= 0:
        return Finding("drift", "holds", "drift.nats.within", values, share, limit)
    return Finding("drift", "fails", "drift.nats.beyond", values, share, limit)


def _length(drift: GeneralDrift, limit: float) -> Finding:
    before, after = drift.champion_tokens, drift.candidate_tokens
    share = after / before - 1 if 0 < before < math.inf else math.nan
    values: Values = {"percent": 100 * share, "limit": 100 * limit, "before": before, "after": after}
    if abs(share) <= limit:
        return Finding("drift", "holds", "drift.length.within", values, share, limit)
    return Finding("drift", "fails", "drift.length.beyond", values, share, limit)
