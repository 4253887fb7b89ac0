"""How sure a share or a paired difference of few items is. Pure arithmetic, exact where that is cheap.

Normal approximations of the usual kind are not used: they are wrong below some hundreds of items, which is what runs
have. Knows items only as counts; how means are bounded is in `bootstrap`.
"""

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import Final, Literal

Z_95: Final = 1.959963984540054
"""Standard normal quantile of 0.975: both bounds together hold with 95 %."""
Z_95_ONE_SIDED: Final = 1.6448536269514722
"""Standard normal quantile of 0.95: either bound alone holds with 95 %."""
_MOST_ITEMS: Final = 1_000_000


def one_sided_z(alpha: float) -> float:
    """The z at which one bound alone is wrong with probability `alpha`."""
    return NormalDist().inv_cdf(1 - alpha)


def wilson(right: float, n: int, z: float = Z_95) -> tuple[float, float]:
    """The Wilson interval of the share `right` of `n`, between 0 and 1; for `z` as it is, at 95 %.

    `right` may be a fraction, where several answers make one item. Nothing is known of no items: (0, 1).
    Source: Wilson 1927. Raises: ValueError unless 0 <= right <= n.
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


def paired_difference(wins: float, losses: float, n: float, z: float = Z_95_ONE_SIDED) -> tuple[float, float]:
    """Bounds of the share right after minus before, between -1 and 1, over `n` pairs; each alone is sure to 95 %.

    They invert the score test, so they keep some width where no pair differs, as Wilson's do for one share. Counts
    may be fractions. Nothing is known of no pairs: (-1, 1). Source: Tango 1998, Statistics in Medicine 17, 891.
    Raises: ValueError unless wins and losses are counts of at most `n` together.
    """
    if wins < 0 or losses < 0 or wins + losses > n:
        raise ValueError(f"{wins} wins and {losses} losses of {n} are no counts")
    if n == 0:
        return -1.0, 1.0
    return _lower_difference(wins, losses, n, z), -_lower_difference(losses, wins, n, z)


def pairs_to_win(wins: int, losses: int, n: int, alpha: float) -> int | None:
    """About how many pairs like these `n` would let McNemar's test say better; None where they do not lean that way.

    By the normal approximation with continuity correction, solved for the number of pairs: this only tells a person how
    far there is to go.
    """
    lead, differing = wins - losses, wins + losses
    if lead <= 0:
        return None
    spread = one_sided_z(alpha) * math.sqrt(differing)
    root = (spread + math.sqrt(spread * spread + 4 * lead)) / (2 * lead)
    return math.ceil(n * root * root)


def pairs_to_hold(wins: int, losses: int, n: int, margin: float, z: float = Z_95_ONE_SIDED) -> int | None:
    """About how many pairs like these `n` would put the lower bound of their difference above `-margin`.

    None where they lose the margin or more, so that more of the same would not help.
    """
    if n == 0 or losses - wins >= margin * n:
        return None
    total = n
    while total <= _MOST_ITEMS:
        if paired_difference(wins * total / n, losses * total / n, total, z)[0] > -margin:
            return total
        total += max(1, total // 20)
    return None


def _at_least(heads: int, tosses: int) -> float:
    """The chance of `heads` or more of so many fair tosses; summed in whole numbers, so it is exact."""
    ways: int = sum(math.comb(tosses, count) for count in range(heads, tosses + 1))
    return ways / (1 << tosses)


def _lower_difference(wins: float, losses: float, n: float, z: float) -> float:
    """The difference at which the score test just accepts, by halving: the score falls as the difference rises."""
    low, high = -1.0, (wins - losses) / n
    for _ in range(50):
        middle = (low + high) / 2
        if _score(wins, losses, n, middle) > z:
            low = middle
        else:
            high = middle
    return low


def _score(wins: float, losses: float, n: float, difference: float) -> float:
    """The score of `difference`, with the share of losses that is likeliest under it (Tango 1998, equation 10)."""
    linear = -wins - losses + (2 * n - wins + losses) * difference
    constant = -losses * difference * (1 - difference)
    lost = (math.sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * lost + difference * (1 - difference))
    distance = wins - losses - n * difference
    return distance / math.sqrt(variance) if variance > 0 else math.inf
