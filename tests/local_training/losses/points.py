"""Random points at which losses are compared, and how far two answers are apart.

A point is drawn anew for each seed: rows of different length, one of them empty, NaN wherever the mask is off.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from local_training.losses import importance_ratio
from tests.local_training.losses import reference

EXAMPLES: Final = 8
TOKENS: Final = 9
ANSWER_BAND: Final = (0.2, 3.0)
TOKEN_BAND: Final = (0.8, 1.25)
"""Ratios of whole answers, and of their mean token, that the sequence masks keep."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Log-probabilities (B, T) of the same sampled tokens by different models, and what the answers got."""

    policy: np.ndarray
    old: np.ndarray
    sampler: np.ndarray
    anchor: np.ndarray
    hindsight: np.ndarray
    mask: np.ndarray
    rewards: tuple[float, ...]
    good: tuple[bool, ...]

    @property
    def count(self) -> float:
        return float(self.mask.sum())


@dataclass(frozen=True, slots=True)
class Compared:
    """Relative errors of one loss at one point."""

    value: float
    gradient: float


class Tensors:
    """What was drawn, as tensors of one precision."""

    def __init__(self, drawn: Drawn, dtype: torch.dtype) -> None:
        self.old, self.sampler, self.anchor, self.hindsight = (
            torch.tensor(values, dtype=dtype) for values in (drawn.old, drawn.sampler, drawn.anchor, drawn.hindsight)
        )
        self.mask = torch.tensor(drawn.mask)
        self.good = torch.tensor(drawn.good)
        self.rewards = drawn.rewards
        self.dtype = dtype

    def column(self, values: Sequence[float]) -> torch.Tensor:
        """One value per example, (B, 1)."""
        return torch.tensor(values, dtype=self.dtype)[:, None]

    def ratio(self) -> torch.Tensor:
        return importance_ratio(self.old, self.sampler, self.mask)


def draw(seed: int, padding: float = np.nan) -> Drawn:
    """Values that float32 holds exactly, so that both precisions are compared at the same point."""
    random = np.random.default_rng(seed)
    while not (is_smooth(drawn := draw_once(random, padding)) and is_telling(drawn)):
        pass
    return drawn


def draw_once(random: np.random.Generator, padding: float) -> Drawn:
    lengths = random.permutation([0, *random.integers(3, TOKENS + 1, EXAMPLES - 1)])
    mask = np.arange(TOKENS) < lengths[:, None]
    policy = -random.exponential(1.0, mask.shape) - 0.01

    def near(values: np.ndarray, spread: float) -> np.ndarray:
        return np.minimum(values + random.normal(0, spread, mask.shape), -1e-3)

    old = near(policy, 0.3)
    models = (policy, old, near(old, 1.2), near(policy, 0.5), near(policy, 0.7))
    rounded = (np.where(mask, values.astype(np.float32).astype(np.float64), padding) for values in models)
    rewards = tuple(float(reward) for reward in random.permutation(np.linspace(-0.4, 1.1, EXAMPLES).round(2)))
    good = tuple(bool(is_good) for is_good in random.permutation([True, False] * (EXAMPLES // 2)))
    return Drawn(*rounded, mask, rewards, good)


def is_smooth(drawn: Drawn) -> bool:
    """Whether no ratio is so near the edge of a clip, a cap or a band that a difference would step across it."""
    moved = (drawn.policy - drawn.old)[drawn.mask]
    gap = (drawn.old - drawn.sampler)[drawn.mask]
    drift = [np.mean((drawn.sampler - drawn.policy)[b][row]) for b, row in enumerate(drawn.mask) if row.any()]
    near_edges = [np.abs(moved - np.log(edge)).min() for edge in (0.8, 1.28)]
    near_edges += [np.abs(gap - np.log(edge)).min() for edge in (0.5, 2.0, 5.0)]
    return min(*near_edges, np.abs(np.array(drift) - 0.1).min()) > 2e-4


def is_telling(drawn: Drawn) -> bool:
    """Whether each sequence mask keeps some answers with tokens and leaves out others."""
    written = drawn.mask.any(axis=1)
    kept = [
        np.array(reference.sequence_kept(drawn.old, drawn.sampler, drawn.mask, *band, per_token))[written]
        for band, per_token in ((ANSWER_BAND, False), (TOKEN_BAND, True))
    ]
    return all(rows.any() and not rows.all() for rows in kept)


def value_and_gradient(
    loss: Callable[[torch.Tensor, Tensors], torch.Tensor], drawn: Drawn, dtype: torch.dtype
) -> tuple[float, np.ndarray]:
    policy = torch.tensor(drawn.policy, dtype=dtype, requires_grad=True)
    value = loss(policy, Tensors(drawn, dtype))
    (slope,) = torch.autograd.grad(value, policy)
    return value.item(), slope.double().numpy()


def relative_errors(value: float, slope: np.ndarray, wanted: float, wanted_slope: np.ndarray) -> Compared:
    """The gradient by its largest entry; the value by itself, or by what one nat of one token is worth.

    The latter matters where tokens for and against nearly cancel, and a relative error would be that of nothing. NaN
    counts as infinite.
    """
    largest = np.abs(wanted_slope).max()
    errors = abs(value - wanted) / max(abs(wanted), largest), np.abs(slope - wanted_slope).max() / largest
    return Compared(*(float("inf") if np.isnan(error) else float(error) for error in errors))
