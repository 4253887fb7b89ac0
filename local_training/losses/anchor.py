"""How far the policy has moved from where it started, as something to hold it back by."""

from torch import Tensor

from local_training.losses.masking import check_shapes, log_ratio_BT, mean_over_tokens


def kl_to_anchor(
    logprobs_BT: Tensor, anchor_logprobs_BT: Tensor, mask_BT: Tensor, token_count: float | None = None
) -> Tensor:
    """Estimate k3 of KL(policy || anchor), in nats a token: mean of exp(d) - 1 - d with d = ln anchor - ln policy.

    Never negative, 0 only where both agree. The anchor is the model without the adapter that is being trained, and is
    not differentiated. The estimate holds for tokens the policy itself sampled.
    Source: Schulman 2020, "Approximating KL divergence"; as a loss Shao et al. 2024, equation 4 (arXiv:2402.03300).
    """
    check_shapes(mask_BT, logprobs_BT, anchor_logprobs_BT)
    gap_BT = log_ratio_BT(anchor_logprobs_BT.detach(), logprobs_BT, mask_BT)
    # expm1, because near the anchor exp(d) - 1 would lose every digit of a float32.
    return mean_over_tokens(gap_BT.expm1() - gap_BT, mask_BT, token_count)
