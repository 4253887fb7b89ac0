"""Numbers as people write them: 1,234.5, １２３, −3, 1e-3, 3.5万, 三万五千, 两千零五, 负十二, 三点五.

Pure. Separators are read in the way that English and Chinese share: a comma or a space groups thousands, a point
begins the fraction. Knows no task.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MOST_CHARACTERS: Final = 20_000
"""Of an answer, from its end: that is where the result stands."""

_DIGITS: Final = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7}
_CHINESE: Final = _DIGITS | {"八": 8, "九": 9}
_SMALL_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_LARGE_UNITS: Final = {"万": 10**4, "亿": 10**8}
_NUMERAL: Final = "".join((*_CHINESE, *_SMALL_UNITS, *_LARGE_UNITS))
_MOST_NUMERALS: Final = 40
_AFTER_ARTICLE: Final = frozenset("个些种下样般直起定切旦边面点")
_WRITTEN: Final = re.compile(
    r"(?P<sign>[-+负]\s?)?(?:"
    r"(?P<digits>(?:[0-9]{1,3}(?:[, '_][0-9]{3}(?![0-9]))+|[0-9]+)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?)"
    r"\s?(?P<large>[万亿])?"
    rf"|(?P<chinese>[{_NUMERAL}]+(?:点[{''.join(_CHINESE)}]+)?)"
    r")"
)


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    value: float
    before: str
    """What stands in front of it, with its space trimmed; at most a few characters."""
    after: str


def numbers_in(text: str) -> Iterator[WrittenNumber]:
    """Every number of a text, in order. Linear in the length of the text."""
    # Compatibility forms make fullwidth digits and narrow spaces plain; the minus sign is not among them.
    plain = unicodedata.normalize("NFKC", text[-MOST_CHARACTERS:]).replace("−", "-").replace("，", ",")
    matches = list(_WRITTEN.finditer(plain))
    # Who writes digits means those; what else looks like a Chinese numeral is then a mere word, as in 一个质数.
    has_digits = any(match["digits"] for match in matches)
    for match in matches:
        value = _value(match)
        if value is None or (has_digits and match["chinese"]) or _is_article(match, plain):
            continue
        start = match.start()
        # In "5-3" and "2020-05" the dash joins; it is no sign.
        if match["sign"] and start > 0 and plain[start - 1].isalnum() and match["sign"].strip() in "-+":
            value = abs(value)
        yield WrittenNumber(value, plain[max(0, start - 12) : start].rstrip(), plain[match.end() :][:24].lstrip())


def _is_article(match: re.Match[str], plain: str) -> bool:
    return match["chinese"] == "一" and plain[match.end() : match.end() + 1] in _AFTER_ARTICLE


def _value(match: re.Match[str]) -> float | None:
    if match["digits"] is not None:
        size = float(re.sub(r"[, '_]", "", match["digits"])) * _LARGE_UNITS.get(match["large"] or "", 1)
    else:
        chinese = chinese_value(match["chinese"])
        if chinese is None:
            return None
        size = chinese
    return -size if (match["sign"] or "").strip() in ("-", "负") and match["sign"] else size


def chinese_value(numeral: str) -> float | None:
    """The value of a Chinese numeral such as 三万五千 or 二〇二六; None where the characters are no number."""
    whole, point, fraction = numeral.partition("点")
    size = _chinese_whole(whole)
    if size is None:
        return None
    if not point:
        return float(size)
    return float(f"{size}.{''.join(str(_CHINESE[digit]) for digit in fraction)}")


def _chinese_whole(numeral: str) -> int | None:
    if len(numeral) > _MOST_NUMERALS:
        return None
    if numeral and all(character in _CHINESE for character in numeral):
        return int("".join(str(_CHINESE[character]) for character in numeral))
    total = section = 0
    digit: int | None = None
    last_unit = 0
    for character in numeral:
        if character in _CHINESE:
            if digit:  # two digits in a row without a unit between them
                return None
            digit = _CHINESE[character]
            last_unit = 0 if digit == 0 else last_unit
        elif character in _SMALL_UNITS:
            # 十 alone is ten; 百 and 千 need a digit in front.
            if digit is None and character != "十":
                return None
            last_unit = _SMALL_UNITS[character]
            section += (digit or 1) * last_unit
            digit = None
        else:
            section += digit or 0
            if section == 0 and total == 0:
                return None
            last_unit = _LARGE_UNITS[character]
            total = (total + section) * last_unit if last_unit > total else total + section * last_unit
            section, digit = 0, None
    # In speech 三万五 is 35,000 and 一百五 is 150: the digit counts tenths of the last unit.
    tail = (digit or 0) * (last_unit // 10 if last_unit >= 100 else 1)
    return total + section + tail
