"""Whole numbers between two bounds, as an expression of a grammar (GBNF). Pure."""

from typing import Final

LARGEST: Final = 10**16 - 1
"""Numbers go no further in either direction: one of more digits is not exact in most programs that read JSON."""


def integers_between(least: int | None, most: int | None) -> str:
    """An expression for every whole number from `least` to `most`, without needless zeros.

    None is no bound, as is a bound beyond `LARGEST`. Raises: ValueError when there is no such number.
    """
    low = max(-LARGEST, -LARGEST if least is None else least)
    high = min(LARGEST, LARGEST if most is None else most)
    if low > high:
        raise ValueError(f"there is no whole number from {least} to {most}")
    parts = []
    if low < 0:
        negative = _naturals(max(1, -high), -low)
        parts.append(f'"-" ( {" | ".join(negative)} )')
    if high >= 0:
        parts += _naturals(max(0, low), high)
    return " | ".join(parts)


def _naturals(low: int, high: int) -> list[str]:
    """Alternatives for low..high, both at least 0, one or more per number of digits."""
    alternatives = []
    for digits in range(len(str(low)), len(str(high)) + 1):
        first = max(low, 10 ** (digits - 1) if digits > 1 else 0)
        last = min(high, 10**digits - 1)
        alternatives += _same_length(str(first), str(last))
    return alternatives


def _same_length(first: str, last: str) -> list[str]:
    if not first:
        return ['""']
    if set(first[1:]) <= {"0"} and set(last[1:]) <= {"9"}:
        return [_digit(first[0], last[0]) + _any_digits(len(first) - 1)]
    if first[0] == last[0]:
        return [f"{_digit(first[0], first[0])} {_grouped(_same_length(first[1:], last[1:]))}"]
    rest = len(first) - 1
    return [
        f"{_digit(first[0], first[0])} {_grouped(_same_length(first[1:], '9' * rest))}",
        *_middle(first[0], last[0], rest),
        f"{_digit(last[0], last[0])} {_grouped(_same_length('0' * rest, last[1:]))}",
    ]


def _middle(first: str, last: str, rest: int) -> list[str]:
    """Numbers whose first digit lies between those of the bounds; the digits after it are free."""
    low, high = int(first) + 1, int(last) - 1
    return [_digit(str(low), str(high)) + _any_digits(rest)] if low <= high else []


def _digit(low: str, high: str) -> str:
    return f"[{low}]" if low == high else f"[{low}-{high}]"


def _any_digits(count: int) -> str:
    return f" [0-9]{{{count}}}" if count else ""


def _grouped(alternatives: list[str]) -> str:
    return alternatives[0] if len(alternatives) == 1 else f"( {' | '.join(alternatives)} )"
