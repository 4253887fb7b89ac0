"""Learning an answer as it stands: supervised fine-tuning, and rejection sampling once the answers are chosen."""

import math

import torch
from torch import Tensor

from local_training.losses.masking import check_shapes, mean_over_tokens


def answer_loss(logprobs_BT: Tensor, mask_BT: Tensor, token_count: float | None = None) -> Tensor:
    """Mean negative log-likelihood of the answer tokens, in nats a token; a scalar.

    The mask holds the answers alone: prompts, hidden thoughts and padding are outside. Over the answers chosen by
    `selection` this is rejection-sampling fine-tuning.
    Source: Ouyang et al. 2022, section 3.5 (arXiv:2203.02155); for chosen samples Yuan et al. 2023
    (arXiv:2308.01825).
    """
    check_shapes(mask_BT, logprobs_BT)
    return mean_over_tokens(-logprobs_BT, mask_BT, token_count)


def new_tokens(anchor_BT: Tensor, mask_BT: Tensor, familiar: float) -> Tensor:
    """bool (B, T): the tokens of answers that are new to the anchor, which finds them at most `familiar` likely.

    anchor_BT: log-probabilities of the answers' tokens under the anchor. With `familiar` 1 all of them are new.
    """
    check_shapes(mask_BT, anchor_BT)
    return mask_BT & (anchor_BT <= math.log(familiar))


def novelty_loss(
    logprobs_BT: Tensor, anchor_BT: Tensor, mask_BT: Tensor, familiar: float, token_count: float | None = None
) -> Tensor:
    """Negative log-likelihood of what is new in the answers, and half the square by which the rest moved; a scalar.

    Imitating a token that the anchor would write anyway teaches nothing and sharpens everything; so such tokens are
    kept as likely as they were. token_count: what both sums are divided by; by default the number of new tokens. Where
    `familiar` is 1 this is `answer_loss`.
    """
    new_BT = new_tokens(anchor_BT, mask_BT, familiar)
    count = float(new_BT.sum()) if token_count is None else token_count
    moved_BT = torch.where(mask_BT & ~new_BT, logprobs_BT - anchor_BT, 0.0)
    return answer_loss(logprobs_BT, new_BT, count) + moved_BT.square().sum() / (2 * max(1.0, count))
