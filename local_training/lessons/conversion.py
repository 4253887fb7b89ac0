"""Imperial measures in a text made metric, with the rounding a person would choose. Arithmetic and patterns only."""

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import Final

_NUMBER_WORDS: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "half a": 0.5, "一": 1, "二": 2, "三": 3, "四": 4,
    "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "两": 2, "半": 0.5,
}  # fmt: skip
_FRACTIONS: Final = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125}
_DIGITS: Final = r"(?<!\d)-?\d[\d,]{0,14}(?:\.\d{1,9})?(?:\s?\d?/\d{1,4}|\s\d/\d{1,4})?(?:\s?[½¼¾⅓⅔⅛])?|[½¼¾⅓⅔⅛]"
_WORDED: Final = "|".join(sorted((rf"\b{word}\b" for word in _NUMBER_WORDS if word.isascii()), key=len, reverse=True))
COUNT: Final = rf"(?:{_DIGITS}|{_WORDED}|[一二三四五六七八九十两半]|\d+\s?[万百千])"
"""The pattern of a number, in digits or as a word."""


@dataclass(frozen=True, slots=True)
class _Unit:
    pattern: str
    factor: float
    metric: str
    """What follows the number, in English; likewise the next in Chinese."""
    chinese: str


_UNITS: Final = (
    _Unit(r"square miles?\b|sq\.? mi\b|平方英里", 2.59, "square kilometres", "平方公里"),
    _Unit(r"square (?:feet|foot)\b|sq\.? ?ft\b|平方英尺", 0.092903, "square metres", "平方米"),
    _Unit(r"miles per hour\b|mph\b|英里每小时|英里/小时", 1.60934, "km/h", "公里每小时"),
    _Unit(r"miles?\b|英里", 1.60934, "km", "公里"),
    _Unit(r"inch(?:es)?\b|in\.(?=\s[a-z])|英寸", 2.54, "cm", "厘米"),
    _Unit(r"feet\b|foot\b|ft\b|英尺", 0.3048, "m", "米"),
    _Unit(r"yards?\b|yds?\b|码", 0.9144, "m", "米"),
    _Unit(r"acres?\b|英亩", 0.404686, "hectares", "公顷"),
    _Unit(r"pounds?\b(?! sterling)|lbs?\b|磅", 0.453592, "kg", "公斤"),
    _Unit(r"fluid ounces?\b|fl\.? ?oz\b|液盎司", 29.5735, "ml", "毫升"),
    _Unit(r"ounces?\b|oz\b|盎司", 28.3495, "g", "克"),
    _Unit(r"gallons?\b|gal\b|加仑", 3.78541, "litres", "升"),
    _Unit(r"quarts?\b|夸脱", 0.946353, "litres", "升"),
    _Unit(r"pints?\b|品脱", 473.176, "ml", "毫升"),
    _Unit(r"cups?\b", 240.0, "ml", "毫升"),
    _Unit(r"stones?\b(?= in weight)", 6.35029, "kg", "公斤"),
)
_FAHRENHEIT: Final = r"(?:°\s?F\b|℉|degrees? Fahrenheit\b|Fahrenheit\b|F\b(?=[\s.,)]|$)|华氏度)"
_RANGE: Final = rf"(?P<low>{COUNT})(?:\s?(?P<joint>to|and|or|-|–|—|到|至)\s?(?P<high>{COUNT}))?"
IMPERIAL_UNITS: Final = "|".join([*(unit.pattern for unit in _UNITS), _FAHRENHEIT])
"""The pattern of a unit, without the number."""

_BOTH: Final = re.compile(
    rf"(?:{_RANGE})[\s-]*(?:{IMPERIAL_UNITS})\s*[(（](?P<metric>[^()（）]*?"
    r"(?:°\s?C|℃|celsius|met(?:er|re)s?|km/h|km|cm|mm|kg|grams?|g|ml|lit(?:er|re)s?|公里|厘米|米|公斤|克|毫升|升|摄氏度))[)）]",
    re.IGNORECASE,
)
_IMPERIAL_ASIDE: Final = re.compile(
    rf"\s*[(（][^()（）]*?{COUNT}[\s-]*(?:{IMPERIAL_UNITS})[^()（）]*[)）]", re.IGNORECASE
)
_FEET_AND_INCHES: Final = re.compile(
    r"(?<!\d)(?P<feet>\d{1,2})(?:\s*(?:feet|foot|ft)\.?,?(?: and)?\s*|')"
    r"(?P<inches>\d{1,2}(?:\.\d{1,9})?)\s*(?:inch(?:es)?\b|in\b|\"|”)",
    re.IGNORECASE,
)
_FAHRENHEIT_MEASURE: Final = re.compile(
    rf"(?:华氏\s*)(?P<chinese>{_DIGITS})\s*度|{_RANGE}(?:\s?°)?[\s-]*{_FAHRENHEIT}", re.IGNORECASE
)
_MEASURES: Final = tuple(
    (re.compile(rf"{_RANGE}[\s-]*(?P<unit>{unit.pattern})", re.IGNORECASE), unit) for unit in _UNITS
)


