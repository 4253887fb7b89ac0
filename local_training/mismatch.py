"""How far the trainer's log-probabilities are from the sampler's: the same tokens, computed by two programs.

Importance weights absorb a small gap; a large one means that they no longer run the same weights. Pure, without torch.
Sources: the IcePop band from the Ring-1T report (arXiv:2510.18855), the k3 estimate of KL from Schulman 2020.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from engine.errors import RuntimeFailed

CAP: Final = 2.0
"""Truncated importance sampling: weights above it are cut."""
BAND: Final = (0.5, 5.0)
"""IcePop: tokens whose weight lies outside are masked."""
_MOST_NATS: Final = 60.0
"""Beyond it a weight is as good as infinite, and its exponential could not be held."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Over all tokens of a batch. A gap is trainer minus sampler, in nats; a weight is its exponential."""

    tokens: int
    mean_gap_nats: float
    mean_absolute_gap_nats: float
    largest_absolute_gap_nats: float
    sampler_to_trainer_kl_nats: float
    """The k3 estimate, which no token can make negative."""
    share_above_cap: float
    share_outside_band: float


def measure_mismatch(
    trainer: Sequence[Sequence[float]],
    sampler: Sequence[Sequence[float]],
    cap: float = CAP,
    band: tuple[float, float] = BAND,
) -> Mismatch:
    """Figures of one batch; row by row the log-probabilities of the chosen tokens, in nats, before temperature.

    Raises: RuntimeFailed when there is no token, rows differ in length, or a value is no log-probability.
    """
    if [len(row) for row in trainer] != [len(row) for row in sampler]:
        raise RuntimeFailed(
            "Trainer and sampler have scored different tokens.", "Start the run anew; its rollouts cannot be used."
        )
    pairs = list(zip(chain.from_iterable(trainer), chain.from_iterable(sampler), strict=True))
    # Rounding can leave the log-probability of a certain token a little above 0.
    if not pairs or not all(math.isfinite(value) and value < 1e-3 for pair in pairs for value in pair):
        raise RuntimeFailed(
            "The log-probabilities of a batch are missing or no numbers.", "The adapter diverged; lower the rate."
        )
    gaps = [one - other for one, other in pairs]
    weights = [math.exp(min(gap, _MOST_NATS)) for gap in gaps]
    low, high = band
    count = len(gaps)
    return Mismatch(
        count,
        math.fsum(gaps) / count,
        math.fsum(map(abs, gaps)) / count,
        max(map(abs, gaps)),
        math.fsum(weight - 1.0 - math.log(weight) for weight in weights) / count,
        sum(weight > cap for weight in weights) / count,
        sum(not low <= weight <= high for weight in weights) / count,
    )
