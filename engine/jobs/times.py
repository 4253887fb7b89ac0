"""When a schedule is due: pure, moments in UTC in and out, daylight saving included.

By whose clocks it goes is said by its zone. A time of day that the clocks skip is due as they jump, one that they show
twice is due the first time; so a daily job runs once every day. A job of every hour, or of so many seconds, goes by
time that passes, and knows of no jump.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.errors import UsageProblem
from engine.jobs.cron import after, follows_the_hours, next_wall_time
from engine.jobs.values import MOST_COUNTED, Schedule

_WINDOWS: Final = tuple(timedelta(hours=hours) for hours in (2, 12, 3 * 24, 20 * 24, 120 * 24, 800 * 24))
"""How far back the last times of a schedule are looked for, wider and wider."""
_EXACT: Final = timedelta(seconds=1)


@lru_cache(maxsize=64)
def zone_named(name: str) -> ZoneInfo:
    """Raises: UsageProblem."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageProblem(f"There is no time zone {name!r:.60}.", "Give its name, such as Europe/Berlin.") from error


def next_after(schedule: Schedule, moment: datetime) -> datetime | None:
    """The first time behind `moment`; None when nothing is left. Raises: UsageProblem for a schedule that is none."""
    match schedule.kind:
        case "once":
            at = datetime.fromisoformat(schedule.text)
            return at if at > moment else None
        case "every":
            step, begins = timedelta(seconds=int(schedule.text)), datetime.fromisoformat(schedule.begins_at)
            return max(begins + step, begins + ((moment - begins) // step + 1) * step)
        case "cron":
            zone = zone_named(schedule.zone)
            by_the_clock = _next_by_time_passing if follows_the_hours(schedule.text) else _next_by_clock
            return by_the_clock(schedule.text, zone, moment.astimezone(UTC))


def times_until(schedule: Schedule, first: datetime, until: datetime, most: int = MOST_COUNTED) -> Sequence[datetime]:
    """The times from `first`, which is one of them, to `until`: the last `most` of them, oldest first."""
    if until < first:
        return ()
    if schedule.kind == "once":
        return (first,)
    if schedule.kind == "every":
        step = timedelta(seconds=int(schedule.text))
        count = (until - first) // step + 1
        return tuple(first + index * step for index in range(max(0, count - most), count))
    for window in _WINDOWS:
        is_whole = until - window < first
        found = [first] if is_whole else []
        moment = next_after(schedule, first if is_whole else until - window)
        while moment is not None and moment <= until:
            found.append(moment)
            moment = next_after(schedule, moment)
        if is_whole or len(found) >= most:
            break
    return tuple(found[-most:]) or (first,)


def moment_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """When the clocks of `zone` show `wall` (without a zone), the first time; where they skip it, when they jump."""
    early = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if early.astimezone(zone).replace(tzinfo=None) == wall:
        return early
    # A time that is skipped: fold 0 counts it by the old offset, past the jump, and fold 1 by the new one, before it.
    return _jump(zone, wall.replace(tzinfo=zone, fold=1).astimezone(UTC), early)


def _next_by_clock(fields: str, zone: ZoneInfo, moment: datetime) -> datetime | None:
    start = after(moment.astimezone(zone).replace(tzinfo=None))
    while (wall := next_wall_time(fields, start)) is not None:
        found = moment_of(wall, zone)
        if found > moment:  # not so where the clocks show this time again
            return found
        start = after(wall)
    return None


def _next_by_time_passing(fields: str, zone: ZoneInfo, moment: datetime) -> datetime | None:
    offset = _offset(zone, moment)
    start = after((moment + offset).replace(tzinfo=None))
    while (wall := next_wall_time(fields, start)) is not None:
        found = wall.replace(tzinfo=UTC) - offset
        if _offset(zone, found) == offset:
            return found
        # Between there and here the clocks are set: go on from there by what they show then.
        moment = _jump(zone, moment, found)
        offset = _offset(zone, moment)
        start = (moment + offset).replace(tzinfo=None)
    return None


def _jump(zone: ZoneInfo, before: datetime, behind: datetime) -> datetime:
    """When between two moments the clocks of `zone` are set; that is always at a whole second."""
    old, before = _offset(zone, before), before.replace(microsecond=0)
    while behind - before > _EXACT:
        middle = before + ((behind - before) / 2 // _EXACT or 1) * _EXACT
        if _offset(zone, middle) == old:
            before = middle
        else:
            behind = middle
    return behind


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    return offset
