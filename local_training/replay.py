"""Gradients of many branches of one prompt in the memory of one: read the prompt once, replay the branches.

The prompt's keys and values are computed once without gradient; every branch then runs on them, forward and backward,
and its gradient is added to `.grad`. They belong to the weights they were computed with, so every call computes them
anew: call once per prompt and optimizer step. The last prompt token is read with each branch, because it predicts the
branch's first token; what is left out is the gradient that flows into the earlier prompt tokens. Short prompts go
through in one graph with all branches, which is quicker; both ways give the same gradients. How much is left out was
measured on the starter: at prompts of 30 to 512 tokens the cosine to the gradient through the whole prompt is 0.65 to
0.72, so where that fits into memory (`through_prompt`) it is the truer one. The prompt is then packed with all its
branches into one sequence in which no branch sees another, so it is still read only once: the whole gradient for the
price of a replay in one graph.

Works on attention layers that see everything. A sliding window or a recurrent state is refused: transformers cannot
continue a recurrent state by several tokens with gradient. Knows no loss: the caller gives one per branch.
Source: LongStraw (arXiv 2607.14952), for the idea of replaying responses on a stop-gradient prompt.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import torch
from transformers import Cache, DynamicCache
from transformers.cache_utils import DynamicLayer

from engine.errors import ModelProblem, OutOfMemory, UsageProblem
from engine.runtime.protocol import Tokens
from local_training.policy import Policy, pad

LossOfBranch = Callable[[int, torch.Tensor], torch.Tensor]
"""From a branch's number and the log-probabilities (T) of its tokens to its share of the loss, a scalar.

Shares are added up, so it divides by whatever the whole batch is divided by. An exception ends the call."""

SHORT_PROMPT_TOKENS: Final = 1024
GRAPH_TOKENS: Final = 2048
"""Padded branch tokens that one graph of a short prompt may hold."""
_CAPTURE_TOKENS: Final = 2048
"""Prompt tokens read in one pass without gradient."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a prompt's branches are gone through."""

    at_once: int
    """Branches in one graph; 1 is the replay that needs least memory."""
    through_prompt: bool = False
    """Let the gradient flow through the whole prompt, which is then read once per graph, with gradient."""


@dataclass(frozen=True, slots=True)
class Accumulated:
    """What one call has added. `logprobs` are those of every branch's tokens, in nats, for the mismatch figures."""

    losses: tuple[float, ...]
    logprobs: tuple[tuple[float, ...], ...]
    plan: Plan

    @property
    def loss(self) -> float:
        return sum(self.losses)


