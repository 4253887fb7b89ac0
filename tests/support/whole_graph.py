"""The gradients a replay is held against: whole sequences in one graph, without any cache. Needs torch."""

from collections.abc import Sequence
from typing import Any

import torch

from engine.runtime.protocol import Tokens
from local_training.policy import Example, Policy
from local_training.replay import LossOfBranch


def whole_graph(
    policy: Policy, prompt: Tokens, branches: Sequence[Tokens], loss_of_branch: LossOfBranch, *, detach_prompt: bool
) -> tuple[list[float], torch.Tensor]:
    """Loss of every branch, and the gradient of their sum.

    A detached prompt sends no gradient back through the keys and values of all its tokens but the last.
    """

    def detach(_: Any, __: Any, output_BTO: torch.Tensor) -> torch.Tensor:
        return torch.cat([output_BTO[:, : len(prompt) - 1].detach(), output_BTO[:, len(prompt) - 1 :]], dim=1)

    projections = [module for name, module in policy.model.named_modules() if name.endswith((".k_proj", ".v_proj"))]
    hooks = [module.register_forward_hook(detach) for module in projections if detach_prompt]
    try:
        policy.model.zero_grad()
        logprobs = policy.logprobs([Example(prompt, branch) for branch in branches])
        losses = [loss_of_branch(number, branch_T) for number, branch_T in enumerate(logprobs)]
        torch.autograd.backward(torch.stack(losses).sum())
    finally:
        for hook in hooks:
            hook.remove()
    return [float(loss.detach()) for loss in losses], gradient_of(policy)


def gradient_of(policy: Policy) -> torch.Tensor:
    """A copy of the gradients of all trainable weights in one row."""
    return torch.cat([torch.zeros_like(w).flatten() if w.grad is None else w.grad.flatten() for w in policy.trainable])


def cosine(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(one.double(), other.double(), dim=0))


def relative_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).norm() / expected.norm())
