"""From events to when they take place, and to what the user is to be reminded of now.

Pure: the events, the time and the user's zone are given. Moments are compared in UTC: two times of one zone that
changes its clocks are compared by Python as their clocks show them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from engine.harness.builtin.dates.rules import starts_between
from engine.store.dates import Event

MOST_OF_ONE: Final = 1000
"""Times of one event within what is looked at."""
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that an event takes place."""

    event: Event
    wall: datetime
    """The start as its own calendar says it, without a zone: what names this one among its repetitions."""
    starts: datetime
    """In the user's zone."""
    ends: datetime


def zone_of(event: Event, user_zone: ZoneInfo) -> ZoneInfo:
    return _zone(event.zone) if event.zone else user_zone


def occurrences(events: Iterable[Event], first: datetime, last: datetime, user_zone: ZoneInfo) -> list[Occurrence]:
    """All that take place, or part of which does, between two moments (with zones), in order of their starts."""
    found = [one for event in events for one in _of_event(event, first, last, user_zone)]
    return sorted(found, key=lambda one: (one.starts.astimezone(UTC), one.event.event_id))


def occurrence_at(event: Event, wall: datetime, user_zone: ZoneInfo) -> Occurrence | None:
    """The one that starts at this wall-clock time; None when there is none."""
    moments = _walls(event, wall, wall + timedelta(seconds=1))
    return next((_placed(event, moment, user_zone) for moment in moments if moment == wall), None)


def due(
    events: Iterable[Event],
    told: Mapping[int, frozenset[str]],
    now: datetime,
    longest_ago: timedelta,
    user_zone: ZoneInfo,
) -> list[Occurrence]:
    """What to remind of now: its time has come, not longer ago than so, and `told` does not hold it yet.

    `told` maps numbers of events to starts, as the store gives them.
    """
    now = now.astimezone(UTC)
    with_reminder = [event for event in events if event.remind_minutes is not None]
    ahead = max((event.remind_minutes or 0 for event in with_reminder), default=0)
    found = occurrences(with_reminder, now - longest_ago, now + timedelta(minutes=ahead) + _DAY, user_zone)
    return [
        one
        for one in found
        if now - longest_ago <= one.starts.astimezone(UTC) - timedelta(minutes=one.event.remind_minutes or 0) <= now
        and one.wall.isoformat(timespec="seconds") not in told.get(one.event.event_id, frozenset())
    ]


def _of_event(event: Event, first: datetime, last: datetime, user_zone: ZoneInfo) -> Iterator[Occurrence]:
    zone = zone_of(event, user_zone)
    length = event.ends - event.starts
    # Clocks that change make a time longer or shorter than it looks; a day more on either side is sifted below.
    begin = first.astimezone(zone).replace(tzinfo=None) - length - _DAY
    end = last.astimezone(zone).replace(tzinfo=None) + _DAY
    for count, wall in enumerate(_walls(event, begin, end)):
        one = _placed(event, wall, user_zone)
        if count >= MOST_OF_ONE:
            return
        starts, ends = one.starts.astimezone(UTC), one.ends.astimezone(UTC)
        if starts < last.astimezone(UTC) and (ends > first.astimezone(UTC) or starts >= first.astimezone(UTC)):
            yield one


def _walls(event: Event, begin: datetime, end: datetime) -> Iterator[datetime]:
    if not event.rule:
        if begin <= event.starts < end:
            yield event.starts
        return
    left_out = set(event.left_out)
    for wall in starts_between(event.rule, event.starts, begin, end):
        if wall not in left_out:
            yield wall


def _placed(event: Event, wall: datetime, user_zone: ZoneInfo) -> Occurrence:
    zone = zone_of(event, user_zone)
    starts = wall.replace(tzinfo=zone).astimezone(UTC)
    ends = (wall + (event.ends - event.starts)).replace(tzinfo=zone).astimezone(UTC)
    return Occurrence(event, wall, starts.astimezone(user_zone), max(starts, ends).astimezone(user_zone))


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)
