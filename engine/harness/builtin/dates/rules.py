"""How an event repeats: which rules are taken, and the starts they give between two times.

Pure. Times are wall-clock times without a zone. A rule comes from a model or a file of others, so what could make the
expansion endless is refused here: steps below a day, parts that never fit, parts that are only seldom of use.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from engine.errors import UsageProblem

WORDS: Final[Mapping[str, str]] = {
    "daily": "FREQ=DAILY",
    "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "weekly": "FREQ=WEEKLY",
    "monthly": "FREQ=MONTHLY",
    "yearly": "FREQ=YEARLY",
}
"""What may be said in place of a rule."""
FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2200
MOST_COUNT: Final = 1000
MOST_INTERVAL: Final = 1000
_MOST_VALUES: Final = 62
_PARTS: Final[Mapping[str, str]] = {
    "FREQ": "DAILY|WEEKLY|MONTHLY|YEARLY",
    "INTERVAL": "[0-9]{1,4}",
    "COUNT": "[0-9]{1,4}",
    "UNTIL": "[0-9]{8}(T[0-9]{6}Z?)?",
    "BYDAY": "([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)",
    "BYMONTHDAY": "[+-]?([1-9]|0[1-9]|[12][0-9]|3[01])",
    "BYMONTH": "0?[1-9]|1[0-2]",
    "BYSETPOS": "[+-]?[1-9][0-9]?",
    "WKST": "MO|TU|WE|TH|FR|SA|SU",
}
_DAYS_IN_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS: Final[Mapping[str, int]] = {"DAILY": 1, "WEEKLY": 7}
_LONGEST_PAUSE: Final = timedelta(days=366 * 9)
"""Between two times: the 29th of February is away for eight years at most."""


def checked_rule(text: str, starts: datetime, zone: ZoneInfo) -> str:
    """The rule in one spelling, its end as a wall-clock time; empty for an empty text.

    Raises: UsageProblem for one that is no rule or that is not taken.
    """
    text = WORDS.get(text.strip().lower(), text.strip().upper().removeprefix("RRULE:"))
    if not text:
        return ""
    parts = _parts(text)
    if "UNTIL" in parts:
        parts["UNTIL"] = _until(parts["UNTIL"], zone)
    _check(parts, starts)
    rule = ";".join(f"{name}={value}" for name, value in parts.items())
    found = list(itertools.islice(_starts(rule, starts), 3))
    if not found:
        raise _refused(text, "it never takes place")
    if any(later - earlier > _pause(parts) for earlier, later in itertools.pairwise([starts, *found])):
        raise _refused(text, "it pauses for too many years")
    return rule


def starts_between(rule: str, starts: datetime, first: datetime, last: datetime) -> Iterator[datetime]:
    """The starts from `first` up to but without `last`, in order. The rule must be a checked one."""
    for moment in _starts(rule, _forwarded(rule, starts, first)):
        if moment >= last:
            return
        if moment >= first:
            yield moment


def _starts(rule: str, starts: datetime) -> Iterator[datetime]:
    yield from rrulestr(rule, dtstart=starts, cache=False)


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for piece in text.split(";"):
        name, _, value = piece.partition("=")
        values = value.split(",")
        is_list = name.startswith("BY")
        if name not in _PARTS:
            raise _refused(text, f"{name:.20} is not taken")
        if name in parts or len(values) > (_MOST_VALUES if is_list else 1):
            raise _refused(text, f"{name} is given too often")
        if not all(re.fullmatch(_PARTS[name], one, re.ASCII) for one in values):
            raise _refused(text, f"{name}={value:.40} is not taken")
        parts[name] = value
    if "FREQ" not in parts:
        raise _refused(text, "FREQ is missing")
    return parts


def _check(parts: Mapping[str, str], starts: datetime) -> None:
    """Combinations that calendars do not use, and that would take long to find out to be empty."""
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    often, by = parts["FREQ"], {name for name in parts if name.startswith("BY")}
    if not FIRST_YEAR <= starts.year <= LAST_YEAR:
        raise _refused(text, f"it begins before {FIRST_YEAR} or after {LAST_YEAR}")
    if not 1 <= int(parts.get("INTERVAL", 1)) <= MOST_INTERVAL or not 1 <= int(parts.get("COUNT", 1)) <= MOST_COUNT:
        raise _refused(text, f"INTERVAL and COUNT go from 1 to {MOST_INTERVAL}")
    if {"COUNT", "UNTIL"} <= set(parts):
        raise _refused(text, "it has two ends")
    if often == "DAILY" and by and int(parts.get("INTERVAL", 1)) > 1:
        raise _refused(text, "several days apart and certain days do not go together")
    if (often in _DAYS and "BYSETPOS" in by) or (often == "WEEKLY" and "BYMONTHDAY" in by):
        raise _refused(text, "these parts do not go together")
    if {"BYMONTH", "BYMONTHDAY"} <= by and not any(
        abs(int(day)) <= _DAYS_IN_MONTH[int(month) - 1]
        for month in parts["BYMONTH"].split(",")
        for day in parts["BYMONTHDAY"].split(",")
    ):
        raise _refused(text, "there is no such day")


def _pause(parts: Mapping[str, str]) -> timedelta:
    steps = {"DAILY": 1, "WEEKLY": 7, "MONTHLY": 31, "YEARLY": 366}[parts["FREQ"]]
    return max(_LONGEST_PAUSE, timedelta(days=steps * int(parts.get("INTERVAL", 1))))


def _until(text: str, zone: ZoneInfo) -> str:
    try:
        if "T" not in text:
            return datetime.strptime(text, "%Y%m%d").strftime("%Y%m%dT235959")
        moment = datetime.strptime(text.removesuffix("Z"), "%Y%m%dT%H%M%S")
        if text.endswith("Z"):
            moment = moment.replace(tzinfo=UTC).astimezone(zone)
    except (ValueError, OverflowError):
        raise _refused(f"UNTIL={text}", "there is no such day") from None
    return moment.strftime("%Y%m%dT%H%M%S")


def _forwarded(rule: str, starts: datetime, first: datetime) -> datetime:
    """A start from which the same times follow, not long before `first`: an old daily event has thousands."""
    parts = dict(part.split("=", 1) for part in rule.split(";"))
    days = _DAYS.get(parts["FREQ"], 0) * int(parts.get("INTERVAL", 1))
    if not days or "COUNT" in parts or first <= starts:
        return starts
    return starts + timedelta(days=(first - starts).days // days * days)


def _refused(text: str, reason: str) -> UsageProblem:
    return UsageProblem(
        f"The repetition {text:.100} cannot be used: {reason}.",
        f"Use {', '.join(WORDS)}, or a rule such as FREQ=WEEKLY;BYDAY=MO,TH;UNTIL=20301231.",
    )
