"""The clipped policy objective, token by token. Knows neither rewards nor where the weights come from."""

from typing import Final

import torch
from torch import Tensor

from local_training.losses.masking import check_per_token, check_shapes, log_ratio_BT, mean_over_tokens

CLIP_LOW: Final = 0.2
CLIP_HIGH: Final = 0.28


def clipped_policy_loss(
    logprobs_BT: Tensor,
    old_logprobs_BT: Tensor,
    advantages_BT: Tensor,
    mask_BT: Tensor,
    *,
    weights_BT: Tensor | None = None,
    token_count: float | None = None,
    clip_low: float = CLIP_LOW,
    clip_high: float = CLIP_HIGH,
) -> Tensor:
    """-mean of w min(ρ A, clip(ρ, 1 - clip_low, 1 + clip_high) A) over the tokens of the global batch; a scalar.

    ρ is the ratio of the policy to what it was when the batch began, both by the trainer; with one optimizer step per
    batch `old_logprobs_BT` may be `logprobs_BT` itself. Advantages are (B, T), or (B, 1) for one per answer. `w` are
    the weights of `importance`, (B, T) or (B, 1). A token beyond the clip on the side its advantage pulls it to has no
    gradient. Only `logprobs_BT` is differentiated.
    Source: Yu et al. 2025, sections 3.1 (the clip) and 3.3 (the token mean) (DAPO, arXiv:2503.14476).
    Dr. GRPO (arXiv:2503.20783) divides by a constant instead: give it as `token_count`.
    """
    check_shapes(mask_BT, logprobs_BT, old_logprobs_BT)
    check_per_token(advantages_BT, mask_BT, "advantages")
    ratio_BT = log_ratio_BT(logprobs_BT, old_logprobs_BT.detach(), mask_BT).exp()
    clipped_BT = ratio_BT.clamp(1 - clip_low, 1 + clip_high)
    fixed_BT = advantages_BT.detach()
    objective_BT = torch.minimum(ratio_BT * fixed_BT, clipped_BT * fixed_BT)
    if weights_BT is not None:
        check_per_token(weights_BT, mask_BT, "weights")
        objective_BT = objective_BT * weights_BT.detach()
    return mean_over_tokens(-objective_BT, mask_BT, token_count)
