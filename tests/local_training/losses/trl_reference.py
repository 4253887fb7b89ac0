"""The losses that TRL has, computed by TRL's own code on the same log-probabilities.

Its losses are methods of trainers that own a model; they are called here on a stand-in that has just what they read,
and whose model answers with the given log-probabilities. That reaches into the library, so it holds for one version.
"""

import importlib.metadata
from collections import defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import torch

from tests.local_training.losses.cases import GROUP
from tests.local_training.losses.points import EXAMPLES, TOKENS, Tensors

VERSION: Final = "1.16"
PADDING: Final = -1.0
"""TRL multiplies by its masks, so what lies outside them must be finite."""

TrlLoss = Callable[[torch.Tensor, Tensors], torch.Tensor]


def why_not() -> str:
    """Why TRL cannot be compared with; empty when it can."""
    try:
        found = importlib.metadata.version("trl")
    except importlib.metadata.PackageNotFoundError:
        return "TRL is not installed"
    return "" if found.startswith(f"{VERSION}.") else f"TRL is {found}, the comparison was written for {VERSION}"


def trl_losses() -> dict[str, TrlLoss]:
    """By the name of the case each belongs to."""
    return {
        "GRPO advantages": lambda policy, t: grpo(policy, t, group_advantages(t)),
        "Dr. GRPO advantages, constant divisor": lambda policy, t: grpo(
            policy, t, centred_advantages(t), loss_type="dr_grpo"
        ),
        "truncated importance sampling": lambda policy, t: grpo(
            policy, t, torch.tensor(t.rewards, dtype=t.dtype) - 0.5, weights=ratio(t).clamp(max=2.0)
        ),
        "off-policy sequence mask": lambda policy, t: grpo(
            policy, t, torch.tensor(t.rewards, dtype=t.dtype) - 0.5, off_policy_limit=0.1
        ),
        "KL (k3) to the anchor": lambda policy, t: grpo(policy, t, torch.zeros(EXAMPLES, dtype=t.dtype), beta=1.0),
        "DPO": lambda policy, t: dpo(policy, t, "sigmoid", 0.1),
        "DPO, length-normalised": lambda policy, t: dpo(policy, t, "sigmoid_norm", 5.0),
        "KTO": lambda policy, t: kto(policy, t, "kto", 1.3),
        "APO-zero": lambda policy, t: kto(policy, t, "apo_zero_unpaired", 1.0),
        "hindsight self-distillation, logged": hindsight,
    }


def ratio(t: Tensors) -> torch.Tensor:
    return (t.old - t.sampler).exp()


def group_advantages(t: Tensors) -> torch.Tensor:
    """As its trainer does it: by the deviation of a sample."""
    groups = torch.tensor(t.rewards, dtype=t.dtype).view(-1, GROUP)
    return ((groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-6)).flatten()


def centred_advantages(t: Tensors) -> torch.Tensor:
    groups = torch.tensor(t.rewards, dtype=t.dtype).view(-1, GROUP)
    return (groups - groups.mean(1, keepdim=True)).flatten()


def grpo(
    policy: torch.Tensor,
    t: Tensors,
    advantages: torch.Tensor,
    *,
    loss_type: str = "dapo",
    weights: torch.Tensor | None = None,
    off_policy_limit: float | None = None,
    beta: float = 0.0,
) -> torch.Tensor:
    from trl.trainer.grpo_trainer import GRPOTrainer

    trainer = stand_in(
        _get_per_token_logps_and_entropies=lambda *_, **__: (policy, torch.zeros_like(policy), None),
        get_off_policy_mask=GRPOTrainer.get_off_policy_mask,
        args=SimpleNamespace(use_bias_correction_kl=False, delta=None, steps_per_generation=1),
        loss_type=loss_type,
        beta=beta,
        epsilon_low=0.2,
        epsilon_high=0.28,
        importance_sampling_level="token",
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=off_policy_limit,
        use_vllm=weights is not None,
        vllm_importance_sampling_correction=True,
        current_gradient_accumulation_steps=1,
        max_completion_length=TOKENS,
        _entropy_bonus_enabled=False,
    )
    mask = t.mask.to(t.dtype)
    prompt = torch.ones(EXAMPLES, 1, dtype=torch.long)
    inputs = {
        "prompt_ids": prompt,
        "prompt_mask": prompt,
        "completion_ids": torch.ones_like(t.mask, dtype=torch.long),
        "completion_mask": mask,
        "advantages": advantages,
        "old_per_token_logps": t.old,
        "sampling_per_token_logps": t.sampler,
        "ref_per_token_logps": t.anchor,
        "importance_sampling_ratio": weights,
        "num_items_in_batch": mask.sum(),
    }
    return GRPOTrainer._compute_loss(trainer, None, inputs)


