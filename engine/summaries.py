"""What other experts are told about a turn: one or two sentences, written by the expert that answered it.

Never shown to the user. Written when another expert first needs it, or earlier when nobody waits.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from engine.harness.prompt import summary_prompt
from engine.mixture import Mixture
from engine.routing import timeline
from engine.runtime.protocol import Finished, Prefilled, Request, Runtime, Stop, Token, Tokens
from engine.store import Store
from engine.values import TurnRecord
from engine.views import ViewBuilder

_WORTH: Final = 1.5
"""An answer up to this many times the length of a summary is its own summary: writing one would cost more."""


def longest_summary_tokens(mixture: Mixture) -> int:
    return int(mixture.profile.summary_tokens * _WORTH)


class Summaries:
    def __init__(
        self, runtime: Runtime, store: Store, mixture: Mixture, views: ViewBuilder, new_seed: Callable[[], int]
    ) -> None:
        self._runtime = runtime
        self._store = store
        self._mixture = mixture
        self._views = views
        self._new_seed = new_seed

    def write(self, turn: TurnRecord, stop: Stop) -> Iterator[Prefilled | Finished]:
        """Make and store the turn's summary; yields progress, then usage, where the model had to be asked.

        Stopped, it stores nothing.
        """
        expert = timeline.expert_of(turn)
        if expert is None or expert not in self._mixture.stacks:
            self._store.save_summary(turn.turn_id, timeline.shorten(turn.answer_text), expert or "", None)
            return
        if len(self._runtime.encode(turn.answer_text)) <= longest_summary_tokens(self._mixture):
            self._store.save_summary(turn.turn_id, " ".join(turn.answer_text.split()), expert, None)
            return
        prompt = summary_prompt(self._mixture.harness, self._runtime, self._views.tokens_through(turn))
        if len(prompt) + self._mixture.profile.summary_tokens >= self._mixture.profile.context_tokens:
            self._store.save_summary(turn.turn_id, timeline.shorten(turn.answer_text), expert, None)
            return
        yield from self._ask(turn, expert, prompt, stop)

    def _ask(self, turn: TurnRecord, expert: str, prompt: Tokens, stop: Stop) -> Iterator[Prefilled | Finished]:
        profile, seed = self._mixture.profile, self._new_seed()
        sampling = replace(profile.sampling, seed=seed)
        # Without a cache key: it branches from the expert's view and leaves that as it is.
        request = Request(prompt, profile.summary_tokens, self._mixture.stack(expert), sampling)
        text, completion, reason = "", [], ""
        for piece in self._runtime.generate([request], stop):
            match piece:
                case Token(token=token, text=more):
                    completion.append(token)
                    text += more
                case Finished(reason=reason, text=more):
                    text += more
                    yield piece
                case Prefilled():
                    yield piece
        if reason != "stopped":
            trace = self._mixture.trace(turn.turn_id, "summary", expert, prompt, tuple(completion), seed)
            summary = " ".join(text.split()) or timeline.shorten(turn.answer_text)
            self._store.save_summary(turn.turn_id, summary, expert, trace)
