"""What a person wrote of a time, as a schedule: "in 20m", "2026-12-24 18:00", "every 2h", five cron fields.

Also how moments are written down. Pure: the present and the time zone are arguments.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from engine.errors import UsageProblem
from engine.jobs.cron import checked_cron
from engine.jobs.times import moment_of, next_after, zone_named
from engine.jobs.values import Schedule

SHORTEST: Final = timedelta(minutes=1)
"""Of a job that repeats: so long from one time to the next at least."""
LONGEST: Final = timedelta(days=3660)
JUST_PASSED: Final = timedelta(seconds=60)
"""How long ago the moment of a new job may be: a host may have had to be started for it first."""
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"(?:\d{1,9}[smhdw])+")
_PIECE: Final = re.compile(r"(\d+)([smhdw])")


def stamp(moment: datetime) -> str:
    """ISO 8601, UTC, milliseconds: moments written so are in order as text too."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def once_at(text: str, zone: str, now: datetime) -> Schedule:
    """`text` is a date and a time by the clocks of `zone`, or with an offset of its own. Raises: UsageProblem."""
    try:
        given = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageProblem(f"{text!r:.60} is no date and time.", 'Write it as "2026-12-24 18:00".') from error
    if ":" not in text:
        raise UsageProblem(f"{text!r:.60} names no time of day.", 'Write it as "2026-12-24 18:00".')
    named = zone_named(zone)
    try:
        moment = given if given.tzinfo is not None else moment_of(given, named)
        is_too_far = not timedelta(0) < moment - now <= LONGEST
    except OverflowError:
        is_too_far = True
    if is_too_far:
        raise UsageProblem(f"{text!r:.60} is over, or more than ten years ahead.", "Give a moment that is to come.")
    return Schedule("once", stamp(moment), zone)


def once_in(text: str, zone: str, now: datetime) -> Schedule:
    """`text` is how long from now, such as 20m. Raises: UsageProblem."""
    zone_named(zone)
    return Schedule("once", stamp(now + duration(text)), zone)


def every(text: str, zone: str, now: datetime) -> Schedule:
    """`text` is how long from one time to the next, such as 2h or 1h30m. Raises: UsageProblem."""
    zone_named(zone)
    step = duration(text)
    if step < SHORTEST:
        raise UsageProblem(f"{text!r:.60} is too short.", "Give a minute (1m) or more.")
    return Schedule("every", str(int(step.total_seconds())), zone, stamp(now))


def cron(text: str, zone: str, now: datetime) -> Schedule:
    """`text` are five cron fields, by the clocks of `zone`. Raises: UsageProblem, also where it is never due."""
    schedule = Schedule("cron", checked_cron(text), zone)
    zone_named(zone)
    following = next_after(schedule, now)
    if following is None or following - now > LONGEST:
        raise UsageProblem(f"{text!r:.60} is never due.", "Look at its day and its month.")
    return schedule


def require_sound(schedule: Schedule, now: datetime) -> datetime:
    """The first time of a schedule that came from elsewhere. Raises: UsageProblem."""
    zone_named(schedule.zone)
    try:
        match schedule.kind:
            case "cron":
                cron(schedule.text, schedule.zone, now)
            case "every":
                is_short = timedelta(seconds=int(schedule.text)) < SHORTEST
                if is_short or abs(datetime.fromisoformat(schedule.begins_at) - now) > LONGEST:
                    raise ValueError(schedule.text)
            case "once":
                if datetime.fromisoformat(schedule.text) - now > LONGEST:
                    raise ValueError(schedule.text)
        # It took a while to come here: a moment that has just passed is due at once.
        following = next_after(schedule, now - JUST_PASSED if schedule.kind == "once" else now)
    except (ValueError, TypeError, OverflowError) as error:
        raise UsageProblem("This is no schedule.", "Give a moment, five cron fields, or a length of time.") from error
    if following is None:
        raise UsageProblem("The time of this job is over.", "Give a moment that is to come.")
    return following


def duration(text: str) -> timedelta:
    """Such as 90s, 20m, 2h, 1h30m, 1d or 1w. Raises: UsageProblem."""
    compact = "".join(text.lower().split())
    seconds = sum(int(number) * _UNITS[unit] for number, unit in _PIECE.findall(compact))
    if not _DURATION.fullmatch(compact) or not 0 < seconds <= LONGEST.total_seconds():
        raise UsageProblem(f"{text!r:.60} is no length of time.", "Write it as 90s, 20m, 2h, 1d or 1h30m.")
    return timedelta(seconds=seconds)
