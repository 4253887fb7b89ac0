"""One optimizer step: rate by schedule, gradient shortened, nothing that is no number let through."""

import math

import torch

from engine.errors import RuntimeFailed
from local_training.policy import Policy
from local_training.runs.recipe import OptimizerTable


def make_optimizer(policy: Policy, table: OptimizerTable) -> torch.optim.Optimizer:
    return torch.optim.AdamW(
        policy.trainable, lr=table.rate, betas=(table.beta1, table.beta2), weight_decay=table.weight_decay
    )


def rate_at(step: int, steps: int, table: OptimizerTable) -> float:
    """Of step 1 to `steps`: up in a line over the warm-up, then constant, or down in a line that ends after `steps`."""
    if step <= table.warmup_steps:
        return table.rate * step / table.warmup_steps
    if table.schedule == "constant":
        return table.rate
    return table.rate * (steps - step + 1) / max(1, steps - table.warmup_steps)


def clear_gradients(policy: Policy) -> None:
    for weight in policy.trainable:
        weight.grad = None


def apply_gradients(policy: Policy, optimizer: torch.optim.Optimizer, rate: float, clip_norm: float) -> float:
    """Change the weights; gives the norm of the gradient before it was shortened. No gradient at all changes nothing.

    Raises: RuntimeFailed when the gradient or a weight is no number; the last checkpoint is whole then.
    """
    weights = [weight for weight in policy.trainable if weight.grad is not None]
    if not weights:
        return 0.0
    norm = float(torch.nn.utils.clip_grad_norm_(weights, clip_norm))
    if not math.isfinite(norm):
        raise _diverged("gradient")
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    clear_gradients(policy)
    if not all(bool(weight.isfinite().all()) for weight in weights):
        raise _diverged("adapter")
    return norm


def _diverged(what: str) -> RuntimeFailed:
    return RuntimeFailed(
        f"The {what} is no longer made of numbers: the run has diverged.",
        "Lower `optimizer.rate` or `optimizer.clip_norm` and begin a new run; the last checkpoint is untouched.",
    )
