"""What a run minimises, each part a small pure function that names its source.

Functions take log-probabilities of the tokens that were sampled, in nats, float32 or float64, never logits, and a mask
that says which positions count; whatever stands outside the mask, NaN and infinity included, reaches neither value nor
gradient. A mask with nothing in it gives 0 with gradient 0. Every mean is a sum over a divisor that the caller may
give, so that micro-batches add up to the mean over the whole batch. Knows no model, no tokenizer and no optimizer.

Shapes are in the names: B examples, T tokens, and 1 where a value is shared by all tokens of its example.
"""

from local_training.losses.advantages import (
    dr_grpo_advantages,
    grpo_advantages,
    segment_advantages,
    with_advantages,
)
from local_training.losses.anchor import kl_to_anchor
from local_training.losses.hindsight import hindsight_advantages, hindsight_loss, without_first
from local_training.losses.importance import banded, importance_ratio, truncated
from local_training.losses.overlong import overlong_penalty
from local_training.losses.policy import clipped_policy_loss
from local_training.losses.preferences import (
    apo_zero_loss,
    dpo_loss,
    kto_loss,
    kto_reference_point,
    log_ratio_to_anchor,
)
from local_training.losses.resampling import ResamplingPlan, is_informative, plan_resampling
from local_training.losses.selection import best_of, rewarded
from local_training.losses.sequence_masks import finished_mask, on_policy_mask, sequence_ratio_mask
from local_training.losses.supervised import answer_loss, new_tokens, novelty_loss

__all__ = [
    "ResamplingPlan",
    "answer_loss",
    "apo_zero_loss",
    "banded",
    "best_of",
    "clipped_policy_loss",
    "dpo_loss",
    "dr_grpo_advantages",
    "finished_mask",
    "grpo_advantages",
    "hindsight_advantages",
    "hindsight_loss",
    "importance_ratio",
    "is_informative",
    "kl_to_anchor",
    "kto_loss",
    "kto_reference_point",
    "log_ratio_to_anchor",
    "new_tokens",
    "novelty_loss",
    "on_policy_mask",
    "overlong_penalty",
    "plan_resampling",
    "rewarded",
    "segment_advantages",
    "sequence_ratio_mask",
    "truncated",
    "with_advantages",
    "without_first",
]
