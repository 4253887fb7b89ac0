"""Balanced reasoning: right answers are worth less the longer they are, once a group mostly answers right.

Pure. Multiplied rather than subtracted, so that a wrong answer can gain nothing by being short (GR3, arXiv:2603.10535),
and only for right answers of groups that can already do the task (arXiv:2505.12284).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.errors import UsageProblem

_LEAST_PASS_RATE: Final = 0.5
_FREE_EXCESS: Final = 1.25
"""Up to this multiple of the shortest right answer costs nothing, so that needed steps are not dropped."""


@dataclass(frozen=True, slots=True)
class Balance:
    strength: float
    """What a right answer loses when it is a whole `longest_tokens` beyond what is free: 0 (nothing) to 1 (all)."""
    longest_tokens: int
    """The limit of a completion."""

    def __post_init__(self) -> None:
        if not (0.0 <= self.strength <= 1.0 and self.longest_tokens > 0):
            raise UsageProblem(
                f"A length penalty of {self.strength} over {self.longest_tokens} tokens cannot be.",
                "Choose a strength from 0 to 1 and a limit above 0.",
            )


def balanced(
    values: Sequence[float], is_correct: Sequence[bool], lengths_tokens: Sequence[int], balance: Balance
) -> tuple[float, ...]:
    """The rewards of one group's branches after the length penalty; unchanged while under half of them are right.

    r · (1 - strength · max(0, length - 1.25 · shortest right length) / longest), for right answers only.

    Raises: UsageProblem when a right answer's reward is negative: multiplied, the penalty would reward length.
    """
    right = [length for length, is_right in zip(lengths_tokens, is_correct, strict=True) if is_right]
    if not right or len(right) < _LEAST_PASS_RATE * len(is_correct):
        return tuple(values)
    if any(value < 0.0 for value, is_right in zip(values, is_correct, strict=True) if is_right):
        raise UsageProblem("A right answer has a negative reward.", "Choose rewards that are at least 0 at their top.")
    free = _FREE_EXCESS * min(right)

    def factor(length: int) -> float:
        excess = min(1.0, max(0.0, length - free) / balance.longest_tokens)
        return 1.0 - balance.strength * excess

    rows = zip(values, is_correct, lengths_tokens, strict=True)
    return tuple(value * factor(length) if is_right else value for value, is_right, length in rows)
