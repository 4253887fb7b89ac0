"""iCalendar files in and out. What comes in is of others: bounded, taken apart, and only what is understood is kept.

Pure but for the clock that bounds it. Definitions of time zones in a file are not read, as they hold rules of their
own; the names of zones are known, those of Windows too.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import icalendar
from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from engine.errors import AgentError, ScoringStopped, UsageProblem, boundary
from engine.harness.builtin.dates.occurrences import zone_of
from engine.harness.builtin.dates.rules import FIRST_YEAR, LAST_YEAR, checked_rule
from engine.store.dates import TEXT_CHARACTERS, TITLE_CHARACTERS, Event

MOST_BYTES: Final = 5 << 20
MOST_EVENTS: Final = 5_000
MOST_PARTS: Final = 20_000
"""Blocks that begin and end, alarms among them."""
MOST_DEPTH: Final = 8
MOST_LEFT_OUT: Final = 1_000
TIME_LIMIT_S: Final = 20.0
PRODUCT: Final = "-//Macaron Tall//EN"
_UID_CHARACTERS: Final = 500
_LONGEST_REMINDER: Final = timedelta(days=28)
_ZONES: Final = re.compile(r"^BEGIN:VTIMEZONE\s*$.*?^END:VTIMEZONE\s*$\n?", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_BOUNDARY: Final = re.compile(r"^(BEGIN|END):", re.MULTILINE | re.IGNORECASE)
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Imported:
    events: tuple[Event, ...]
    skipped: Mapping[str, int]
    """How many were not taken, by reason."""


class _Skip(Exception):
    """This event is left out, for a reason that a person reads."""


def read_calendar(data: bytes, user_zone: ZoneInfo, is_stopped: Callable[[], bool] = lambda: False) -> Imported:
    """The events of a file, without their reminders unless an alarm before the start says how long.

    Raises: UsageProblem for a file that is none or too large, ScoringStopped.
    """
    text = _checked_text(data)
    hint = "Export it again from the calendar it comes from."
    with boundary(UsageProblem, "The file is not an iCalendar file", hint):
        calendars = icalendar.Calendar.from_ical(text, multiple=True)
    parts = [part for calendar in calendars for part in calendar.walk() if part.name in ("VEVENT", "VTODO")]
    if len(parts) > MOST_EVENTS:
        raise UsageProblem(f"The file has more than {MOST_EVENTS:,} events.", "Export a shorter time.")
    ends_s = time.monotonic() + TIME_LIMIT_S
    skipped, events = Counter[str](), list[Event]()
    for part in parts:
        if is_stopped():
            raise ScoringStopped("The import was stopped; nothing was added.")
        if time.monotonic() > ends_s:
            raise UsageProblem("The file takes too long to work out.", "Export a shorter time.")
        try:
            events.append(_event(part, user_zone))
        except _Skip as reason:
            skipped[str(reason)] += 1
    return Imported(tuple(_without_moved(events)), skipped)


def write_calendar(events: Sequence[Event], user_zone: ZoneInfo) -> bytes:
    """One file of all these events, as other calendars read it."""
    calendar = icalendar.Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    moved = {(event.uid, event.instance) for event in events if event.instance}
    for event in events:
        calendar.add_component(_component(event, moved, user_zone))
    calendar.add_missing_timezones()
    return bytes(calendar.to_ical())


def _checked_text(data: bytes) -> str:
    """Unfolded, without definitions of zones. Raises: UsageProblem."""
    if len(data) > MOST_BYTES:
        raise UsageProblem(f"The file is larger than {MOST_BYTES >> 20} MiB.", "Export a shorter time.")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise UsageProblem("The file is not UTF-8 text.", "Export it as iCalendar (.ics).") from error
    text = text.replace("\n ", "").replace("\n\t", "")
    if not text.lstrip().upper().startswith("BEGIN:VCALENDAR"):
        raise UsageProblem("The file is not an iCalendar file.", "Export it as iCalendar (.ics).")
    depth = 0
    for count, match in enumerate(_BOUNDARY.finditer(text)):
        depth += 1 if match[1].upper() == "BEGIN" else -1
        if depth > MOST_DEPTH or count > 2 * MOST_PARTS:
            raise UsageProblem("The file is nested too deep or has too many parts.", "Export a shorter time.")
    return _ZONES.sub("", text)


def _event(part: Any, user_zone: ZoneInfo) -> Event:
    """Raises: _Skip."""
    if part.name != "VEVENT":
        raise _Skip("tasks")
    if str(part.get("STATUS", "")).upper() == "CANCELLED":
        raise _Skip("cancelled")
    if broken := {str(name) for name, _ in part.errors} & {"DTSTART", "DTEND", "DURATION", "RRULE", "RECURRENCE-ID"}:
        raise _Skip(f"{', '.join(sorted(broken))} cannot be read")
    start = part.get("DTSTART")
    if start is None or isinstance(start, list):
        raise _Skip("without one start")
    zone = _zone_name(start)
    starts = _wall(start.dt, zone, user_zone)
    is_all_day = not isinstance(start.dt, datetime)
    ends = _end(part, start.dt, starts, zone, user_zone)
    if not FIRST_YEAR <= starts.year <= LAST_YEAR or ends < starts:
        raise _Skip("with a time that cannot be")
    uid = str(part.get("UID", ""))
    if not uid or len(uid) > _UID_CHARACTERS:
        raise _Skip("without a name")
    event = Event(
        title=_plain(part, "SUMMARY", TITLE_CHARACTERS) or "(without title)",
        starts=starts,
        ends=ends,
        zone=zone,
        is_all_day=is_all_day,
        place=_plain(part, "LOCATION", TITLE_CHARACTERS),
        notes=_plain(part, "DESCRIPTION", TEXT_CHARACTERS),
        remind_minutes=_alarm_minutes(part),
        source="imported",
        uid=uid,
        instance=_instance(part, zone, user_zone),
    )
    return replace(event, rule=_rule(part, event, user_zone), left_out=tuple(_left_out(part, zone, user_zone)))


def _rule(part: Any, event: Event, user_zone: ZoneInfo) -> str:
    rule = part.get("RRULE")
    if part.get("RDATE") is not None or isinstance(rule, list):
        raise _Skip("repeated on single days, which is not taken over")
    if rule is None or event.instance:
        return ""
    try:
        return checked_rule(rule.to_ical().decode(), event.starts, zone_of(event, user_zone))
    except AgentError:
        raise _Skip("with a repetition that is not taken over") from None


def _end(part: Any, start: date, starts: datetime, zone: str, user_zone: ZoneInfo) -> datetime:
    end, length = part.get("DTEND"), part.get("DURATION")
    try:
        if end is not None:
            ends = _wall(end.dt, _zone_name(end) if _zone_name(end) == zone else zone, user_zone)
            return max(ends, starts)
        if length is not None and isinstance(length.dt, timedelta):
            return starts + length.dt
        return starts if isinstance(start, datetime) else starts + timedelta(days=1)
    except (AttributeError, OverflowError):
        raise _Skip("with a time that cannot be") from None


def _zone_name(value: Any) -> str:
    """The IANA name of the zone a time is given in; empty for a day or for wherever the user is. Raises: _Skip."""
    if not isinstance(value.dt, datetime):
        return ""
    named = str(value.params.get("TZID", ""))
    key = getattr(value.dt.tzinfo, "key", None)
    if value.dt.tzinfo is None:
        if named:
            raise _Skip("in a time zone that is not known here")
        return ""
    return str(WINDOWS_TO_OLSON.get(named) or key or "UTC")


def _wall(value: Any, zone: str, user_zone: ZoneInfo) -> datetime:
    """A day or a moment as a wall-clock time in the zone. Raises: _Skip."""
    try:
        if not isinstance(value, datetime):
            return datetime(value.year, value.month, value.day)
        if value.tzinfo is None:
            return value.replace(microsecond=0)
        return value.astimezone(ZoneInfo(zone) if zone else user_zone).replace(tzinfo=None, microsecond=0)
    except (AttributeError, ValueError, OverflowError, LookupError):
        raise _Skip("with a time that cannot be") from None


def _instance(part: Any, zone: str, user_zone: ZoneInfo) -> str:
    moment = part.get("RECURRENCE-ID")
    if moment is None or isinstance(moment, list):
        return ""
    return _wall(moment.dt, zone, user_zone).isoformat(timespec="seconds")


def _left_out(part: Any, zone: str, user_zone: ZoneInfo) -> Iterator[datetime]:
    given = part.get("EXDATE")
    lists = given if isinstance(given, list) else [given] if given is not None else []
    moments = [moment for each in lists for moment in getattr(each, "dts", ())]
    for moment in moments[:MOST_LEFT_OUT]:
        yield _wall(moment.dt, zone, user_zone)


def _alarm_minutes(part: Any) -> int | None:
    """Of the first alarm that is some time before the start."""
    for alarm in part.subcomponents:
        trigger = alarm.get("TRIGGER") if alarm.name == "VALARM" and not alarm.errors else None
        before = getattr(trigger, "dt", None)
        if isinstance(before, timedelta) and timedelta() <= -before <= _LONGEST_REMINDER:
            return int(-before / timedelta(minutes=1))
    return None


def _plain(part: Any, name: str, most_characters: int) -> str:
    value = part.get(name, "")
    text = str(value[0] if isinstance(value, list) and value else value)
    text = _CONTROL.sub(" ", text.encode(errors="replace").decode())
    return (" ".join(text.split()) if name != "DESCRIPTION" else text.strip())[:most_characters]


def _without_moved(events: Sequence[Event]) -> Iterator[Event]:
    """Where one time of a repeated event is an event of its own, the repeated one leaves it out."""
    moved: dict[str, list[datetime]] = {}
    for event in events:
        if event.instance:
            moved.setdefault(event.uid, []).append(datetime.fromisoformat(event.instance))
    for event in events:
        if event.rule and event.uid in moved:
            yield replace(event, left_out=tuple(sorted({*event.left_out, *moved[event.uid]})))
        else:
            yield event


def _component(event: Event, moved: set[tuple[str, str]], user_zone: ZoneInfo) -> icalendar.Event:
    component = icalendar.Event()
    component.add("uid", event.uid)
    component.add("dtstamp", datetime.now(UTC))
    component.add("summary", event.title)
    component.add("dtstart", _given(event, event.starts))
    component.add("dtend", _given(event, event.ends))
    for name, text in (("location", event.place), ("description", event.notes)):
        if text:
            component.add(name, text)
    if event.rule:
        component.add("rrule", icalendar.vRecur.from_ical(_rule_for_others(event, user_zone)))
    left_out = [day for day in event.left_out if (event.uid, day.isoformat(timespec="seconds")) not in moved]
    if left_out:
        component.add("exdate", [_given(event, day) for day in left_out])
    if event.instance:
        component.add("recurrence-id", _given(event, datetime.fromisoformat(event.instance)))
    if event.remind_minutes is not None:
        alarm = icalendar.Alarm()
        alarm.add("action", "DISPLAY")
        alarm.add("description", event.title)
        alarm.add("trigger", timedelta(minutes=-event.remind_minutes))
        component.add_component(alarm)
    return component


def _given(event: Event, wall: datetime) -> date:
    if event.is_all_day:
        return wall.date()
    return wall.replace(tzinfo=ZoneInfo(event.zone)) if event.zone else wall


def _rule_for_others(event: Event, user_zone: ZoneInfo) -> str:
    """The end of a rule is a day for whole days, and otherwise a moment in UTC: so the format has it."""

    def end(match: re.Match[str]) -> str:
        wall = datetime.strptime(match[1], "%Y%m%dT%H%M%S")
        if event.is_all_day:
            return f"UNTIL={wall:%Y%m%d}"
        if not event.zone:
            return match[0]
        return f"UNTIL={wall.replace(tzinfo=zone_of(event, user_zone)).astimezone(UTC):%Y%m%dT%H%M%SZ}"

    return re.sub(r"UNTIL=([0-9T]+)", end, event.rule)
