"""All checks of the gate, in the order in which a person would ask."""

from engine.adapters.gate.findings import Verdict
from engine.adapters.gate.holding import check_drift, check_integrity, check_parity
from engine.adapters.gate.inputs import Case
from engine.adapters.gate.keeping import check_general
from engine.adapters.gate.openings import without_openings
from engine.adapters.gate.probing import check_probes
from engine.adapters.gate.rules import NIGHT, GateRules
from engine.adapters.gate.winning import check_target


def judge(case: Case, rules: GateRules = NIGHT) -> Verdict:
    """Every check is made, also after one has failed: who reads why learns all of it at once."""
    if case.opening_is_objective:
        case = without_openings(case)
    return Verdict(
        (
            *check_integrity(case.integrity, rules),
            *check_target(case, rules),
            *check_general(case, rules),
            *check_probes(case, rules),
            *check_drift(case, rules),
            *check_parity(case, rules),
        )
    )
