"""Whole answers that are left out of a step. Each function gives a boolean (B, 1) to join with a mask: `mask & keep`.

The divisor is the caller's: with the token count from before, what is left out counts as 0 and the others keep their
weight. An answer without tokens is kept, having nothing to lose. Nothing here is differentiated.
"""

import math
from typing import Final

import torch
from torch import Tensor

from local_training.losses.masking import check_shapes

SEQUENCE_CAP: Final = 3.0
OFF_POLICY_LIMIT_NATS: Final = 0.1
"""A token, on average. Rounding alone gives about 0.005 between llama.cpp and torch."""


def sequence_ratio_mask(
    trainer_logprobs_BT: Tensor,
    sampler_logprobs_BT: Tensor,
    mask_BT: Tensor,
    *,
    low: float = 0.0,
    high: float = SEQUENCE_CAP,
    per_token: bool = False,
) -> Tensor:
    """Keeps answers whose probability ratio, trainer over sampler, lies within [low, high], both included.

    The ratio is that of the whole answer, or with `per_token` its geometric mean, which does not grow with length.
    Compared as logarithms, so that a long answer cannot overflow.
    Source: Liu, Li et al. 2025, "When speed kills stability" (sequence-level masked importance sampling).
    """
    check_shapes(mask_BT, trainer_logprobs_BT, sampler_logprobs_BT)
    log_ratio_B1 = _gap_B1(trainer_logprobs_BT, sampler_logprobs_BT, mask_BT)
    if per_token:
        log_ratio_B1 = log_ratio_B1 / _lengths_B1(mask_BT)
    log_low = math.log(low) if low > 0 else -math.inf
    return (log_ratio_B1 >= log_low) & (log_ratio_B1 <= math.log(high))


def on_policy_mask(
    logprobs_BT: Tensor,
    sampler_logprobs_BT: Tensor,
    advantages_B1: Tensor,
    mask_BT: Tensor,
    limit_nats: float = OFF_POLICY_LIMIT_NATS,
) -> Tensor:
    """Leaves out answers that are discouraged although the policy has already moved away from them.

    That is: advantage below 0, and mean of ln sampler - ln policy over the answer above `limit_nats`.
    Source: DeepSeek-AI 2025, section 3.1, off-policy sequence masking (DeepSeek-V3.2, arXiv:2512.02556).
    """
    check_shapes(mask_BT, logprobs_BT, sampler_logprobs_BT)
    if tuple(advantages_B1.shape) != (mask_BT.shape[0], 1):
        raise ValueError(f"advantages are ({mask_BT.shape[0]}, 1), not {tuple(advantages_B1.shape)}")
    moved_B1 = _gap_B1(sampler_logprobs_BT, logprobs_BT, mask_BT) / _lengths_B1(mask_BT)
    return (advantages_B1 >= 0) | (moved_B1 <= limit_nats)


def finished_mask(is_finished_B: Tensor) -> Tensor:
    """Leaves out answers that were cut off at their limit: nobody knows whether they would have been right.

    Source: Yu et al. 2025, section 3.4, overlong filtering (DAPO, arXiv:2503.14476).
    """
    if is_finished_B.dtype != torch.bool or is_finished_B.ndim != 1:
        raise ValueError(f"finished is boolean and (B,), not {is_finished_B.dtype} {tuple(is_finished_B.shape)}")
    return is_finished_B[:, None]


def _gap_B1(more_BT: Tensor, less_BT: Tensor, mask_BT: Tensor) -> Tensor:
    return torch.where(mask_BT, more_BT.detach() - less_BT.detach(), 0.0).sum(dim=1, keepdim=True)


def _lengths_B1(mask_BT: Tensor) -> Tensor:
    return mask_BT.sum(dim=1, keepdim=True).clamp(min=1)
