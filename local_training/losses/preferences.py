"""Learning from what a person preferred: pairs (DPO), or single answers called good or bad (KTO, APO-zero).

All work on the log-ratio of whole answers, policy to anchor, from `log_ratio_to_anchor`; `beta` says how dear moving
away from the anchor is. The means are over examples; nothing to learn from gives 0.
"""

from typing import Final

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from local_training.losses.masking import check_shapes, mean_over_examples

BETA: Final = 0.1


def log_ratio_to_anchor(
    logprobs_BT: Tensor, anchor_logprobs_BT: Tensor, mask_BT: Tensor, *, length_normalised: bool = False
) -> Tensor:
    """ln(policy/anchor) of each whole answer, (B,); 0 for an answer without tokens.

    With `length_normalised` it is the mean over the answer's tokens, so that long answers do not pull harder; `beta`
    must then be larger; the source takes 5. The anchor is not differentiated.
    Source: Rafailov et al. 2023, section 4 (arXiv:2305.18290); by length Lambert et al. 2024, section 5
    (arXiv:2411.15124).
    """
    check_shapes(mask_BT, logprobs_BT, anchor_logprobs_BT)
    total_B = torch.where(mask_BT, logprobs_BT - anchor_logprobs_BT.detach(), 0.0).sum(dim=1)
    return total_B / mask_BT.sum(dim=1).clamp(min=1) if length_normalised else total_B


def dpo_loss(
    chosen_ratio_B: Tensor,
    rejected_ratio_B: Tensor,
    *,
    beta: float = BETA,
    label_smoothing: float = 0.0,
    pair_count: float | None = None,
) -> Tensor:
    """-(1 - s) ln σ(beta m) - s ln σ(-beta m), mean over pairs; m is chosen minus rejected log-ratio, s the smoothing.

    `label_smoothing` is the share of pairs believed to be the wrong way round.
    Source: Rafailov et al. 2023, equation 7 (arXiv:2305.18290); smoothing Mitchell 2023, "A note on DPO with noisy
    preferences".
    """
    _check_examples(chosen_ratio_B, rejected_ratio_B)
    margin_B = beta * (chosen_ratio_B - rejected_ratio_B)
    losses_B = -(1 - label_smoothing) * logsigmoid(margin_B) - label_smoothing * logsigmoid(-margin_B)
    return mean_over_examples(losses_B, pair_count)


def kto_reference_point(mismatched_ratio_B: Tensor) -> Tensor:
    """How far the policy has moved in general: mean log-ratio of answers to prompts they do not belong to, at least 0.

    A scalar without gradient; 0 when there are none. Needs several examples; with fewer take `apo_zero_loss`.
    Source: Ethayarajh et al. 2024, section 4 (arXiv:2402.01306).
    """
    return mean_over_examples(mismatched_ratio_B.detach()).clamp(min=0.0)


def kto_loss(
    ratio_B: Tensor,
    is_good_B: Tensor,
    reference_point: Tensor,
    *,
    beta: float = BETA,
    good_weight: float = 1.0,
    bad_weight: float = 1.0,
    example_count: float | None = None,
) -> Tensor:
    """1 - σ(beta (ratio - z)) for good answers, 1 - σ(beta (z - ratio)) for bad ones, weighted; mean over examples.

    z is `reference_point`. A good answer far above it, and a bad one far below, have nearly no gradient.
    Source: Ethayarajh et al. 2024, equation 7 (KTO, arXiv:2402.01306).
    """
    _check_examples(ratio_B, is_good_B)
    # 1 - σ(x) is σ(-x), which keeps its digits where σ(x) is near 1.
    gain_B = beta * (ratio_B - reference_point.detach())
    losses_B = torch.where(is_good_B, good_weight * (-gain_B).sigmoid(), bad_weight * gain_B.sigmoid())
    return mean_over_examples(losses_B, example_count)


def apo_zero_loss(
    ratio_B: Tensor, is_good_B: Tensor, *, beta: float = BETA, example_count: float | None = None
) -> Tensor:
    """1 - σ(beta ratio) for good answers, σ(beta ratio) for bad ones; mean over examples.

    KTO without the reference point, hence right for batches too small to estimate one.
    Source: D'Oosterlinck et al. 2024, equation 7, for answers that are not paired (APO-zero, arXiv:2408.06266).
    """
    return kto_loss(ratio_B, is_good_B, ratio_B.new_zeros(()), beta=beta, example_count=example_count)


def _check_examples(first_B: Tensor, second_B: Tensor) -> None:
    if first_B.ndim != 1 or first_B.shape != second_B.shape:
        raise ValueError(f"both are (B,) of one length, not {tuple(first_B.shape)} and {tuple(second_B.shape)}")
