"""The arithmetic of an axis: from which value to which, at which round values, and how those are written. Pure."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

BEYOND: Final = 1e150
"""Numbers from here on have no place on an axis: sums of them would leave the numbers there are."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places in the picture."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{self.start + min(1.0, max(0.0, share)) * (self.end - self.start):.1f}"

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def span(values: Sequence[float], from_zero: bool) -> tuple[float, float]:
    """The least and the most, apart by enough that a scale between them can be drawn."""
    low, high = min(values), max(values)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    largest = max(abs(low), abs(high))
    if high - low <= max(largest * 1e-9, 1 / BEYOND):
        room = largest * 0.1 if largest > 1 / BEYOND else 1.0
        return (low, high + room) if from_zero and low >= 0 else (low - room, high + room)
    return low, high


def number(value: float) -> str:
    """A number for people, to three digits or so."""
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e9:
        return _minus(f"{value:.3g}")
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return _minus(text.rstrip("0").rstrip(".") if "." in text else text)


def ticks(low: float, high: float, wanted: int, whole: bool = False) -> list[float]:
    """Round values from `low` to `high` (low < high), about `wanted` of them; whole numbers only where `whole`.

    From 3 wanted on there is at least one, unless `whole` forbids it.
    """
    step = max(1.0, _step(low, high, wanted)) if whole else _step(low, high, wanted)
    return _multiples(step, math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9))


def ticks_around(low: float, high: float, wanted: int) -> list[float]:
    """As `ticks`, but the first and the last hold `low` and `high` between them: at least two."""
    step = _step(low, high, wanted)
    return _multiples(step, math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9))


def _step(low: float, high: float, wanted: int) -> float:
    """The next round distance: 1, 2 or 5 of some power of ten."""
    rough = (high - low) / wanted
    magnitude: float = 10.0 ** math.floor(math.log10(rough))
    return next(factor * magnitude for factor in (1, 2, 5, 10, 20) if factor * magnitude >= rough * (1 - 1e-9))


def _multiples(step: float, first: int, last: int) -> list[float]:
    # Divided where the step is a fraction: 3 * 0.1 is not 0.3, while 3 / 10 is.
    return [count * step if step >= 1 else count / round(1 / step) for count in range(first, last + 1)]


def tick_labels(values: Sequence[float]) -> list[str]:
    """All with as many decimals as the distance between them asks for."""
    step = min((abs(b - a) for a, b in itertools.pairwise(values)), default=abs(values[0]) or 1.0)
    if not 1e-6 <= step < 1e9 or max(map(abs, values)) >= 1e9:
        return [_minus(f"{value:.4g}") for value in values]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [_minus(f"{value:,.{decimals}f}") for value in values]


def _minus(text: str) -> str:
    return text.replace("-", "−") if "e" not in text else text
