"""Five cron fields as wall-clock times. The only module that hands a cron text to APScheduler.

Knows no time zone: times are those that a clock on the wall shows, without a zone. What the text means is what other
crons mean by it, which differs from the library in two points: 0 and 7 are Sunday, and a day of the month together
with a day of the week is refused, as programs do not agree on what it means.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from apscheduler.triggers.cron import CronTrigger

from engine.errors import UsageProblem

_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART: Final = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?")
_HINT: Final = 'Such as "30 8 * * mon-fri": minute, hour, day of the month, month, day of the week.'


def checked_cron(text: str) -> str:
    """The fields with single spaces between them. Raises: UsageProblem."""
    fields = " ".join(text.lower().split())
    _trigger(fields)
    return fields


def follows_the_hours(fields: str) -> bool:
    """Whether it is due in every hour there is, so also in one that the clocks show twice."""
    return fields.split()[1] == "*"


def next_wall_time(fields: str, start: datetime) -> datetime | None:
    """The first time at or after `start`, both without a zone; None when there is none."""
    found = _trigger(fields).get_next_fire_time(None, start.replace(tzinfo=UTC))
    return None if found is None else found.replace(tzinfo=None)


def after(moment: datetime) -> datetime:
    """The next moment that a cron text can name at all."""
    return moment.replace(second=0, microsecond=0) + timedelta(minutes=1)


@lru_cache(maxsize=256)
def _trigger(fields: str) -> CronTrigger:
    """Raises: UsageProblem."""
    parts = fields.split(" ")
    if len(parts) != 5:
        raise UsageProblem(f"{fields!r} has {len(parts)} fields, not five.", _HINT)
    minute, hour, day, month, weekday = parts
    if day != "*" and weekday != "*":
        raise UsageProblem(
            f"{fields!r} names a day of the month and a day of the week.", "Give one of them, and * for the other."
        )
    try:
        return CronTrigger(minute=minute, hour=hour, day=day, month=month, day_of_week=_weekdays(weekday), timezone=UTC)
    except (ValueError, TypeError) as error:
        raise UsageProblem(f"{fields!r} is no schedule: {error}.", _HINT) from error


def _weekdays(field: str) -> str:
    """The days by name, as the library counts them from Monday. Raises: ValueError."""
    if field == "*":
        return field
    chosen: set[int] = set()
    for part in field.split(","):
        found = _PART.fullmatch(part)
        if found is None:
            raise ValueError(f"{part!r} is no day of the week")
        first, last = found["first"], found["last"]
        is_range = first == "*" or last is not None or found["step"] is not None
        low = 0 if first == "*" else _weekday(first)
        high = 6 if first == "*" or (last is None and is_range) else _weekday(last or first)
        if is_range and low > high:
            if high != 0:
                raise ValueError(f"{part!r} ends before it begins")
            high = 7  # Sunday as the end of the week
        step = int(found["step"] or 1)
        if step == 0:
            raise ValueError(f"{part!r} never goes on")
        chosen.update(day % 7 for day in range(low, high + 1, step))
    return ",".join(_DAYS[day] for day in sorted(chosen))


def _weekday(text: str) -> int:
    """0 to 7. Raises: ValueError."""
    if text in _DAYS:
        return _DAYS.index(text)
    if text.isascii() and text.isdecimal() and int(text) <= 7:
        return int(text)
    raise ValueError(f"{text!r} is no day of the week")
