"""What all learners share: what a step gave, and how its gradient is gathered within the memory there is."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import psutil
import torch

from engine.errors import OutOfMemory
from engine.runtime.protocol import Tokens
from local_training.policy import Policy
from local_training.replay import LossOfBranch, Plan, choose_plan
from local_training.runs.events import Activity
from local_training.runs.optimizing import clear_gradients
from local_training.runs.recipe import BatchTable

_LEAST_GRAPH_TOKENS = 32
_GIB = 1 << 30

Result = TypeVar("Result")

Tell = Callable[[Activity, int, int], None]
"""Told what is being done, how many items are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Learned:
    """One step's gradient is in the weights. `figures` are the fields of `StepMetrics` that the learner knows."""

    loss: float
    taken: int
    """Places of the run's order that were used up."""
    trained_tokens: int
    figures: dict[str, Any] = field(default_factory=dict)
    is_barren: bool = False
    """There was nothing to learn from, hence no gradient."""


class Learner(Protocol):
    """One kind of recipe."""

    def learn(self, step: int, start: int) -> Learned:
        """Gather the gradient of step `step`, whose items begin at place `start` of the run's order.

        Raises: Interrupted, OutOfMemory, RuntimeFailed, UsageProblem.
        """
        ...


class MemoryGuard:
    """Makes graphs smaller where memory runs short, and says so."""

    def __init__(self, policy: Policy, table: BatchTable, limit_gib: float, note: Callable[[str], None]) -> None:
        self._policy, self._table, self._note = policy, table, note
        self._limit_bytes = int(limit_gib * _GIB)
        self._graph_tokens = table.graph_tokens
        self._process = psutil.Process(os.getpid())

    def plan(self, prompt: Tokens, branches: Sequence[Tokens]) -> Plan:
        return choose_plan(
            len(prompt),
            [len(branch) for branch in branches],
            short_prompt_tokens=self._table.short_prompt_tokens,
            graph_tokens=self._graph_tokens,
            through_prompt=self._table.through_prompt,
        )

    def gathered(self, gather: Callable[[], Result]) -> Result:
        """`gather`'s result; on running out of memory again from a clean gradient, in graphs half as large.

        Raises: OutOfMemory when the smallest graph does not fit.
        """
        while True:
            clear_gradients(self._policy)
            try:
                return gather()
            except OutOfMemory as error:
                clear_gradients(self._policy)
                if self._graph_tokens <= _LEAST_GRAPH_TOKENS:
                    raise
                self._graph_tokens //= 2
                self._note(f"{error.problem} From now on a graph holds at most {self._graph_tokens} tokens.")
                if torch.cuda.is_available():
                    torch.cuda.empty_cache()

    def check(self) -> None:
        """Raises: OutOfMemory when this process is over the recipe's limit."""
        if self._limit_bytes and self._process.memory_info().rss > self._limit_bytes:
            raise OutOfMemory(
                f"Training takes more than limits.memory_gib ({self._limit_bytes / _GIB:g} GiB).",
                "Raise that limit, shorten the answers, or use batch.checkpointing.",
            )


def guarded(loss_of_branch: LossOfBranch, *checks: Callable[[], None]) -> LossOfBranch:
    """The loss, with `checks` called for every branch between its forward and its backward pass."""

    def loss(number: int, logprobs_T: torch.Tensor) -> torch.Tensor:
        for check in checks:
            check()
        return loss_of_branch(number, logprobs_T)

    return loss


def row(values: Sequence[float] | torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """(1, T) of the type and on the device of `like`, as the losses take a batch of one."""
    return torch.as_tensor(values, dtype=like.dtype, device=like.device)[None]


def everything(logprobs_BT: torch.Tensor) -> torch.Tensor:
    """A mask that leaves nothing out."""
    return torch.ones_like(logprobs_BT, dtype=torch.bool)
