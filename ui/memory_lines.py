"""Memories in words, for every face: what one says, where it comes from, and how all of them stand.

Pure: values in, lines out. Knows no shelf and no widget. Whatever is shown is harmless to a terminal.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from engine.memory.hygiene import UNUSED_DAYS, Finding, HygieneReport
from engine.memory.values import Memory, MemoryDetails, Standing
from ui.inert import display_line, display_text
from ui.strings import say

TEXT_CELLS: Final = 100
MESSAGE_CHARACTERS: Final = 1_000
"""Of a whole message; the beginning is enough to know it again."""
_NAMED: Final = 12
"""Numbers that a finding lists; of more only how many there are is told."""


def kind_text(memory: Memory, language: str) -> str:
    return say(f"memory.kind.{memory.kind}", language)


def state_text(memory: Memory, language: str) -> str:
    return say(f"memory.state.{memory.state}", language)


def trust_text(memory: Memory, language: str) -> str:
    return say(f"memory.trust.{memory.trust}", language)


def day_text(moment: str | None) -> str:
    """Of a time as it is stored; empty where there is none."""
    return display_line((moment or "")[:10])


def text_line(memory: Memory, language: str, max_cells: int | None = TEXT_CELLS) -> str:
    """What it says, and the day of a plan, on one line."""
    text = display_line(memory.text, max_cells)
    return say("memory.due", language, text=text, day=display_line(memory.due_on)) if memory.due_on else text


def memory_line(memory: Memory, language: str) -> str:
    """One line of a list: day, kind, what is special about it, and what it says."""
    state = "" if memory.state == "active" else state_text(memory, language)
    parts = (day_text(memory.created_at), kind_text(memory, language), state, text_line(memory, language))
    return " · ".join(part for part in parts if part)


def facts(details: MemoryDetails, language: str) -> list[tuple[str, str]]:
    """(what, value) of all that is known of one, without what is empty."""
    memory = details.memory
    found = [
        ("number", str(memory.memory_id)),
        ("kind", kind_text(memory, language)),
        ("state", state_text(memory, language)),
        ("trust", trust_text(memory, language)),
        ("source", say(f"memory.source.{memory.source}", language)),
        ("created", day_text(memory.created_at)),
        ("due", memory.due_on),
        ("weight", say("memory.weight", language, weight=f"{details.weight:.2f}")),
        ("used", day_text(memory.used_at) or say("memory.never", language)),
        ("validated", day_text(memory.validated_at)),
        ("conversation", memory.conversation_id or ""),
        ("turn", memory.turn_id or ""),
    ]
    return [(say(f"memory.fact.{key}", language), display_line(value)) for key, value in found if value]


def passages(details: MemoryDetails, language: str) -> list[tuple[str, str]]:
    """(heading, text) of the words that say so, the message around them, and what was in its place before."""
    memory = details.memory
    found = [("evidence", memory.evidence)]
    if details.said != memory.evidence:
        cut = details.said[:MESSAGE_CHARACTERS]
        found.append(("message", cut + ("…" if len(details.said) > len(cut) else "")))
    found.append(("history", "\n".join(memory_line(one, language) for one in details.history)))
    return [(say(f"memory.{key}", language), display_text(text)) for key, text in found if text]


def report_lines(report: HygieneReport, standing: Standing, language: str) -> Iterator[str]:
    """How they stand, one figure a line, with what it means and the command that acts on it."""
    yield say(
        "memory.report.standing",
        language,
        active=standing.active,
        pending=standing.pending,
        superseded=standing.superseded,
    )
    if report.kinds:
        yield say("memory.report.kinds", language, counts=_counts("kind", report.kinds.items(), language))
        yield say("memory.report.trusts", language, counts=_counts("trust", report.trusts.items(), language))
    if standing.paused_since is not None:
        yield say("memory.is_paused", language, day=day_text(standing.paused_since))
    found = [finding for finding in report.findings if finding.count]
    for finding in found:
        yield finding_line(finding, report, language)
        numbers = ", ".join(map(str, finding.memory_ids[:_NAMED])) + (" …" if finding.count > _NAMED else "")
        yield "  " + say("memory.report.numbers", language, numbers=numbers)
    if not found:
        yield say("memory.report.clean", language)


def finding_line(finding: Finding, report: HygieneReport, language: str) -> str:
    meaning = say(f"memory.meaning.{finding.name}", language, since=day_text(report.waiting_since), days=UNUSED_DAYS)
    what = say(f"memory.finding.{finding.name}", language)
    return say("memory.report.finding", language, what=what, count=finding.count, meaning=meaning)


def _counts(name: str, counts: Iterable[tuple[str, int]], language: str) -> str:
    """The most frequent first."""
    return ", ".join(
        say("memory.report.count", language, name=say(f"memory.{name}.{key}", language), count=count)
        for key, count in sorted(counts, key=lambda each: -each[1])
    )
