"""Results as figures: of one suite, and of what changed between two adapters. Pure; decides nothing."""

from dataclasses import dataclass
from statistics import fmean

from engine.adapters.gate.inputs import AdapterResults, SuiteResult
from engine.adapters.gate.pairing import count, pair_items
from engine.adapters.statistics import paired_difference


@dataclass(frozen=True, slots=True)
class Change:
    """Of one suite, from another adapter to the measured one. Items of one group count once."""

    units: int
    wins: int
    """Became right."""
    losses: int
    points: float
    """Of accuracy, gained; bounds of it that are each sure to 95 %."""
    low: float
    high: float
    nats: float | None
    """A token of the given answers, where there are any; below 0 they became likelier."""


def figures_of(suite: SuiteResult) -> dict[str, float]:
    """`accuracy`, a share, and `nats_per_token`: means over the items that have them."""
    judged = [item.is_right for item in suite.items if item.is_right is not None]
    nats = [item.nats_per_token for item in suite.items if item.nats_per_token is not None]
    found: dict[str, float] = {}
    if judged:
        found["accuracy"] = fmean(judged)
    if nats:
        found["nats_per_token"] = fmean(nats)
    return found


def change_of(suite: SuiteResult, before: AdapterResults, after: AdapterResults) -> Change | None:
    """None where the two have not the same items."""
    pairs, problem = pair_items(suite.suite, suite.role, after, before)
    if problem is not None:
        return None
    paired = count(pairs)
    low, high = paired_difference(paired.wins, paired.losses, paired.judged)
    nats = fmean(paired.nats_change) if paired.nats_change else None
    return Change(paired.units, paired.wins, paired.losses, paired.points, 100 * low, 100 * high, nats)