def choose_plan(
    prompt_tokens: int,
    branch_tokens: Sequence[int],
    *,
    short_prompt_tokens: int = SHORT_PROMPT_TOKENS,
    graph_tokens: int = GRAPH_TOKENS,
    through_prompt: bool = False,
) -> Plan:
    """Replay one by one on a long prompt; on a short one, as many branches together as `graph_tokens` allows.

    through_prompt: on short prompts only, let the gradient flow through the prompt.
    """
    if prompt_tokens > short_prompt_tokens or not branch_tokens:
        return Plan(1)
    room = graph_tokens - (prompt_tokens if through_prompt else 0)
    return Plan(max(1, min(len(branch_tokens), room // max(branch_tokens))), through_prompt)


def accumulate(
    policy: Policy,
    prompt: Tokens,
    branches: Sequence[Tokens],
    loss_of_branch: LossOfBranch,
    *,
    plan: Plan | None = None,
) -> Accumulated:
    """Add the gradient of the sum of all branches' losses to `.grad` of the policy's trainable weights.

    After an error the gradients are incomplete and have to be set to zero.

    Raises: UsageProblem (empty prompt or branch), ModelProblem (layers that cannot be replayed), OutOfMemory.
    """
    _check(prompt, branches)
    plan = plan or choose_plan(len(prompt), [len(branch) for branch in branches])
    losses: list[float] = []
    logprobs: list[tuple[float, ...]] = []
    with _memory_named(plan, prompt):
        captured = None if plan.through_prompt else _capture(policy, prompt)
        for start in range(0, len(branches), plan.at_once):
            together = _graph(policy, prompt, branches[start : start + plan.at_once], captured)
            shares = [loss_of_branch(start + number, branch_T) for number, branch_T in enumerate(together)]
            total = torch.stack(shares).sum()
            if total.requires_grad:  # a branch without advantage may not depend on the weights at all
                torch.autograd.backward(total)
            losses += [float(share.detach()) for share in shares]
            logprobs += [tuple(branch_T.detach().tolist()) for branch_T in together]
    return Accumulated(tuple(losses), tuple(logprobs), plan)


def score(
    policy: Policy, prompt: Tokens, branches: Sequence[Tokens], *, plan: Plan | None = None
) -> tuple[torch.Tensor, ...]:
    """Log-probabilities (T) of every branch's tokens without gradient, under the adapters that are active.

    Raises: as `accumulate`.
    """
    _check(prompt, branches)
    plan = plan or choose_plan(len(prompt), [len(branch) for branch in branches])
    result: list[torch.Tensor] = []
    with torch.no_grad(), _memory_named(plan, prompt):
        captured = _capture(policy, prompt)
        for start in range(0, len(branches), plan.at_once):
            result += _graph(policy, prompt, branches[start : start + plan.at_once], captured)
    return tuple(result)


_AttentionLayer: Any = DynamicLayer


class _CapturedLayer(_AttentionLayer):  # type: ignore[misc]
    """Keys and values of the prompt at one layer. Reading a branch does not change them.

    Being pure it may run twice, so that blocks can be checkpointed, and it never holds on to a graph.
    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        super().__init__()
        self.keys, self.values = keys, values
        self.device, self.is_initialized = keys.device, True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        shape = (key_states.shape[0], -1, -1, -1)
        return (
            torch.cat([self.keys.expand(shape), key_states], dim=-2),
            torch.cat([self.values.expand(shape), value_states], dim=-2),
        )


def _capture(policy: Policy, prompt: Tokens) -> Cache | None:
    """Everything before the last prompt token; None when there is nothing.

    Raises: ModelProblem.
    """
    if len(prompt) == 1:
        return None
    _check_layers(policy)
    cache: Any = DynamicCache(config=policy.model.config)
    for ids_BT in torch.split(torch.tensor([prompt[:-1]], device=policy.device), _CAPTURE_TOKENS, dim=1):
        with torch.no_grad():
            policy.hidden(ids_BT, cache)
    return Cache(layers=[_CapturedLayer(layer.keys, layer.values) for layer in cache.layers])


def _graph(
    policy: Policy, prompt: Tokens, branches: Sequence[Tokens], captured: Cache | None
) -> tuple[torch.Tensor, ...]:
    """Log-probabilities (T) of the branches' tokens, in one padded batch."""
    if captured is None:
        return _packed(policy, prompt, branches)
    ids_BT = pad([(prompt[-1], *branch[:-1]) for branch in branches], policy.device)
    hidden_BTH = policy.hidden(ids_BT, captured)
    rows_TH = [hidden_BTH[row, : len(branch)] for row, branch in enumerate(branches)]
    return policy.answer_logprobs(rows_TH, branches)


def _packed(policy: Policy, prompt: Tokens, branches: Sequence[Tokens]) -> tuple[torch.Tensor, ...]:
    """The same from one sequence: the prompt, then every branch as if it followed the prompt directly."""
    _check_layers(policy)
    # The last token of a branch predicts nothing that is scored; the first is predicted by the prompt's last.
    inner = [branch[:-1] for branch in branches]
    ids_T = [*prompt, *(token for tokens in inner for token in tokens)]
    read = len(prompt)
    positions_T = [*range(read), *(read + place for tokens in inner for place in range(len(tokens)))]
    owners_T = [0] * read + [number for number, tokens in enumerate(inner, start=1) for _ in tokens]
    device = policy.device
    hidden_TH = policy.hidden(
        torch.tensor([ids_T], device=device),
        positions_BT=torch.tensor([positions_T], device=device),
        mask_B1TT=_branch_mask(torch.tensor(owners_T, device=device), policy.number_type),
    )[0]
    parts = torch.split(hidden_TH[read:], [len(tokens) for tokens in inner])
    return policy.answer_logprobs([torch.cat([hidden_TH[read - 1 : read], part]) for part in parts], branches)


def _branch_mask(owners_T: torch.Tensor, number_type: torch.dtype) -> torch.Tensor:
    """(1, 1, T, T) to add to attention: 0 where a token may look, hugely negative where not.

    owners_T: 0 for tokens of the prompt, which all may see, else the number of the branch, which only sees itself.
    """
    order_T = torch.arange(len(owners_T), device=owners_T.device)
    is_visible_TT = (owners_T[None, :] == 0) | (owners_T[None, :] == owners_T[:, None])
    is_visible_TT &= order_T[None, :] <= order_T[:, None]
    mask_TT = torch.zeros(is_visible_TT.shape, dtype=number_type, device=owners_T.device)
    return mask_TT.masked_fill(~is_visible_TT, torch.finfo(number_type).min)[None, None]


def _check_layers(policy: Policy) -> None:
    """Raises: ModelProblem."""
    for layer in DynamicCache(config=policy.model.config).layers:
        if type(layer) is not DynamicLayer:
            raise ModelProblem(
                "This base has layers with a sliding window or a recurrent state, which cannot be trained here.",
                "Choose another base for learning.",
            )


@contextmanager
def _memory_named(plan: Plan, prompt: Tokens) -> Iterator[None]:
    """Raises: OutOfMemory, where the block found none, with what did not fit."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not _tells_of_memory(error):
            raise
        raise OutOfMemory(
            f"{plan.at_once} branches after {len(prompt)} tokens do not fit into memory.",
            "Take fewer branches at once, shorter answers, or checkpointing."
            if plan.at_once > 1
            else "Use checkpointing, or leave this prompt out.",
        ) from error


def _tells_of_memory(error: Exception) -> bool:
    """The graphics card is full, or the system gave torch no more on the CPU, which has no error type of its own."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)


def _check(prompt: Tokens, branches: Sequence[Tokens]) -> None:
    if not prompt:
        raise UsageProblem("There is no prompt to answer.", "Give at least the token that begins a text.")
    if any(not branch for branch in branches):
        raise UsageProblem("A branch has no tokens.", "Leave it out: there is nothing to credit.")
