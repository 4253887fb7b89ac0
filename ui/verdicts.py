"""What a face says of a verdict of the gate, in its language. Pure: the gate's values in, lines out."""

from collections.abc import Sequence

from engine.adapters.gate import Finding, Verdict
from engine.adapters.gate_texts import fill
from ui.strings import say
from ui.texts.verdicts import TEXTS


def finding_line(finding: Finding, language: str) -> str:
    def find(code: str) -> str | None:
        wording = TEXTS.get(f"verdict.{code}")
        return None if wording is None else wording.zh if language == "zh" else wording.en

    return fill(finding.code, finding.values, find)


def verdict_lines(verdict: Verdict, language: str) -> Sequence[str]:
    """The decision, then why it was rejected or what is missing; where it is promoted, what was won and kept."""
    told = verdict.reasons or [finding for finding in verdict.findings if finding.check in ("target", "general")]
    return [say(f"verdict.{verdict.decision}", language), *(finding_line(finding, language) for finding in told)]
