"""Every loss beside the same from `reference`: what the tests and the benchmark compare."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from engine.runtime.protocol import AdapterStack
from local_training.losses import (
    answer_loss,
    apo_zero_loss,
    banded,
    best_of,
    clipped_policy_loss,
    dpo_loss,
    dr_grpo_advantages,
    grpo_advantages,
    hindsight_advantages,
    hindsight_loss,
    kl_to_anchor,
    kto_loss,
    kto_reference_point,
    log_ratio_to_anchor,
    on_policy_mask,
    overlong_penalty,
    plan_resampling,
    segment_advantages,
    sequence_ratio_mask,
    truncated,
    with_advantages,
    without_first,
)
from local_training.trajectory import Trajectory, TrajectorySegment
from tests.local_training.losses import reference
from tests.local_training.losses.points import (
    ANSWER_BAND,
    EXAMPLES,
    TOKEN_BAND,
    TOKENS,
    Compared,
    Drawn,
    Tensors,
    draw,
    relative_errors,
    value_and_gradient,
)

GROUP: Final = 4
"""Rollouts of one prompt: the examples are two groups."""


@dataclass(frozen=True, slots=True)
class LossCase:
    name: str
    ours: Callable[[torch.Tensor, Tensors], torch.Tensor]
    """The loss as a function of the policy's log-probabilities."""
    restated: Callable[[np.ndarray, Drawn], float]


def compare(case: LossCase, seed: int, dtype: torch.dtype) -> Compared:
    """Against the restatement."""
    drawn = draw(seed)
    wanted = case.restated(drawn.policy, drawn)
    slope = reference.gradient(lambda at: case.restated(at, drawn), drawn.policy, drawn.mask)
    return relative_errors(*value_and_gradient(case.ours, drawn, dtype), wanted, slope)


# Advantages


def by_group(rewards: Sequence[float], advantages_of: Callable[[Sequence[float]], Sequence[float]]) -> list[float]:
    groups = [rewards[start : start + GROUP] for start in range(0, len(rewards), GROUP)]
    return [advantage for group in groups for advantage in advantages_of(group)]


def restated_grid(values: Sequence[float]) -> np.ndarray:
    return np.repeat(np.array(values)[:, None], TOKENS, axis=1)


def policy_case(
    name: str,
    advantages: Callable[[Sequence[float]], Sequence[float]],
    restated: Callable[[Sequence[float]], Sequence[float]],
    count: float | None = None,
) -> LossCase:
    """The clipped objective with the advantages of two groups."""
    return LossCase(
        name,
        lambda policy, t: clipped_policy_loss(
            policy, t.old, t.column(by_group(t.rewards, advantages)), t.mask, token_count=count
        ),
        lambda policy, d: restated_policy(policy, d, by_group(d.rewards, restated), count=count),
    )


def restated_policy(
    policy: np.ndarray,
    d: Drawn,
    advantages: Sequence[float] | np.ndarray,
    weights: np.ndarray | None = None,
    count: float | None = None,
) -> float:
    grid = advantages if isinstance(advantages, np.ndarray) else restated_grid(advantages)
    weights = np.ones_like(policy) if weights is None else weights
    return reference.policy(policy, d.old, grid, d.mask, weights, d.count if count is None else count, 0.2, 0.28)


# DAPO: one of three groups is all equal, the answers that are long are paid less


def dapo_ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
    shaped = [
        reward + overlong_penalty(int(length), TOKENS, 5)
        for reward, length in zip(t.rewards, t.mask.sum(dim=1).tolist(), strict=True)
    ]
    groups = [shaped[:3], [0.5, 0.5], shaped[3:]]
    kept = plan_resampling(groups, wanted=2, waves_drawn=1).kept
    advantages = [advantage for position in kept for advantage in grpo_advantages(groups[position])]
    return clipped_policy_loss(policy, t.old, t.column(advantages), t.mask)


def dapo_restated(policy: np.ndarray, d: Drawn) -> float:
    shaped = [
        reward + reference.overlong(int(length), TOKENS, 5)
        for reward, length in zip(d.rewards, d.mask.sum(axis=1), strict=True)
    ]
    return restated_policy(policy, d, reference.grpo(shaped[:3]) + reference.grpo(shaped[3:]))


# Trajectories of several segments: three of 3, 1 and 4 rows share their advantages


