"""Fold a view before its next turn would have to, while nobody waits, so that the model can take part.

What it proposes is verified line by line and stands beside what the rules find; without it, as when a turn comes first
or the profile does not ask, the rules write alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from engine.memory.folding.asking import ANSWER_TOKENS, proposals_by_turn, sentences_of, writing_prompt
from engine.memory.writing.proposals import Proposal
from engine.mixture import Mixture
from engine.routing import timeline
from engine.runtime.protocol import Finished, Request, Runtime, Stop, Token
from engine.values import TurnRecord
from engine.views import DueFold, ViewBuilder


class Folding:
    def __init__(self, runtime: Runtime, mixture: Mixture, views: ViewBuilder, new_seed: Callable[[], int]) -> None:
        self._runtime = runtime
        self._mixture = mixture
        self._views = views
        self._new_seed = new_seed

    def ahead(self, conversation_id: str, path: Sequence[TurnRecord], stop: Stop) -> None:
        """Fold the view that answered last, if it is nearly full. Stopped, it leaves the view as it is.

        Raises: AgentError.
        """
        expert = timeline.current_expert(path)
        if not self._mixture.profile.writes_memories or expert is None or expert not in self._mixture.stacks:
            return
        due = self._views.due_fold(conversation_id, path, expert)
        if due is None:
            return
        proposals = self._proposals(due, expert, stop)
        if proposals is not None:
            self._views.fold(due, proposals)

    def _proposals(self, due: DueFold, expert: str, stop: Stop) -> Mapping[str, Sequence[Proposal]] | None:
        """By turn; None where the model was stopped."""
        sentences = [sentence for turn in due.segment for sentence in sentences_of(turn)]
        prompt = writing_prompt(self._mixture.harness, self._runtime, expert, due.before, sentences)
        if not sentences or len(prompt) + ANSWER_TOKENS >= self._mixture.profile.context_tokens:
            return {}
        sampling = replace(self._mixture.profile.sampling, seed=self._new_seed())
        # Without a cache key: it leaves the expert's view as it is.
        request = Request(prompt, ANSWER_TOKENS, self._mixture.stack(expert), sampling)
        text, reason = "", ""
        for piece in self._runtime.generate([request], stop):
            if isinstance(piece, Token | Finished):
                text += piece.text
            if isinstance(piece, Finished):
                reason = piece.reason
        return None if reason == "stopped" else proposals_by_turn(text, due.segment)