def to_metric(text: str) -> str:
    """`text` with its imperial measures converted; where both are given, only the metric one stays."""
    text = _BOTH.sub(lambda found: found["metric"], text)
    text = _IMPERIAL_ASIDE.sub("", text)
    text = _FEET_AND_INCHES.sub(_height, text)
    text = _FAHRENHEIT_MEASURE.sub(_celsius, text)
    for pattern, unit in _MEASURES:
        text = pattern.sub(partial(_converted, unit), text)
    return text


def _height(found: re.Match[str]) -> str:
    return f"{round(int(found['feet']) * 30.48 + float(found['inches']) * 2.54)} cm"


def _celsius(found: re.Match[str]) -> str:
    if found["chinese"]:
        return f"{_centigrade(_number(found['chinese']))} 摄氏度"
    low = _centigrade(_number(found["low"]))
    unit = "摄氏度" if "华氏" in found[0] else "°C"
    if found["high"] is None:
        return f"{low} {unit}"
    return f"{low}{_between(found['joint'])}{_centigrade(_number(found['high']))} {unit}"


def _centigrade(fahrenheit: float) -> int:
    degrees = (fahrenheit - 32) * 5 / 9
    # Ovens are set in steps of five; the body and the weather are not.
    return round(degrees / 5) * 5 if fahrenheit >= 200 else round(degrees)


def _converted(unit: _Unit, found: re.Match[str]) -> str:
    is_chinese = any(character >= "\u4e00" for character in found["unit"])
    name = unit.chinese if is_chinese else unit.metric
    numbers = [_number(found["low"]), *([_number(found["high"])] if found["high"] is not None else [])]
    values = [number * unit.factor for number in numbers]
    small = {"m": ("cm", 100.0), "kg": ("g", 1000.0), "litres": ("ml", 1000.0), "km": ("m", 1000.0)}
    if not is_chinese and name in small and max(values) < 1:
        name, times = small[name]
        values = [value * times for value in values]
    return f"{_between(found['joint']).join(map(_rounded, values))} {name}"


def _between(joint: str | None) -> str:
    """What stands between the two numbers of a range; a dash becomes a word, as it may be read as a minus."""
    if joint in ("到", "至"):
        return joint
    return f" {joint} " if joint in ("and", "or") else " to "


def _number(text: str) -> float:
    """The value of a number as `COUNT` finds it."""
    text = text.strip().lower()
    if text in _NUMBER_WORDS:
        return float(_NUMBER_WORDS[text])
    if text in _FRACTIONS:
        return _FRACTIONS[text]
    if text[-1] in _FRACTIONS:
        return _number(text[:-1]) + _FRACTIONS[text[-1]]
    if text[-1] in "百千万":
        return float(text[:-1]) * {"百": 100, "千": 1000, "万": 10_000}[text[-1]]
    whole, _, fraction = text.rpartition(" ")
    if "/" in fraction:
        over, _, under = fraction.partition("/")
        part = float(over or 1) / max(1.0, float(under))
        return part + (float(whole.replace(",", "")) if whole else 0.0)
    return float(text.replace(",", ""))


def _rounded(value: float) -> str:
    """To two digits, or three of a hundred and something: 4.83 is 4.8, 16.1 is 16, 104.6 is 105, 3219 is 3,200."""
    if value == 0:
        return "0"
    leading = math.floor(math.log10(abs(value)))
    digits = 2 if 100 <= abs(value) < 200 else 1
    rounded = round(value, digits - leading)
    return f"{rounded:,.0f}" if rounded == int(rounded) else f"{rounded:g}"
