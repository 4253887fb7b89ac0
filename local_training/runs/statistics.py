"""How sure a share or a paired difference of few items is. Pure arithmetic, exact where that is cheap.

Normal approximations are not used: they are wrong below some hundreds of items, which is what runs have.
"""

import math
from collections.abc import Iterable
from typing import Final, Literal

Z_95: Final = 1.959963984540054
"""Standard normal quantile of 0.975."""


def wilson(right: int, n: int, z: float = Z_95) -> tuple[float, float]:
    """The Wilson interval of the share `right` of `n`, between 0 and 1; for `z` as it is, at 95 %.

    Nothing is known of no items: (0, 1). Source: Wilson 1927. Raises: ValueError unless 0 <= right <= n.
    """
    if not 0 <= right <= n:
        raise ValueError(f"{right} of {n} is no share")
    if n == 0:
        return 0.0, 1.0
    share, weight = right / n, z * z / n
    middle = share + weight / 2
    half = z * math.sqrt(share * (1 - share) / n + weight / (4 * n))
    # At the ends the bound is exactly 0 or 1, which rounding misses.
    low = 0.0 if right == 0 else (middle - half) / (1 + weight)
    high = 1.0 if right == n else (middle + half) / (1 + weight)
    return low, high


def mcnemar_exact(wins: int, losses: int, side: Literal["two", "better", "worse"] = "two") -> float:
    """p of McNemar's exact test over the pairs that differ, of which `wins` became right and `losses` wrong.

    `two`: as likely a change in either direction at least as uneven. `better`: at least so many wins by chance;
    small when it got better. `worse`: at least so many losses by chance; while it is not small, the items do not
    show that it got worse. 1 without a pair that differs. Raises: ValueError for a count below 0.
    """
    if wins < 0 or losses < 0:
        raise ValueError(f"{wins} wins and {losses} losses are no counts")
    if side == "better":
        return _at_least(wins, wins + losses)
    if side == "worse":
        return _at_least(losses, wins + losses)
    return min(1.0, 2 * _at_least(max(wins, losses), wins + losses))


def paired_changes(pairs: Iterable[tuple[bool, bool]]) -> tuple[int, int]:
    """How many became right and how many became wrong, of (before, after)."""
    listed = list(pairs)
    return listed.count((False, True)), listed.count((True, False))


def _at_least(heads: int, tosses: int) -> float:
    """The chance of `heads` or more of so many fair tosses; summed in whole numbers, so it is exact."""
    ways: int = sum(math.comb(tosses, count) for count in range(heads, tosses + 1))
    return ways / (1 << tosses)