def segments_ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
    segment = TrajectorySegment((1,), (2,), (-1.0,), AdapterStack(()))
    group = [Trajectory((segment,) * rows, reward) for rows, reward in zip((3, 1, 4), t.rewards[:3], strict=True)]
    shared = segment_advantages(with_advantages(group, dr_grpo_advantages))
    return clipped_policy_loss(policy, t.old, t.column(shared), t.mask)


def segments_restated(policy: np.ndarray, d: Drawn) -> float:
    first, second, third = reference.dr_grpo(d.rewards[:3])
    return restated_policy(policy, d, [first] * 3 + [second] + [third] * 4)


# Weights and masks; the advantages are the rewards less a half, to have both signs in every group


def weighted_case(
    name: str, weights: Callable[[Tensors], torch.Tensor], restated: Callable[[Drawn], np.ndarray]
) -> LossCase:
    return LossCase(
        name,
        lambda policy, t: clipped_policy_loss(
            policy, t.old, t.column([r - 0.5 for r in t.rewards]), t.mask, weights_BT=weights(t)
        ),
        lambda policy, d: restated_policy(policy, d, [r - 0.5 for r in d.rewards], restated(d)),
    )


def both_weights_restated(d: Drawn) -> np.ndarray:
    inside = reference.banded(d.old, d.sampler, d.mask, 0.5, 5.0) > 0
    return np.where(inside, reference.truncated(d.old, d.sampler, d.mask, 2.0), 0.0)


def masked_case(name: str, band: tuple[float, float], per_token: bool) -> LossCase:
    low, high = band

    def ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
        keep = sequence_ratio_mask(t.old, t.sampler, t.mask, low=low, high=high, per_token=per_token)
        return clipped_policy_loss(
            policy, t.old, t.column([r - 0.5 for r in t.rewards]), t.mask & keep, token_count=float(t.mask.sum())
        )

    def restated(policy: np.ndarray, d: Drawn) -> float:
        kept = reference.sequence_kept(d.old, d.sampler, d.mask, low, high, per_token)
        return restated_policy(policy, d, [r - 0.5 for r in d.rewards], restated_grid(kept))

    return LossCase(name, ours, restated)


def on_policy_ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
    advantages = t.column([r - 0.5 for r in t.rewards])
    keep = on_policy_mask(policy, t.sampler, advantages, t.mask)
    return clipped_policy_loss(policy, t.old, advantages, t.mask & keep, token_count=float(t.mask.sum()))


def on_policy_restated(policy: np.ndarray, d: Drawn) -> float:
    advantages = [r - 0.5 for r in d.rewards]
    kept = reference.on_policy_kept(policy, d.sampler, advantages, d.mask, 0.1)
    return restated_policy(policy, d, advantages, restated_grid(kept))


def whole_step_ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
    """What a night minimises: DAPO with both weights, and the anchor."""
    advantages = t.column(by_group(t.rewards, grpo_advantages))
    weights = truncated(banded(t.ratio()))
    step = clipped_policy_loss(policy, t.old, advantages, t.mask, weights_BT=weights)
    return step + 0.02 * kl_to_anchor(policy, t.anchor, t.mask)


def whole_step_restated(policy: np.ndarray, d: Drawn) -> float:
    step = restated_policy(policy, d, by_group(d.rewards, reference.grpo), both_weights_restated(d))
    return step + 0.02 * reference.k3(policy, d.anchor, d.mask, d.count)


# Preferences: even rows are chosen, odd ones rejected


def dpo_case(name: str, beta: float, smoothing: float, by_length: bool) -> LossCase:
    def ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
        ratio = log_ratio_to_anchor(policy, t.anchor, t.mask, length_normalised=by_length)
        return dpo_loss(ratio[0::2], ratio[1::2], beta=beta, label_smoothing=smoothing)

    def restated(policy: np.ndarray, d: Drawn) -> float:
        ratios = [reference.log_ratio(policy, d.anchor, d.mask, b, by_length) for b in range(EXAMPLES)]
        return reference.dpo([ratios[b] - ratios[b + 1] for b in range(0, EXAMPLES, 2)], beta, smoothing)

    return LossCase(name, ours, restated)


def kto_ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
    ratio = log_ratio_to_anchor(policy, t.anchor, t.mask)
    point = kto_reference_point(log_ratio_to_anchor(t.hindsight, t.sampler, t.mask))
    return kto_loss(ratio, t.good, point, good_weight=1.0, bad_weight=1.3)


def kto_restated(policy: np.ndarray, d: Drawn) -> float:
    ratios = [reference.log_ratio(policy, d.anchor, d.mask, b) for b in range(EXAMPLES)]
    mismatched = [reference.log_ratio(d.hindsight, d.sampler, d.mask, b) for b in range(EXAMPLES)]
    return reference.kto(ratios, d.good, mismatched, 0.1, (1.0, 1.3))


