"""Measurements and verdicts in words, as tables and lines, and as plain values for scripts. Pure; prints nothing."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from app.evaluation.judging import EvaluationProgress, Judged
from app.models.wording import table
from engine.adapters.gate import AdapterResults, Finding, GeneralDrift, SuiteResult
from engine.evaluation.drift import NAME as DRIFT
from engine.evaluation.results import Change, change_of, figures_of
from ui.strings import say
from ui.verdicts import finding_line, verdict_lines


def progress_line(progress: EvaluationProgress, language: str) -> str:
    suite = say("eval.drift", language) if progress.suite == DRIFT else progress.suite
    who = say(f"eval.who.{progress.who}", language)
    return say("eval.progress", language, who=who, suite=suite, done=f"{progress.done:,}", total=f"{progress.total:,}")


def results_lines(results: AdapterResults, reference: AdapterResults | None, language: str) -> Sequence[str]:
    """A row for every suite; with a reference, what changed from it."""
    heads = ["suite", "items", "accuracy", "nats", *(["before", "change"] if reference else [])]
    rows = [[say(f"eval.head.{head}", language) for head in heads]]
    for suite in results.suites:
        row = [suite.suite, str(len(suite.items)), *_cells(suite)]
        if reference is not None:
            before = next((one for one in reference.suites if one.suite == suite.suite), None)
            row.append(_cells(before)[0] if before else "-")
            row.append(_change_text(change_of(suite, reference, results), language))
        rows.append(row)
    return [line.rstrip() for line in table(rows)]


def gate_lines(judged: Judged, language: str) -> Sequence[str]:
    """The verdict, why, and then what else was found: what speaks for the adapter, and what is open beside a loss."""
    told = verdict_lines(judged.verdict, language)
    lines = list(told)
    for outcome in ("open", "holds"):
        found = [one for one in judged.verdict.findings if one.outcome == outcome]
        rest = [line for line in (finding_line(one, language) for one in found) if line not in told]
        if rest:
            lines += [say(f"eval.gate.{outcome}", language, count=len(rest)), *(f"  {line}" for line in rest)]
    return lines


def results_json(results: AdapterResults, reference: AdapterResults | None) -> list[dict[str, Any]]:
    rows = []
    for suite in results.suites:
        row: dict[str, Any] = {"suite": suite.suite, "role": suite.role, "items": len(suite.items), **figures_of(suite)}
        row["failed"] = [item.item_id for item in suite.items if item.is_right is False]
        if reference is not None:
            change = change_of(suite, reference, results)
            row["change"] = None if change is None else asdict(change)
        rows.append(row)
    return rows


def judged_json(judged: Judged) -> dict[str, Any]:
    """Numbers that are none are left out, since JSON has none for them."""
    verdict, case = judged.verdict, judged.case
    return {
        "decision": verdict.decision,
        "reasons": [finding.text for finding in verdict.reasons],
        "findings": [_finding_json(finding) for finding in verdict.findings],
        "drift": None if case.drift is None else _drift_json(case.drift),
        "suites": results_json(case.candidate, None),
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    bounds = None if finding.bounds is None else [_number(bound) for bound in finding.bounds]
    return {
        "check": finding.check,
        "outcome": finding.outcome,
        "code": finding.code,
        "text": finding.text,
        "measured": _number(finding.measured),
        "limit": _number(finding.limit),
        "bounds": bounds,
    }


def _drift_json(drift: GeneralDrift) -> dict[str, Any]:
    return {name: _number(value) for name, value in asdict(drift).items()}


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _cells(suite: SuiteResult) -> tuple[str, str]:
    """How many were right, and the loss."""
    figures = figures_of(suite)
    accuracy, nats = figures.get("accuracy"), figures.get("nats_per_token")
    return (
        "-" if accuracy is None else f"{100 * accuracy:.1f} %",
        "-" if nats is None else f"{nats:.3f}",
    )


def _change_text(change: Change | None, language: str) -> str:
    if change is None:
        return say("eval.change.none", language)
    return say(
        "eval.change",
        language,
        points=change.points,
        low=change.low,
        high=change.high,
        wins=change.wins,
        losses=change.losses,
    )
