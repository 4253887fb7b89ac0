"""Holds a policy to its anchor on everyday requests: a term of every step's gradient. Teaches nothing by itself."""

from collections.abc import Callable, Sequence
from typing import Final

import torch

from local_training.policy import Example, Policy
from local_training.runs.order import take
from local_training.runs.recipe import AnchorTable

_GRAPH_ANSWERS: Final = 4
"""Answers that one graph holds; they are short."""


class Anchoring:
    """KL(anchor || policy) on the anchor's own answers, over the whole vocabulary."""

    def __init__(self, policy: Policy, answers: Sequence[Example], table: AnchorTable, seed: int) -> None:
        self._policy, self._table, self._seed = policy, table, seed
        self._answers = list(enumerate(answers))
        self._anchor: list[torch.Tensor] = []
        with policy.using("anchor"), torch.no_grad():
            for start in range(0, len(answers), _GRAPH_ANSWERS):
                # The head is frozen: hidden states say all that its logits do, in a hundredth of the room.
                self._anchor += policy.answer_hidden(answers[start : start + _GRAPH_ANSWERS])

    def accumulate(self, step: int, check: Callable[[], None]) -> float | None:
        """Add the term's gradient for step `step`; gives the KL in nats a token before it. None where it is off."""
        if not self._answers or self._table.weight == 0:
            return None
        count = min(self._table.batch, len(self._answers))
        chosen = take(self._answers, (step - 1) * count, count, self._seed)
        tokens = sum(len(example.answer) for _, example in chosen)
        total = 0.0
        for start in range(0, count, _GRAPH_ANSWERS):
            check()
            part = chosen[start : start + _GRAPH_ANSWERS]
            anchor_NH = torch.cat([self._anchor[number] for number, _ in part])
            policy_NH = torch.cat(self._policy.answer_hidden([example for _, example in part]))
            divergence = self._policy.kl(anchor_NH, policy_NH).sum() / tokens
            (self._table.weight * divergence).backward()  # type: ignore[no-untyped-call]
            total += float(divergence.detach())
        return total

    def distance(self, check: Callable[[], None]) -> float:
        """KL(anchor || policy) over all answers, in nats a token; 0 where there are none. Without gradient."""
        parts = []
        with torch.no_grad():
            for start in range(0, len(self._answers), _GRAPH_ANSWERS):
                check()
                part = self._answers[start : start + _GRAPH_ANSWERS]
                policy_NH = torch.cat(self._policy.answer_hidden([example for _, example in part]))
                parts.append(self._policy.kl(torch.cat([self._anchor[number] for number, _ in part]), policy_NH))
        return float(torch.cat(parts).mean()) if parts else 0.0