def apo_restated(policy: np.ndarray, d: Drawn) -> float:
    ratios = [reference.log_ratio(policy, d.anchor, d.mask, b) for b in range(EXAMPLES)]
    return reference.kto(ratios, d.good, (), 0.1, (1.0, 1.0))


# Imitation and hindsight


def chosen_ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
    kept = torch.zeros(EXAMPLES, 1, dtype=torch.bool)
    for start in range(0, EXAMPLES, GROUP):
        kept[[start + position for position in best_of(t.rewards[start : start + GROUP], keep=2)]] = True
    return answer_loss(policy, t.mask & kept)


def chosen_restated(policy: np.ndarray, d: Drawn) -> float:
    kept = np.zeros_like(d.mask)
    for start in range(0, EXAMPLES, GROUP):
        ranked = sorted(range(start, start + GROUP), key=lambda b: d.rewards[b])
        for b in ranked[-2:]:
            kept[b] = d.mask[b]
    return reference.answer(policy, kept, float(kept.sum()))


def hindsight_ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
    mask = without_first(t.mask)
    return hindsight_loss(policy, hindsight_advantages(t.hindsight, policy, mask), mask)


def hindsight_restated(policy: np.ndarray, d: Drawn) -> float:
    mask = d.mask & (np.arange(TOKENS) >= 2)
    gains = reference.hindsight_gains(d.hindsight, d.policy, mask, False, np.inf)
    return reference.hindsight(policy, gains, mask, float(mask.sum()))


def sampled_hindsight_ours(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
    gains = hindsight_advantages(t.hindsight, t.old, t.mask, centred=True, limit=0.5)
    return clipped_policy_loss(policy, t.old, gains, t.mask)


def sampled_hindsight_restated(policy: np.ndarray, d: Drawn) -> float:
    return restated_policy(policy, d, reference.hindsight_gains(d.hindsight, d.old, d.mask, True, 0.5))


CASES: Final = (
    LossCase(
        "SFT on answer tokens",
        lambda policy, t: answer_loss(policy, t.mask),
        lambda policy, d: reference.answer(policy, d.mask, d.count),
    ),
    LossCase("rejection sampling, best 2 of 4", chosen_ours, chosen_restated),
    policy_case("GRPO advantages", grpo_advantages, reference.grpo),
    policy_case("Dr. GRPO advantages, constant divisor", dr_grpo_advantages, reference.dr_grpo, EXAMPLES * TOKENS),
    LossCase("DAPO, equal group dropped, overlong", dapo_ours, dapo_restated),
    LossCase("segments of trajectories", segments_ours, segments_restated),
    weighted_case(
        "truncated importance sampling",
        lambda t: truncated(t.ratio()),
        lambda d: reference.truncated(d.old, d.sampler, d.mask, 2.0),
    ),
    weighted_case(
        "IcePop band",
        lambda t: banded(t.ratio()),
        lambda d: reference.banded(d.old, d.sampler, d.mask, 0.5, 5.0),
    ),
    weighted_case("IcePop band, then truncated", lambda t: truncated(banded(t.ratio())), both_weights_restated),
    masked_case("sequence mask", ANSWER_BAND, per_token=False),
    masked_case("sequence mask, per token", TOKEN_BAND, per_token=True),
    LossCase("off-policy sequence mask", on_policy_ours, on_policy_restated),
    LossCase(
        "KL (k3) to the anchor",
        lambda policy, t: kl_to_anchor(policy, t.anchor, t.mask),
        lambda policy, d: reference.k3(policy, d.anchor, d.mask, d.count),
    ),
    LossCase("DAPO, both weights, KL", whole_step_ours, whole_step_restated),
    dpo_case("DPO", 0.1, 0.0, by_length=False),
    dpo_case("DPO, label smoothing", 0.1, 0.2, by_length=False),
    dpo_case("DPO, length-normalised", 5.0, 0.0, by_length=True),
    LossCase("KTO", kto_ours, kto_restated),
    LossCase(
        "APO-zero",
        lambda policy, t: apo_zero_loss(log_ratio_to_anchor(policy, t.anchor, t.mask), t.good),
        apo_restated,
    ),
    LossCase("hindsight self-distillation, logged", hindsight_ours, hindsight_restated),
    LossCase("hindsight self-distillation, sampled", sampled_hindsight_ours, sampled_hindsight_restated),
)
