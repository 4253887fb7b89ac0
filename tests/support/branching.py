"""Branches of a prompt, a policy to train on them, and the ways to get their gradients. Measures nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.runtime.protocol import Tokens
from local_training.policy import Example, Policy, load_policy
from local_training.replay import LossOfBranch, Plan, accumulate
from tests.support.tiny_policy import stir_adapter

RANK = 8
ADAPTER_SIZE = 0.02
"""Standard deviation of the adapter's numbers."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt and what came after it."""

    prompt: Tokens
    branches: tuple[Tokens, ...]

    @property
    def branch_tokens(self) -> tuple[int, ...]:
        return tuple(map(len, self.branches))


@dataclass(frozen=True, slots=True)
class Way:
    """One that branches can be gone through; without a plan it is plain batching."""

    name: str
    at_once: int
    plan: Plan | None = None

    def go(self, policy: Policy, given: Prompted, loss_of_branch: LossOfBranch) -> None:
        """Add the gradients of all branches."""
        if self.plan:
            accumulate(policy, given.prompt, given.branches, loss_of_branch, plan=self.plan)
            return
        for start in range(0, len(given.branches), self.at_once):
            together = given.branches[start : start + self.at_once]
            logprobs = policy.logprobs([Example(given.prompt, branch) for branch in together])
            shares = [loss_of_branch(start + number, branch_T) for number, branch_T in enumerate(logprobs)]
            torch.autograd.backward(torch.stack(shares).sum())


def load_stirred(base: Path, seed: int = 0) -> Policy:
    """A policy over the GGUF `base`, on the CPU, whose new adapter is random and changes what it says."""
    policy = load_policy(base, rank=RANK, seed=seed, device=torch.device("cpu"))
    stir_adapter(policy, seed + 1, ADAPTER_SIZE)
    return policy


def policy_loss(branch_tokens: Sequence[int]) -> LossOfBranch:
    """A policy gradient with advantages 1, -1, 2, -2 and so on, as a mean over all tokens."""

    def loss(number: int, logprobs_T: torch.Tensor) -> torch.Tensor:
        advantage = (number // 2 + 1) * (1 if number % 2 == 0 else -1)
        return -advantage * logprobs_T.sum() / sum(branch_tokens)

    return loss
