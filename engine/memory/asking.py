"""The model as a proposer of memories: asked between turns, about one message alone, and believed in nothing.

With the prompt that folding has: one that is trained for it serves both.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from engine.errors import ScoringStopped
from engine.memory.folding.asking import ANSWER_TOKENS, writing_prompt
from engine.memory.folding.values import NOTHING
from engine.memory.writing.model_proposals import read_proposals
from engine.memory.writing.proposals import Proposal
from engine.mixture import Mixture
from engine.runtime.protocol import Finished, Request, Runtime, Sampling, Stop


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
        expert = self._mixture.profile.route.default
        harness = replace(self._mixture.harness, thinking=False)
        prompt = writing_prompt(harness, self._runtime, expert, NOTHING, sentences)
        request = Request(prompt, ANSWER_TOKENS, self._mixture.stacks[expert], Sampling(temperature=0.0))
        said = ""
        for piece in self._runtime.generate([request], self._stop):
            said += getattr(piece, "text", "")
            if isinstance(piece, Finished) and piece.reason == "stopped":
                raise ScoringStopped("Stopped before the model had proposed anything.", "It is asked again later.")
        return read_proposals(said)
