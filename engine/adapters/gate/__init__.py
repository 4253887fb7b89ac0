"""May a candidate answer from now on? Results in, a verdict out. Pure: runs no model, opens no file, keeps nothing.

A candidate is promoted when it is shown to win what it was trained for and shown to have lost nothing else, against the
champion *and* the factory's adapter: against the champion alone, a little could be lost every night. Whatever was not
measured, not on the same items, or on too few of them leaves the verdict open, and says what is missing.
"""

from engine.adapters.gate.findings import Check, Decision, Finding, Outcome, Verdict
from engine.adapters.gate.inputs import (
    AdapterResults,
    Case,
    GeneralDrift,
    Integrity,
    ItemResult,
    Parity,
    Role,
    SuiteResult,
)
from engine.adapters.gate.judging import judge
from engine.adapters.gate.rules import NIGHT, PROBES, TEACH, GateRules

__all__ = [
    "NIGHT",
    "PROBES",
    "TEACH",
    "AdapterResults",
    "Case",
    "Check",
    "Decision",
    "Finding",
    "GateRules",
    "GeneralDrift",
    "Integrity",
    "ItemResult",
    "Outcome",
    "Parity",
    "Role",
    "SuiteResult",
    "Verdict",
    "judge",
]
