"""The day that a sentence speaks of: "tomorrow", "next Friday", "on 12 May", 下周五, 12月3号. Pure; today is given."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from engine.memory.scripts import simplified

_MONTHS: Final = (
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may",),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
)
_MONTH_NUMBERS: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_MONTH: Final = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY: Final = "|".join(_WEEKDAYS)
_CHINESE_WEEKDAYS: Final = "一二三四五六日"
_CHINESE_DIGITS: Final = {
    "一": 1,
    "两": 2,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
}
_WORD_NUMBERS: Final = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_LAST_WORDS: Final = re.compile(
    r"\b(?:last|ago|yesterday|past)\b|上(?:个)?(?:周|星期|礼拜|月)|昨天|前天|以前|之前", re.IGNORECASE
)

_PERIOD: Final = re.compile(
    rf"\b(?:in|this|next|by|until|at the end of|early|late|mid)[ -](?:the )?(?:{_MONTH}|week|weekend|month|year"
    rf"|spring|summer"
    r"|autumn|fall|winter|semester|term|holidays|christmas|easter|new year)\b"
    r"|(?:下(?:个)?(?:周|星期|礼拜|月|学期)|明年|后年|年底|月底|年初|月初|春节|国庆|暑假|寒假|过年|中秋|元旦|五一)"
    r"|\d{1,2}月(?!\d)",
    re.IGNORECASE,
)


def day_said(text: str, today: date) -> date | None:
    """The first way of telling a day that fits; None where there is none, or only one that lies behind."""
    plain = simplified(text)
    for pattern, day_of in _WAYS:
        if (found := pattern.search(plain)) and (day := day_of(found, today)) is not None:
            return day
    return None


def _iso(found: re.Match[str], today: date) -> date | None:
    return _day(int(found[1]), int(found[2]), int(found[3]))


def _day_month(found: re.Match[str], today: date) -> date | None:
    return _coming(today, found["year"], _MONTH_NUMBERS[found["month"].lower()], int(found["day"]))


def _chinese_day(found: re.Match[str], today: date) -> date | None:
    return _coming(today, found[1], int(found[2]), int(found[3]))


def _weekday(found: re.Match[str], today: date) -> date | None:
    """Next Friday is the one of the next week; Friday alone is the coming one."""
    return _in_week(today, _WEEKDAYS.index(found["weekday"].lower()), 1 if found["next"] else 0)


def _chinese_weekday(found: re.Match[str], today: date) -> date | None:
    weekday = _CHINESE_WEEKDAYS.index("日" if found[2] == "天" else found[2])
    return _in_week(today, weekday, (found[1] or "").count("下"))


def _in_some_days(found: re.Match[str], today: date) -> date | None:
    return today + timedelta(days=_number(found[1]) * (7 if found[2].lower().startswith("week") else 1))


def _chinese_in_some_days(found: re.Match[str], today: date) -> date | None:
    return today + timedelta(days=_number(found[1]) * (1 if found[2] == "天" else 7))


def _after(days: int) -> Callable[[re.Match[str], date], date | None]:
    return lambda found, today: today + timedelta(days=days)


_WAYS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], date | None]], ...]] = (
    (re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b"), _iso),
    (re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]"), _chinese_day),
    (
        re.compile(
            rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b\.?(?:,? (?P<year>\d{{4}}))?", re.I
        ),
        _day_month,
    ),
    (
        re.compile(
            rf"\b(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<year>\d{{4}}))?", re.I
        ),
        _day_month,
    ),
    (re.compile(r"\bday after tomorrow\b", re.I), _after(2)),
    (re.compile(r"\btomorrow\b", re.I), _after(1)),
    (re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", re.I), _after(0)),
    (re.compile(rf"\b(?P<next>next )?(?:this |coming )?(?P<weekday>{_WEEKDAY})\b(?!s)", re.I), _weekday),
    (re.compile(r"\bin (\d{1,3}|a|one|two|three|four|five|six|seven|ten) (days?|weeks?)\b", re.I), _in_some_days),
    (re.compile(r"大后天"), _after(3)),
    (re.compile(r"后天"), _after(2)),
    (re.compile(r"明[天早晚]"), _after(1)),
    (re.compile(r"今[天晚早]"), _after(0)),
    (re.compile(r"(下下|下|这|本)?(?:个)?(?:周|星期|礼拜)([一二三四五六日天])"), _chinese_weekday),
    (re.compile(r"(\d{1,3}|[一两二三四五六七八九十])(天|周|个星期|个礼拜)(?:之)?后"), _chinese_in_some_days),
)


def speaks_of_time_to_come(text: str) -> bool:
    """Whether it names a month, a season or the like without a day."""
    return bool(_PERIOD.search(simplified(text))) and not is_behind(text)


def is_behind(text: str) -> bool:
    """Whether a sentence tells of what is over."""
    return bool(_LAST_WORDS.search(simplified(text)))


def _in_week(today: date, weekday: int, weeks: int) -> date:
    if weeks:
        monday = today - timedelta(days=today.weekday())
        return monday + timedelta(days=7 * weeks + weekday)
    return today + timedelta(days=(weekday - today.weekday()) % 7)


def _coming(today: date, year: str | None, month: int, day: int) -> date | None:
    if year:
        return _day(int(year), month, day)
    this_year = _day(today.year, month, day)
    return this_year if this_year is None or this_year >= today else _day(today.year + 1, month, day)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _number(written: str) -> int:
    return int(written) if written.isdecimal() else _CHINESE_DIGITS.get(written) or _WORD_NUMBERS[written.lower()]
