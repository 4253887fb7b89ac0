"""A tiny policy to learn with, what guards its memory, and the gradient it was left with."""

import torch

from engine.runtime.protocol import Tokens
from local_training.policy import Example, Policy
from local_training.runs.learning import MemoryGuard
from local_training.runs.recipe import BatchTable, Recipe
from tests.support.whole_graph import gradient_of


def guard_of(policy: Policy, recipe: Recipe | None = None) -> MemoryGuard:
    return MemoryGuard(policy, recipe.batch if recipe else BatchTable(), 0.0, lambda _: None)


def answered(policy: Policy, prompt: Tokens, answer: Tokens) -> torch.Tensor:
    """Log-probabilities (T) of the answer, alone in its graph, gradient through the whole prompt."""
    (logprobs_T,) = policy.logprobs([Example(prompt, answer)])
    return logprobs_T


def anchored(policy: Policy, prompt: Tokens, answer: Tokens) -> torch.Tensor:
    """The same by the anchor, without gradient."""
    with torch.no_grad(), policy.using("anchor"):
        return answered(policy, prompt, answer)


def gradient_by(policy: Policy, loss: torch.Tensor) -> torch.Tensor:
    """Of a loss from one graph; what was gathered before is forgotten, and nothing is left behind."""
    policy.model.zero_grad()
    torch.autograd.backward(loss)
    gradient = gradient_of(policy)
    policy.model.zero_grad()
    return gradient


def has_no_gradient(policy: Policy) -> bool:
    return all(weight.grad is None for weight in policy.trainable)
