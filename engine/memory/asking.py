"""The model as a proposer of memories: asked between turns, about one message alone, and believed in nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from engine.assets import asset_path
from engine.errors import ScoringStopped
from engine.harness.prompt import PromptState, build, head
from engine.memory.writing.model_proposals import read_proposals
from engine.memory.writing.proposals import Proposal
from engine.mixture import Mixture
from engine.runtime.protocol import Finished, Request, Runtime, Sampling, Stop

_MOST_TOKENS: Final = 384
"""Of the answer: eight memories with their evidence."""


class ModelProposer:
    """See `engine.memory.writing.proposing.Proposer`."""

    def __init__(self, runtime: Runtime, mixture: Mixture, stop: Stop) -> None:
        self._runtime = runtime
        self._mixture = mixture
        self._stop = stop

    def propose(self, sentences: Sequence[str], today: date) -> Sequence[Proposal]:
        """What the default expert, as it came, makes of the user's own sentences.

        Raises: ScoringStopped, ContextOverflow, RuntimeFailed.
        """
        asked = asset_path("memory", "proposing.md").read_text(encoding="utf-8").strip()
        expert = self._mixture.profile.route.default
        harness = replace(self._mixture.harness, thinking=False)
        state = PromptState(
            expert,
            head(harness, self._runtime, expert, with_tools=False),
            (),
            (),
            "\n\n".join((asked, "\n".join(sentences))),
        )
        prompt = build(state, harness, self._runtime, with_tools=False)
        request = Request(prompt.tokens, _MOST_TOKENS, self._mixture.stacks[expert], Sampling(temperature=0.0))
        said = ""
        for piece in self._runtime.generate([request], self._stop):
            said += getattr(piece, "text", "")
            if isinstance(piece, Finished) and piece.reason == "stopped":
                raise ScoringStopped("Stopped before the model had proposed anything.", "It is asked again later.")
        return read_proposals(said)
