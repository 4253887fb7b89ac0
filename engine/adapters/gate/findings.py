"""What the gate found, as values: codes for faces to say in any language, and an English sentence for each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.adapters.gate_texts import sentence

Check = Literal["integrity", "target", "general", "suite", "probe", "drift", "parity"]
Outcome = Literal["holds", "fails", "open"]
"""`open`: there is too little to say either."""
Values = Mapping[str, str | int | float]
Decision = Literal["promote", "reject", "not_enough_evidence"]


@dataclass(frozen=True, slots=True)
class Finding:
    check: Check
    outcome: Outcome
    code: str
    """Names its sentence in `engine.adapters.gate_texts`; faces have it under `verdict.` and this."""
    values: Values = field(default_factory=dict)
    """What the sentence is filled with. `against` is champion or factory."""
    measured: float | None = None
    """In the unit of the sentence; None where nothing could be measured."""
    limit: float | None = None
    """What it was held against."""
    bounds: tuple[float, float] | None = None
    """Of `measured`; each bound alone is sure to 1 - alpha."""

    @property
    def text(self) -> str:
        return sentence(self.code, self.values)


@dataclass(frozen=True, slots=True)
class Verdict:
    findings: tuple[Finding, ...]
    """Everything that was looked at, in the order of the checks."""

    @property
    def decision(self) -> Decision:
        """One loss rejects, whatever is open; and a candidate of which nothing was found is not promoted."""
        outcomes = {finding.outcome for finding in self.findings}
        if "fails" in outcomes:
            return "reject"
        return "promote" if outcomes == {"holds"} else "not_enough_evidence"

    @property
    def reasons(self) -> tuple[Finding, ...]:
        """Why it was rejected, or what is missing; nothing where it is promoted."""
        wanted: Mapping[Decision, Outcome | None] = {
            "reject": "fails",
            "not_enough_evidence": "open",
            "promote": None,
        }
        return tuple(finding for finding in self.findings if finding.outcome == wanted[self.decision])
