"""Learning from what the user said next: the model that has read the follow-up teaches the one that had not.

The teacher is the same policy with the follow-up added to its prompt. A token it finds likelier in hindsight is
strengthened, one it would now avoid is weakened. Only answer and tool-call tokens belong under the mask, never hidden
thoughts. Knows no prompt.
"""

from typing import Final

import torch
from torch import Tensor

from local_training.losses.masking import check_shapes, mean_over_tokens

SKIPPED_TOKENS: Final = 2
"""How many the source leaves out at the beginning of each answer."""


def hindsight_advantages(
    hindsight_logprobs_BT: Tensor,
    logprobs_BT: Tensor,
    mask_BT: Tensor,
    *,
    centred: bool = False,
    limit: float | None = None,
) -> Tensor:
    """ln p(token | prompt, follow-up) - ln p(token | prompt) of each token, (B, T), without gradient; 0 outside.

    `centred` takes away the mean over each answer, which on-policy runs want; then `limit` bounds the value to
    [-limit, limit] nats, so that no single token decides.
    Source: Kleine Buening et al. 2026 (arXiv:2603.12273); the limit as in OpenClaw-RL
    (arXiv:2603.10165).
    """
    check_shapes(mask_BT, hindsight_logprobs_BT, logprobs_BT)
    gain_BT = torch.where(mask_BT, hindsight_logprobs_BT.detach() - logprobs_BT.detach(), 0.0)
    if centred:
        mean_B1 = gain_BT.sum(dim=1, keepdim=True) / mask_BT.sum(dim=1, keepdim=True).clamp(min=1)
        gain_BT = torch.where(mask_BT, gain_BT - mean_B1, 0.0)
    return gain_BT if limit is None else gain_BT.clamp(-limit, limit)


def hindsight_loss(
    logprobs_BT: Tensor, advantages_BT: Tensor, mask_BT: Tensor, token_count: float | None = None
) -> Tensor:
    """-mean of advantage times ln p(token | prompt); a scalar, differentiated in the log-probabilities alone.

    Its gradient is that of the reverse KL to the teacher, taken at the tokens that were said. For logged turns; when
    the answers were just sampled, the same advantages go into `clipped_policy_loss`.
    Source: Kleine Buening et al. 2026 (arXiv:2603.12273).
    """
    check_shapes(mask_BT, logprobs_BT, advantages_BT)
    return mean_over_tokens(-torch.where(mask_BT, logprobs_BT, 0.0) * advantages_BT.detach(), mask_BT, token_count)


def without_first(mask_BT: Tensor, skipped_tokens: int = SKIPPED_TOKENS) -> Tensor:
    """The mask without the first tokens of each answer, wherever in the row it begins."""
    return mask_BT & (mask_BT.cumsum(dim=1) > skipped_tokens)
