"""Habits: requests of the same kind, at about the same time of the day, on three days. Pure."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import date
from statistics import median
from typing import Final

from engine.memory.words import content_terms
from engine.suggestions.values import About, Asked, Candidate

TIMES: Final = 3
"""On so many days it must have been asked."""
NEAR_MINUTES: Final = 60
"""So far apart two times of the day may lie."""
LIKE: Final = 0.6
"""From this share of common terms on, two requests are of the same kind."""
DAILY_WITHIN_DAYS: Final = 10
"""Asked three times within so many days, it is a habit of each day, or of each working day."""
WEEKLY_WITHIN_DAYS: Final = 35
_TELLING_TERMS: Final = 2
_LONGEST_CHARACTERS: Final = 300
_ROUND_TO_MINUTES: Final = 5
_DAY_MINUTES: Final = 24 * 60


def habits(asked: Sequence[Asked], jobs: Iterable[str], zone: str) -> list[Candidate]:
    """Of requests, the newest first. `jobs`: the texts of jobs that there are; what one of them does already is no
    news. `zone`: the name of the zone of the requests' times."""
    telling = [(one, content_terms(one.text)) for one in asked if len(one.text) <= _LONGEST_CHARACTERS]
    left = [(one, terms) for one, terms in telling if len(terms) >= _TELLING_TERMS]
    done = [content_terms(text) for text in jobs]
    found = list[Candidate]()
    while left:
        first, terms = left[0]
        alike = [one for one, others in left if _are_alike(terms, others)]
        left = [(one, others) for one, others in left if not _are_alike(terms, others)]
        near = [one for one in alike if _minutes_apart(one, first) <= NEAR_MINUTES]
        days = sorted({one.at.date() for one in near})
        weekdays = _weekdays(days)
        if weekdays is not None and not any(_are_alike(terms, others) for others in done):
            found.append(_candidate(first, terms, near, days, weekdays, zone))
    return found


def _weekdays(days: Sequence[date]) -> str | None:
    """The weekdays of a habit as cron has them; None where these days make none."""
    if len(days) >= TIMES and (days[-1] - days[-TIMES]).days < DAILY_WITHIN_DAYS:
        return "mon-fri" if all(day.weekday() < 5 for day in days) else "*"
    same = [day for day in days if day.weekday() == days[-1].weekday()]
    if len(same) >= TIMES and (same[-1] - same[-TIMES]).days <= WEEKLY_WITHIN_DAYS:
        return same[-1].strftime("%a").lower()
    return None


def _candidate(
    first: Asked, terms: frozenset[str], near: Sequence[Asked], days: Sequence[date], weekdays: str, zone: str
) -> Candidate:
    # Times around midnight would have a middle at noon.
    start = _minute(first)
    middle = start + median([_signed_minutes(_minute(one) - start) for one in near])
    minute = int(round(middle / _ROUND_TO_MINUTES) * _ROUND_TO_MINUTES) % _DAY_MINUTES
    digest = hashlib.sha256(" ".join(sorted(terms)).encode()).hexdigest()[:16]
    return Candidate(
        "habit",
        f"habit:{digest}",
        About(turn_id=first.turn_id),
        {
            "time": f"{minute // 60:02}:{minute % 60:02}",
            "weekdays": weekdays,
            "cron": f"{minute % 60} {minute // 60} * * {weekdays}",
            "zone": zone,
            "count": str(len(days)),
            "days": ", ".join(day.isoformat() for day in days[-TIMES:]),
        },
    )


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= LIKE * len(one | other) > 0


def _minutes_apart(one: Asked, other: Asked) -> int:
    return abs(_signed_minutes(_minute(one) - _minute(other)))


def _signed_minutes(minutes: int) -> int:
    """The shorter way round the clock."""
    return (minutes + _DAY_MINUTES // 2) % _DAY_MINUTES - _DAY_MINUTES // 2


def _minute(one: Asked) -> int:
    return one.at.hour * 60 + one.at.minute
