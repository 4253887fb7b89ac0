"""The losses once more, from their formulas: float64, one loop per sum, no tensor library and no shared code.

Slow and plain on purpose. Gradients come from differences of the value. What a loss holds fixed while it is
differentiated is an argument of its own here, so that differences cannot move it.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

Grid = np.ndarray
"""(B, T) of float64; entries outside the mask may be anything, NaN too."""


def cells(mask: Grid) -> list[tuple[int, int]]:
    return [(b, t) for b in range(mask.shape[0]) for t in range(mask.shape[1]) if mask[b, t]]


def row(mask: Grid, b: int) -> list[int]:
    return [t for t in range(mask.shape[1]) if mask[b, t]]


def gradient(value: Callable[[Grid], float], at: Grid, mask: Grid, step: float = 2e-5) -> Grid:
    """Central differences of fourth order, for the entries under the mask; 0 elsewhere."""
    found = np.zeros_like(at)
    for b, t in cells(mask):

        def moved(by: float, b: int = b, t: int = t) -> float:
            other = at.copy()
            other[b, t] += by
            return value(other)

        found[b, t] = (moved(-2 * step) - 8 * moved(-step) + 8 * moved(step) - moved(2 * step)) / (12 * step)
    return found


def answer(logprobs: Grid, mask: Grid, count: float) -> float:
    return sum(-logprobs[b, t] for b, t in cells(mask)) / count


def grpo(rewards: Sequence[float]) -> list[float]:
    mean = sum(rewards) / len(rewards)
    deviation = math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / (len(rewards) - 1))
    return [(reward - mean) / (deviation + 1e-6) for reward in rewards]


def dr_grpo(rewards: Sequence[float]) -> list[float]:
    return [reward - sum(rewards) / len(rewards) for reward in rewards]


def overlong(length: int, limit: int, buffer: int) -> float:
    if length <= limit - buffer:
        return 0.0
    return ((limit - buffer) - length) / buffer if length <= limit else -1.0


def policy(
    logprobs: Grid, old: Grid, advantages: Grid, mask: Grid, weights: Grid, count: float, low: float, high: float
) -> float:
    total = 0.0
    for b, t in cells(mask):
        ratio = math.exp(logprobs[b, t] - old[b, t])
        clipped = min(max(ratio, 1 - low), 1 + high)
        total += weights[b, t] * min(ratio * advantages[b, t], clipped * advantages[b, t])
    return -total / count


def truncated(trainer: Grid, sampler: Grid, mask: Grid, cap: float) -> Grid:
    weights = np.zeros_like(trainer)
    for b, t in cells(mask):
        weights[b, t] = min(math.exp(trainer[b, t]) / math.exp(sampler[b, t]), cap)
    return weights


def banded(trainer: Grid, sampler: Grid, mask: Grid, low: float, high: float) -> Grid:
    weights = np.zeros_like(trainer)
    for b, t in cells(mask):
        ratio = math.exp(trainer[b, t]) / math.exp(sampler[b, t])
        weights[b, t] = ratio if low <= ratio <= high else 0.0
    return weights


def sequence_kept(trainer: Grid, sampler: Grid, mask: Grid, low: float, high: float, per_token: bool) -> list[bool]:
    kept = []
    for b in range(mask.shape[0]):
        ratio = 1.0
        for t in row(mask, b):
            ratio *= math.exp(trainer[b, t]) / math.exp(sampler[b, t])
        kept.append(low <= (ratio ** (1 / max(len(row(mask, b)), 1)) if per_token else ratio) <= high)
    return kept


def on_policy_kept(logprobs: Grid, sampler: Grid, advantages: Sequence[float], mask: Grid, limit: float) -> list[bool]:
    kept = []
    for b, advantage in enumerate(advantages):
        moved = [sampler[b, t] - logprobs[b, t] for t in row(mask, b)]
        kept.append(advantage >= 0 or sum(moved) / max(len(moved), 1) <= limit)
    return kept


def k3(logprobs: Grid, anchor: Grid, mask: Grid, count: float) -> float:
    total = 0.0
    for b, t in cells(mask):
        gap = anchor[b, t] - logprobs[b, t]
        total += math.exp(gap) - gap - 1
    return total / count


def log_ratio(logprobs: Grid, anchor: Grid, mask: Grid, b: int, by_length: bool = False) -> float:
    total = sum(logprobs[b, t] - anchor[b, t] for t in row(mask, b))
    return total / max(len(row(mask, b)), 1) if by_length else total


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def dpo(margins: Sequence[float], beta: float, smoothing: float) -> float:
    losses = [
        -(1 - smoothing) * math.log(sigmoid(beta * margin)) - smoothing * math.log(sigmoid(-beta * margin))
        for margin in margins
    ]
    return sum(losses) / len(losses)


def kto(
    ratios: Sequence[float],
    good: Sequence[bool],
    mismatched: Sequence[float],
    beta: float,
    weights: tuple[float, float],
) -> float:
    """`weights` are those of good and of bad answers; no `mismatched` leaves the reference point at 0 (APO-zero)."""
    point = max(0.0, sum(mismatched) / len(mismatched)) if mismatched else 0.0
    total = 0.0
    for ratio, is_good in zip(ratios, good, strict=True):
        if is_good:
            total += weights[0] * (1 - sigmoid(beta * (ratio - point)))
        else:
            total += weights[1] * (1 - sigmoid(beta * (point - ratio)))
    return total / len(ratios)


def hindsight_gains(hindsight: Grid, held: Grid, mask: Grid, centred: bool, limit: float) -> Grid:
    gains = np.zeros_like(hindsight)
    for b in range(mask.shape[0]):
        raw = {t: hindsight[b, t] - held[b, t] for t in row(mask, b)}
        mean = sum(raw.values()) / max(len(raw), 1) if centred else 0.0
        for t, gain in raw.items():
            gains[b, t] = min(max(gain - mean, -limit), limit)
    return gains


def hindsight(logprobs: Grid, gains: Grid, mask: Grid, count: float) -> float:
    return sum(-gains[b, t] * logprobs[b, t] for b, t in cells(mask)) / count
