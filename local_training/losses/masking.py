"""Sums and ratios under a mask: what every loss of this package is built from. Knows no loss."""

from typing import Final

import torch
from torch import Tensor

LOG_RATIO_LIMIT: Final = 20.0
"""Nats. exp(20) is still an ordinary float32; beyond it a ratio keeps its value and has no gradient."""


def mean_over_tokens(values_BT: Tensor, mask_BT: Tensor, token_count: float | None = None) -> Tensor:
    """The sum under the mask over `token_count`, or over the tokens of the mask; 0 when there are none.

    `token_count` is that of the whole batch of an optimizer step: the results of its micro-batches then add up to the
    mean over all its tokens, however they were cut (DAPO), or to Dr. GRPO's constant: examples times longest answer.
    """
    count = float(mask_BT.sum()) if token_count is None else token_count
    return torch.where(mask_BT, values_BT, 0.0).sum() / max(count, 1.0)


def mean_over_examples(values_B: Tensor, example_count: float | None = None) -> Tensor:
    """The sum over `example_count`, or over the number of values; 0 when there are none."""
    return values_B.sum() / max(values_B.shape[0] if example_count is None else example_count, 1.0)


def log_ratio_BT(numerator_BT: Tensor, denominator_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """ln(numerator/denominator) from log-probabilities, limited to what exp() can take; 0 outside the mask."""
    difference_BT = torch.where(mask_BT, numerator_BT - denominator_BT, 0.0)
    return difference_BT.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)


def check_shapes(mask_BT: Tensor, *logprobs_BT: Tensor) -> None:
    """Refuse what would broadcast or round silently.

    Raises: ValueError when the mask is not a boolean (B, T), or log-probabilities are not float32 or float64 of that
    shape.
    """
    if mask_BT.dtype != torch.bool or mask_BT.ndim != 2:
        raise ValueError(f"a mask is boolean and (B, T), not {mask_BT.dtype} {tuple(mask_BT.shape)}")
    for tensor_BT in logprobs_BT:
        if tensor_BT.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"log-probabilities are float32 or float64, not {tensor_BT.dtype}")
        if tensor_BT.shape != mask_BT.shape:
            raise ValueError(
                f"log-probabilities of shape {tuple(tensor_BT.shape)} do not fit a mask of {tuple(mask_BT.shape)}"
            )


def check_per_token(values_BT: Tensor, mask_BT: Tensor, what: str) -> None:
    """Raises: ValueError unless `values_BT` is (B, T) or (B, 1); a plain (B,) would broadcast along tokens."""
    examples, tokens = mask_BT.shape
    if tuple(values_BT.shape) not in ((examples, tokens), (examples, 1)):
        raise ValueError(f"{what} are ({examples}, {tokens}) or ({examples}, 1), not {tuple(values_BT.shape)}")
