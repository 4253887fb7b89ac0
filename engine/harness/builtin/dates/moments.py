"""Days and times as people and models write them, and as they are shown. Pure: the zone is given."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from engine.errors import UsageProblem
from engine.harness.builtin.dates.occurrences import Occurrence, zone_of
from engine.harness.builtin.dates.rules import FIRST_YEAR, LAST_YEAR
from engine.store.dates import Event

_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Moment:
    wall: datetime
    is_day: bool
    """Only a day was given."""


def zone_named(name: str) -> ZoneInfo:
    """Raises: UsageProblem."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise UsageProblem(f"There is no time zone {name!r:.60}.", "Give a name such as Europe/Berlin.") from None


def moment_of(text: str, zone: ZoneInfo) -> Moment:
    """2026-03-01, 2026-03-01 09:00, or with an offset such as +08:00, which is turned into the zone.

    Raises: UsageProblem.
    """
    written = text.strip()
    try:
        if len(written) <= 10:
            day = date.fromisoformat(written)
            moment, is_day = datetime(day.year, day.month, day.day), True
        else:
            moment, is_day = datetime.fromisoformat(written).replace(microsecond=0), False
            if moment.tzinfo is not None:
                moment = moment.astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise UsageProblem(
            f"{written!r:.40} is no day and no time.", "Write it as 2026-03-01 or 2026-03-01T09:00."
        ) from None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise UsageProblem(f"The year {moment.year} is not taken.", f"Use {FIRST_YEAR} to {LAST_YEAR}.")
    return Moment(moment, is_day)


def span(starts: str, ends: str, zone: ZoneInfo) -> tuple[datetime, datetime, bool]:
    """Start, end, and whether it is whole days. An end that is a day belongs to it; without one it is an hour or a day.

    Raises: UsageProblem.
    """
    first = moment_of(starts, zone)
    if not ends.strip():
        return first.wall, first.wall + (_DAY if first.is_day else _HOUR), first.is_day
    last = moment_of(ends, zone)
    if last.is_day != first.is_day:
        raise UsageProblem("One of start and end is a day, the other a time.", "Give both as days or both as times.")
    end = last.wall + (_DAY if last.is_day else timedelta())
    if end < first.wall or (first.is_day and end == first.wall):
        raise UsageProblem("The end is before the start.", "Give an end that is later.")
    return first.wall, end, first.is_day


def when(event: Event) -> str:
    """The first time of an event, in its own zone."""
    if event.is_all_day:
        last = event.ends - _DAY
        days = f"{event.starts:%a %Y-%m-%d}"
        return days if last <= event.starts else f"{days} to {last:%a %Y-%m-%d}"
    same_day = event.starts.date() == event.ends.date()
    end = "" if event.ends == event.starts else f" to {event.ends:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}}"
    return f"{event.starts:%a %Y-%m-%d %H:%M}{end}" + (f" ({event.zone})" if event.zone else "")


def line(one: Occurrence, user_zone: ZoneInfo) -> str:
    """One occurrence, in the user's zone."""
    event = one.event
    if event.is_all_day:
        last = (one.wall + (event.ends - event.starts) - _DAY).date()
        time = f"{one.wall:%a %Y-%m-%d}" + (f" to {last}" if last > one.wall.date() else "") + " all day"
    else:
        same_day = one.starts.date() == one.ends.date()
        end = "" if one.ends == one.starts else f" to {one.ends:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}}"
        time = f"{one.starts:%a %Y-%m-%d %H:%M}{end}"
    parts = [f"[{event.event_id}] {time}  {event.title}"]
    if event.place:
        parts.append(f"at {event.place}")
    if event.kind == "reminder":
        parts.append("(reminder)")
    elif event.remind_minutes is not None:
        parts.append(f"(reminder {event.remind_minutes} minutes before)")
    if event.rule:
        # In its own zone, as it is named when one of its times is moved or left out.
        is_elsewhere = zone_of(event, user_zone) != user_zone and not event.is_all_day
        parts.append(f"(repeats{f', occurrence {one.wall:%Y-%m-%dT%H:%M}' if is_elsewhere else ''})")
    return " ".join(parts)
