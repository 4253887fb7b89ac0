"""Learning an answer as it stands: supervised fine-tuning, and rejection sampling once the answers are chosen."""

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
