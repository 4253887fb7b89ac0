"""Weights for what was sampled by llama.cpp and is learned by torch.

Both run the same weights and differ in rounding; without a correction the gradient is that of another policy. The
functions join: `truncated(banded(importance_ratio(...)))`. Nothing here is differentiated. How large the gap
is, `local_training.mismatch` tells.
"""

import torch
from torch import Tensor

from local_training.losses.masking import check_shapes, log_ratio_BT
from local_training.mismatch import BAND, CAP


def importance_ratio(trainer_logprobs_BT: Tensor, sampler_logprobs_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """Probability by the trainer before the step over that by the sampler, (B, T); 1 outside the mask."""
    check_shapes(mask_BT, trainer_logprobs_BT, sampler_logprobs_BT)
    return log_ratio_BT(trainer_logprobs_BT.detach(), sampler_logprobs_BT.detach(), mask_BT).exp()


def truncated(ratio_BT: Tensor, cap: float = CAP) -> Tensor:
    """min(ratio, cap): bounded variance for a little bias.

    Source: Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training" (TIS).
    """
    return ratio_BT.clamp(max=cap)


def banded(ratio_BT: Tensor, low: float = BAND[0], high: float = BAND[1]) -> Tensor:
    """The ratio where it lies within [low, high], both included, and 0 elsewhere: such tokens teach nothing.

    Source: Ling Team 2025 (IcePop, arXiv:2510.18855).
    """
    return torch.where((ratio_BT >= low) & (ratio_BT <= high), ratio_BT, 0.0)
