"""What a face says of a verdict of the gate, in its language. Pure: values in, lines out."""

from collections.abc import Sequence
from typing import Final

from engine.adapters.gate import Finding, Verdict
from engine.adapters.gate_texts import fill
from engine.adapters.records import AdapterDetails
from ui.adapter_lines import short
from ui.inert import display_line
from ui.strings import say
from ui.texts.verdicts import TEXTS

_MOST_REASONS: Final = 3
"""Told in a question; all of them are in what is known of the adapter."""


def finding_line(finding: Finding, language: str) -> str:
    def find(code: str) -> str | None:
        wording = TEXTS.get(f"verdict.{code}")
        return None if wording is None else wording.zh if language == "zh" else wording.en

    return fill(finding.code, finding.values, find)


def verdict_lines(verdict: Verdict, language: str) -> Sequence[str]:
    """The decision, then why it was rejected or what is missing; where it is promoted, what was won and kept."""
    told = verdict.reasons or [finding for finding in verdict.findings if finding.check in ("target", "general")]
    return [say(f"verdict.{verdict.decision}", language), *(finding_line(finding, language) for finding in told)]


def gate_warning(details: AdapterDetails, language: str) -> str:
    """What to say before an adapter is put in use: why the gate did not pass it, or that it was never asked.

    Empty where its newest verdict is that it passed. Reasons are in the language they were kept in.
    """
    judged = next((evaluation for evaluation in details.evaluations if evaluation.verdict), None)
    if judged is None:
        return say("adapters.promote.never_gated", language, name=short(details.record.content_hash))
    if judged.verdict == "passed":
        return ""
    reasons = " ".join(display_line(reason) for reason in judged.reasons[:_MOST_REASONS])
    return say("adapters.promote.gate_failed", language, reasons=reasons).rstrip()
