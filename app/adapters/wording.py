"""Adapters as rows of a table, and what differs between two; `ui.adapter_lines` has the rest. Pure; prints nothing."""

from collections.abc import Mapping
from typing import Final

from engine.adapters.records import AdapterDetails, AdapterRecord
from ui.adapter_lines import short, state_text
from ui.inert import display_line
from ui.sizes import size_text
from ui.strings import say

_HEADS: Final = ("name", "expert", "profile", "kind", "state", "rank", "size", "created", "note")
_NOTE_CELLS: Final = 48


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
