"""Guess tokens ahead with the base's own block, and check all guesses in one pass of the base.

Every token is drawn by the request's own sampler from the base's own logits; a guess only saves a pass when it is what
the sampler draws anyway. So answers are distributed exactly as without guessing. Adapters work on the base and not on
the block: they lower the share of right guesses and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.errors import RuntimeFailed
from engine.runtime.protocol import WHERE_IT_PAYS, LoadPlan
from engine.runtime.views import View

if TYPE_CHECKING:  # the rules below are for whoever plans, without llama.cpp
    from engine.runtime.native import Native

USUAL_DRAFT_TOKENS: Final = 2
"""Each guess more is right less often, and on a hybrid base costs every view one recurrent state more."""

MOST_DRAFT_TOKENS: Final = 16

_ARCHITECTURES: Final = frozenset({"qwen35", "qwen35moe"})
"""Those whose block llama.cpp runs on its own and whose state it can take back."""


def can_draft(architecture: str, nextn_layers: int) -> bool:
    """Whether a base of this kind carries a block that can guess; llama.cpp runs one with a single layer only."""
    return architecture in _ARCHITECTURES and nextn_layers == 1


def wants_drafting(plan: LoadPlan, *, can_draft: bool, has_gpu: bool) -> bool:
    """Whether guessing pays: only where all layers are on a GPU, for there a pass over few tokens costs as one."""
    return can_draft and has_gpu and plan.gpu_layers < 0 and not plan.tensor_overrides


def draft_tokens(plan: LoadPlan, *, can_draft: bool, has_gpu: bool) -> int:
    """How many tokens to guess per step: what the plan says, or what pays where it leaves that open."""
    if plan.draft_tokens != WHERE_IT_PAYS:
        return plan.draft_tokens
    return USUAL_DRAFT_TOKENS if wants_drafting(plan, can_draft=can_draft, has_gpu=has_gpu) else 0


@dataclass(frozen=True, slots=True)
class DraftCounts:
    """Tokens guessed since the base was loaded, and those of them that were right."""

    drafted: int = 0
    accepted: int = 0


class Drafter:
    """Guesses for one view at a time, and keeps base and block in step with what was kept."""

    def __init__(self, native: "Native") -> None:
        self._native = native
        self.counts = DraftCounts()

    @property
    def is_on(self) -> bool:
        return self._native.mtp is not None

    def follow(self, view: View, tokens: Sequence[int], start: int) -> None:
        """To be called after each batch of the base that read `tokens` of `view` from `start` on, and nothing else."""
        if self._native.mtp is not None:
            self._native.mtp.follow(view.sequence, tuple(tokens), start)

    def draft(self, view: View, pending: int, room: int) -> list[int]:
        """Guess what follows `pending`, the token about to be decoded: at most `room` tokens, perhaps none."""
        if self._native.mtp is None:
            return []
        count = min(room, self._native.plan.draft_tokens)
        return self._native.mtp.draft(view.sequence, pending, count)

    def keep(self, view: View, start: int, decoded: int) -> None:
        """Of `decoded` tokens that the base read from `start` on, as its last batch, only those in `view` count.

        Raises: RuntimeFailed when the base cannot take the others back.
        """
        mtp = self._native.mtp
        if mtp is None:
            return
        kept = len(view.tokens) - start
        states = mtp.states(decoded)
        if kept < decoded and not self._native.take_back(view.sequence, len(view.tokens)):
            raise RuntimeFailed("The base could not take back tokens drafted ahead.", "Load it without draft tokens.")
        mtp.note(view.sequence, tuple(view.tokens[start:]), start, states[:kept])
        self.counts = DraftCounts(self.counts.drafted + decoded - 1, self.counts.accepted + kept - 1)
