"""How a benchmark reports: goals with what was measured for them, and tables for a person to read.

With `--json` the last line of standard output is one object; without it, the same as text. Pure but for reading what
machine this is; measures nothing and knows no runtime.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

Row = Mapping[str, Any]
Table = Sequence[Row]

_LIMIT: Final = re.compile(r"(>=|<=|>|<)\s*([0-9.]+(?:e-?[0-9]+)?)")
_REPORTED: Final = "reported"


@dataclass(frozen=True, slots=True)
class Goal:
    """One claim. `goal` is written as in the issue that makes it: ">=0.97", "<=1.1", or "reported" and what with."""

    goal_id: str
    unit: str
    goal: str


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured. `value` is None when it could not be taken, and `reason` then says why."""

    value: float | None
    runs: int = 0
    spread: tuple[float, float] | None = None
    """Smallest and largest of the runs."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    bench: str
    figures: Sequence[tuple[Goal, Figure]]
    tables: Mapping[str, Table] = field(default_factory=dict)
    """Rows by title; the first row names the columns."""
    packages: Sequence[str] = ("llama-cpp-python", "numpy")
    """Distributions whose versions belong to the result."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else about the machine or the run decides the figures."""


def middle(values: Sequence[float]) -> Figure:
    """The median of several runs, with their spread."""
    return Figure(median(values), len(values), (min(values), max(values)))


def missing(reason: str) -> Figure:
    return Figure(None, reason=reason)


def worst(figures: Sequence[Figure], goal: str) -> Figure:
    """The figure that is furthest from `goal`; one that is missing is the worst of all."""
    for figure in figures:
        if figure.value is None:
            return figure
    highest_is_worst = goal.startswith(("<", _REPORTED))
    return (max if highest_is_worst else min)(figures, key=lambda figure: figure.value or 0.0)


def is_met(goal: str, value: float | None) -> bool:
    """Whether `value` is what `goal` asks for; what is only to be reported is met by any value.

    Raises: ValueError when the goal is not written as goals are.
    """
    if (match := _LIMIT.fullmatch(goal)) is None and not goal.startswith(_REPORTED):
        raise ValueError(f"A goal is a limit such as '>=0.97' or begins with 'reported', unlike {goal!r}.")
    if value is None:
        return False
    if match is None:
        return True
    limit = float(match[2])
    return {">=": value >= limit, "<=": value <= limit, ">": value > limit, "<": value < limit}[match[1]]


def to_json(report: Report) -> dict[str, Any]:
    """The object of the output contract."""
    return {
        "bench": report.bench,
        "machine": machine() | dict(report.notes),
        "versions": versions(report.packages),
        "goals": [_goal_to_json(goal, figure) for goal, figure in report.figures],
        "tables": {title: [_rounded(row) for row in table] for title, table in report.tables.items()},
    }


def to_text(report: Report) -> str:
    """The same for a person."""
    plain = to_json(report)
    about = [f"{name}: {value}" for part in ("machine", "versions") for name, value in plain[part].items()]
    goals = [_goal_row(goal) for goal in plain["goals"]]
    parts = [f"Benchmark {report.bench}", "\n".join(about), _columns(goals)]
    parts += [f"{title}\n{_columns(table)}" for title, table in plain["tables"].items()]
    return "\n\n".join(parts)


def show(report: Report, *, as_json: bool) -> None:
    print(json.dumps(to_json(report), ensure_ascii=False) if as_json else to_text(report), flush=True)


def progress(line: str) -> None:
    """Say on standard error what is being done; standard output belongs to the report."""
    print(line, file=sys.stderr, flush=True)


def arguments(bench: str, about: str) -> argparse.ArgumentParser:
    """The options every benchmark has; a benchmark may add its own."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.bench.{bench}", description=about)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="few and short runs, to check the code, not the claims")
    parser.add_argument("--seed", type=int, default=0, help="seed of adapters and prompts")
    return parser


def machine() -> dict[str, Any]:
    """What the figures depend on, as far as the system tells."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found: dict[str, Any] = {"system": platform.platform(terse=True), "processor": _processor(), "cores": cores}
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found["memory_gib"] = round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
    return found


def versions(packages: Sequence[str]) -> dict[str, str]:
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in packages}


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _goal_to_json(goal: Goal, figure: Figure) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "id": goal.goal_id,
        "value": _short(figure.value),
        "unit": goal.unit,
        "goal": goal.goal,
        "met": is_met(goal.goal, figure.value),
        "runs": figure.runs,
        "spread": None if figure.spread is None else [_short(value) for value in figure.spread],
    }
    return plain | ({"reason": figure.reason} if figure.reason else {})


def _goal_row(goal: Row) -> Row:
    low, high = goal["spread"] or ("", "")
    return {
        "goal": goal["id"],
        "value": goal["reason"] if goal["value"] is None else goal["value"],
        "unit": goal["unit"],
        "wanted": goal["goal"],
        "met": "yes" if goal["met"] else "no",
        "runs": goal["runs"],
        "spread": f"{low} to {high}" if goal["spread"] else "",
    }


def _short(value: Any) -> Any:
    """Four significant digits; more would be noise."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _rounded(row: Row) -> dict[str, Any]:
    return {name: _short(value) for name, value in row.items()}


def _columns(table: Table) -> str:
    """A table as text, every column as wide as its widest cell."""
    if not table:
        return "(nothing)"
    names = list(table[0])
    lines = [names, *([str(row.get(name, "")) for name in names] for row in table)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(names))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
