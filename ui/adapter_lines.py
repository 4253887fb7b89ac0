"""Adapters in words, for every face: what one is, how it did, when it answered, and what a change would do.

Pure: values of the catalogue in, lines out. Knows no shelf and no widget.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from engine.adapters.records import AdapterDetails, AdapterRecord, Evaluation, GateVerdict, Promotion, Swap
from ui.inert import display_line
from ui.sizes import size_text
from ui.strings import say

SHORT: Final = 12
"""Digits of a hash that people are shown."""
_NAMED: Final = 10
"""Sources, children and ancestors that are listed; of more only their number is told."""
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600
_DAY_S: Final = 86400


def short(content_hash: str) -> str:
    return display_line(content_hash[:SHORT])


def state_text(record: AdapterRecord, language: str) -> str:
    return say("adapters.forgotten" if record.is_forgotten else f"adapters.state.{record.state}", language)


def verdict_text(verdict: GateVerdict, language: str) -> str:
    """What the gate said; that nobody asked it, where nobody did."""
    return say(f"adapters.gate.{verdict or 'none'}", language)


def age_text(created_at: str, now: datetime, language: str) -> str:
    """How old an entry is, such as "3 h"; empty where its time cannot be read. `now` has a zone."""
    try:
        seconds = (now - datetime.fromisoformat(created_at)).total_seconds()
    except (ValueError, TypeError):
        return ""
    for unit, length_s in (("days", _DAY_S), ("hours", _HOUR_S), ("minutes", _MINUTE_S)):
        if seconds >= length_s:
            return say(f"adapters.age.{unit}", language, count=int(seconds // length_s))
    return say("adapters.age.now", language)


def facts(record: AdapterRecord, language: str) -> list[tuple[str, str]]:
    """(what, value) of all that is known, without what is empty."""
    found = [
        ("hash", record.content_hash),
        ("expert", record.expert),
        ("profile", record.profile),
        ("kind", say(f"adapters.kind.{record.kind}", language)),
        ("state", state_text(record, language)),
        ("rank", str(record.rank)),
        ("size", size_text(record.size_bytes)),
        ("created", f"{record.created_at[:19].replace('T', ' ')} UTC" if record.created_at else ""),
        ("note", record.note),
        ("file", record.file),
        ("base", record.base_hash),
        ("parent", record.parent_hash),
        ("recipe", record.recipe_hash),
        ("data", record.data_hash),
    ]
    return [(say(f"adapters.fact.{key}", language), display_line(value)) for key, value in found if value]


def detail_lines(details: AdapterDetails, language: str) -> Iterator[str]:
    """What is known beyond the facts: lineage, sources, evaluations with their reasons, trial, promotions."""
    for key, some in (("ancestors", details.ancestors), ("children", details.children)):
        if some:
            yield say(f"adapters.{key}", language, names=_names([short(one.content_hash) for one in some]))
    if details.sources:
        names = _names([display_line(source.source_id, 40) for source in details.sources])
        yield say("adapters.sources", language, count=len(details.sources), names=names)
    for evaluation in details.evaluations:
        yield evaluation_line(evaluation, language)
        yield from (f"  {display_line(reason)}" for reason in evaluation.reasons)
    if details.canary is not None:
        canary = details.canary
        outcome = say(f"adapters.canary.{canary.outcome or 'goes_on'}", language)
        yield say(
            "adapters.canary",
            language,
            turns=canary.turns,
            planned=canary.planned_turns,
            negative=canary.negative,
            outcome=outcome,
        )
    for entry in details.promotions:
        yield promotion_line(entry, language)


def evaluation_line(evaluation: Evaluation, language: str) -> str:
    figures = ", ".join(f"{display_line(name)} {value:.4g}" for name, value in evaluation.figures.items())
    verdict = say(f"adapters.verdict.{evaluation.verdict}", language) if evaluation.verdict else ""
    return say(
        "adapters.evaluation",
        language,
        suite=display_line(evaluation.suite),
        items=evaluation.items,
        what=", ".join(part for part in (verdict, figures) if part) or "-",
    )


def promotion_line(entry: Promotion, language: str) -> str:
    return say(
        f"adapters.log.{entry.kind}",
        language,
        when=display_line(entry.created_at[:16].replace("T", " ")),
        name=_or_factory(entry.content_hash, language),
        previous=_or_factory(entry.previous_hash, language),
    ) + (f" ({display_line(entry.reason)})" if entry.reason else "")


def swap_line(key: str, swap: Swap, expert: str, language: str) -> str:
    """What a promotion or a rollback did; `key` names the text, which has `now`, `previous` and `expert`."""
    now, previous = (one.content_hash if one else "" for one in (swap.now, swap.previous))
    return say(
        key,
        language,
        expert=display_line(expert),
        now=_or_factory(now, language),
        previous=_or_factory(previous, language),
    )


def has_passed(details: AdapterDetails) -> bool:
    """By its newest verdict of the gate."""
    verdicts = [evaluation.verdict for evaluation in details.evaluations if evaluation.verdict]
    return bool(verdicts) and verdicts[0] == "passed"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")


def _or_factory(content_hash: str, language: str) -> str:
    return short(content_hash) if content_hash else say("adapters.factory_alone", language)
