"""Adapters in words: rows of a list, facts of one, what differs between two. Pure; prints nothing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from app.models.wording import size_text
from engine.adapters.records import AdapterDetails, AdapterRecord, Evaluation, Promotion
from ui.inert import display_line
from ui.strings import say

SHORT: Final = 12
_HEADS: Final = ("name", "expert", "profile", "kind", "state", "rank", "size", "created", "note")
_NOTE_CELLS: Final = 48
_SHOWN: Final = 10
"""Sources, children and ancestors that are listed; of more only their number is told."""


def short(content_hash: str) -> str:
    return content_hash[:SHORT]


def heads(language: str) -> list[str]:
    return [say(f"adapters.list.{head}", language) for head in _HEADS]


def row(record: AdapterRecord, language: str) -> list[str]:
    return [
        short(record.content_hash),
        display_line(record.expert),
        display_line(record.profile),
        say(f"adapters.kind.{record.kind}", language),
        state_text(record, language),
        str(record.rank),
        size_text(record.size_bytes),
        record.created_at[:10],
        display_line(record.note, _NOTE_CELLS),
    ]


def state_text(record: AdapterRecord, language: str) -> str:
    return say("adapters.forgotten" if record.is_forgotten else f"adapters.state.{record.state}", language)


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
    """What `show` tells, beyond the facts."""
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
        when=entry.created_at[:16].replace("T", " "),
        name=_or_factory(entry.content_hash, language),
        previous=_or_factory(entry.previous_hash, language),
    ) + (f" ({display_line(entry.reason)})" if entry.reason else "")


def differences(one: AdapterDetails, other: AdapterDetails) -> list[tuple[str, str, str]]:
    """(what, value of one, value of the other) where they differ: facts, sources, figures of their suites."""
    rows = [
        (what, str(mine), str(theirs)) for (what, mine), (_, theirs) in zip(_plain(one), _plain(other), strict=True)
    ]
    mine, theirs = ({source.source_id for source in each.sources} for each in (one, other))
    rows.append(("sources", str(len(mine - theirs)), str(len(theirs - mine))))
    for suite, figure in sorted(_figures(one).keys() | _figures(other).keys()):
        mine_text, their_text = (_figure_text(each, suite, figure) for each in (one, other))
        rows.append((f"{suite}: {figure}", mine_text, their_text))
    return [row for row in rows if row[1] != row[2]]


def difference_row(what: str, mine: str, theirs: str, language: str) -> list[str]:
    """A difference for people, in their language."""
    if what in ("kind", "state"):
        mine, theirs = (say(f"adapters.{what}.{value}", language) for value in (mine, theirs))
    elif what in ("base", "parent", "recipe", "data"):
        mine, theirs = short(mine), short(theirs)
    label = say(f"adapters.fact.{what}", language) if ": " not in what else what
    return [display_line(text) for text in (label, mine, theirs)]


def _plain(details: AdapterDetails) -> list[tuple[str, object]]:
    record = details.record
    return [
        ("expert", record.expert),
        ("profile", record.profile),
        ("kind", record.kind),
        ("state", record.state),
        ("rank", record.rank),
        ("size", record.size_bytes),
        ("created", record.created_at),
        ("note", record.note),
        ("base", record.base_hash),
        ("parent", record.parent_hash),
        ("recipe", record.recipe_hash),
        ("data", record.data_hash),
    ]


def _figure_text(details: AdapterDetails, suite: str, figure: str) -> str:
    value = _figures(details).get((suite, figure))
    return "-" if value is None else f"{value:.4g}"


def _figures(details: AdapterDetails) -> Mapping[tuple[str, str], float]:
    """The newest of every suite."""
    found: dict[tuple[str, str], float] = {}
    for evaluation in details.evaluations:
        for name, value in evaluation.figures.items():
            found.setdefault((evaluation.suite, name), value)
    return found


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")


def _or_factory(content_hash: str, language: str) -> str:
    return short(content_hash) if content_hash else say("adapters.factory_alone", language)
