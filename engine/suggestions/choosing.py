"""Which suggestion is made now, if any. Pure: better none than one too many."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final, get_args

from engine.suggestions.values import Candidate, Suggestion, SuggestionKind

APART: Final = timedelta(hours=1)
"""So long after one was made no other one is."""
REFUSALS: Final = 2
"""Dismissed so often in a row, a kind is quiet until the user switches it on again."""
LASTS: Final[dict[SuggestionKind, timedelta]] = {
    "due": timedelta(hours=24),
    "habit": timedelta(days=3),
    "stale": timedelta(days=3),
    "break": timedelta(minutes=30),
}
"""After so long without an answer it has expired."""


def choose(
    candidates: Sequence[Candidate],
    past: Sequence[Suggestion],
    now: datetime,
    *,
    most_a_day: int,
    off: Collection[SuggestionKind],
    counted: Collection[int],
) -> Candidate | None:
    """`past`: what was suggested so far, the newest first. `now` is by the user's clocks, whose days count. `counted`:
    those of the past whose answers still count for being quiet."""
    if any(one.state == "offered" for one in past):
        return None
    made = [datetime.fromisoformat(one.made_at).astimezone(now.tzinfo) for one in past]
    if sum(moment.date() == now.date() for moment in made) >= most_a_day:
        return None
    if made and now - max(made) < APART:
        return None
    known = {one.key for one in past}
    quiet = {*off, *quiet_kinds([one for one in past if one.suggestion_id in counted])}
    order: list[SuggestionKind] = list(get_args(SuggestionKind))
    wanted = [one for one in candidates if one.key not in known and one.kind not in quiet]
    return min(wanted, key=lambda one: order.index(one.kind), default=None)


def quiet_kinds(past: Sequence[Suggestion]) -> frozenset[SuggestionKind]:
    """The kinds whose last answers were all refusals. `past`: the newest first."""
    answers = dict[SuggestionKind, list[str]]()
    for one in past:
        if one.state in ("accepted", "dismissed"):
            answers.setdefault(one.kind, []).append(one.state)
    return frozenset(
        kind for kind, states in answers.items() if len(states) >= REFUSALS and set(states[:REFUSALS]) == {"dismissed"}
    )


def has_expired(suggestion: Suggestion, now: datetime) -> bool:
    """Whether it is too late for an answer."""
    if suggestion.state != "offered":
        return False
    if suggestion.kind != "break" and not suggestion.text:
        return True  # what it is about was forgotten or removed
    if moment := suggestion.facts.get("remind_at"):
        return now >= datetime.fromisoformat(moment)
    return now - datetime.fromisoformat(suggestion.made_at) > LASTS[suggestion.kind]