def dpo(policy: torch.Tensor, t: Tensors, loss_type: str, beta: float) -> torch.Tensor:
    """Rows of ours alternate; there the chosen come first."""
    from trl.trainer.dpo_trainer import DPOTrainer

    order = torch.cat([torch.arange(0, EXAMPLES, 2), torch.arange(1, EXAMPLES, 2)])
    anchor_chosen, anchor_rejected = (t.anchor * t.mask).sum(1)[order].chunk(2)
    trainer = stand_in(
        ld_alpha=None,
        precompute_ref_logps=True,
        f_divergence_type="reverse_kl",
        loss_types=[loss_type],
        loss_weights=[1.0],
        beta=beta,
        use_weighting=False,
    )
    inputs = language_batch(t.mask[order]) | {"ref_chosen_logps": anchor_chosen, "ref_rejected_logps": anchor_rejected}
    return DPOTrainer._compute_loss(trainer, model((policy * t.mask)[order]), inputs, False)


def kto(policy: torch.Tensor, t: Tensors, loss_type: str, bad_weight: float) -> torch.Tensor:
    from trl.trainer.kto_trainer import KTOTrainer

    trainer = stand_in(
        _compute_kl_logps=lambda *_: (t.hindsight * t.mask).sum(1),
        calculate_KL=loss_type == "kto",
        precompute_ref_logps=True,
        loss_type=loss_type,
        beta=0.1,
        desirable_weight=1.0,
        undesirable_weight=bad_weight,
    )
    inputs = language_batch(t.mask) | {
        "label": t.good,
        "ref_logps": (t.anchor * t.mask).sum(1),
        "ref_KL_logps": (t.sampler * t.mask).sum(1),
    }
    return KTOTrainer._compute_loss(trainer, model(policy * t.mask), inputs, False)


def hindsight(policy: torch.Tensor, t: Tensors) -> torch.Tensor:
    """It takes logits: a vocabulary of two tokens, of which the first was said."""
    from trl.experimental.sdpo.loss_utils import compute_sampled_token_self_distillation_loss

    def logits(logprobs: torch.Tensor) -> torch.Tensor:
        return torch.stack([logprobs, torch.log1p(-logprobs.exp())], dim=-1)

    said = torch.zeros_like(t.mask, dtype=torch.long)
    losses = compute_sampled_token_self_distillation_loss(
        logits(policy), logits(t.hindsight), said, distillation_alpha=1.0
    )
    mask = t.mask & (torch.arange(TOKENS) >= 2)
    return (losses * mask).sum() / mask.sum()


# Stand-ins


def by_itself(value: Any, **_: Any) -> Any:
    """Gathering or reducing over one process."""
    return value


def stand_in(**needed: Any) -> SimpleNamespace:
    """A trainer of one process without a model."""
    accelerator = SimpleNamespace(
        num_processes=1, device=torch.device("cpu"), reduce=by_itself, gather=by_itself, gather_for_metrics=by_itself
    )
    return SimpleNamespace(
        accelerator=accelerator,
        model=SimpleNamespace(training=True),
        aux_loss_enabled=False,
        _metrics={"train": defaultdict(list)},
        _total_train_tokens=0,
        _tp_size=1,
        **needed,
    )


def model(logprobs: torch.Tensor) -> Callable[..., SimpleNamespace]:
    """Answers every batch with these log-probabilities, (B, T)."""
    unused = torch.zeros_like(logprobs)
    outputs = SimpleNamespace(log_probs=logprobs, entropy=unused, mean_logits=unused, is_top1=unused.bool())

    def answer(**_: Any) -> SimpleNamespace:
        return outputs

    return answer


def language_batch(mask: torch.Tensor) -> dict[str, torch.Tensor]:
    """Token ids and masks of a prompt of one token before each answer."""
    ids = torch.ones(mask.shape[0], TOKENS + 1, dtype=torch.long)
    answers = torch.cat([torch.zeros(mask.shape[0], 1, dtype=torch.long), mask.long()], dim=1)
    return {"input_ids": ids, "attention_mask": ids, "completion_mask": answers}
