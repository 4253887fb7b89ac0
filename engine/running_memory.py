"""The running memory of a conversation, from what is stored: what stands for the turns that a view leaves out.

Stands between the store and the pure rules of `engine.memory.folding`. All views of a branch share what was written:
a view that folds later goes on from whichever running memory stands for the most of its turns.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from engine.harness.prompt import Folded, folded_text
from engine.memory.folding.values import NOTHING, FoldedLine, RunningMemory, Written
from engine.memory.folding.verifying import faults
from engine.memory.folding.writing import write
from engine.memory.writing.proposals import Proposal
from engine.runtime.protocol import Encoder
from engine.store import Store
from engine.values import TurnRecord

_SHARE: Final = 0.125
"""Part of the context that is kept free for it, and that it may fill."""
_MOST_TOKENS: Final = 1024


class RunningMemories:
    def __init__(self, store: Store, encoder: Encoder, context_tokens: int) -> None:
        self._store = store
        self._encoder = encoder
        self.tokens = min(int(context_tokens * _SHARE), _MOST_TOKENS)
        """The most it takes in a head, with what is around its lines."""

    def known(self, conversation_id: str, folded: Sequence[TurnRecord]) -> tuple[RunningMemory, int]:
        """What stands for the first of `folded` already, and for how many of them."""
        turn_ids = [turn.turn_id for turn in folded]
        found = self._store.running_memory(conversation_id, turn_ids)
        return (found[0], turn_ids.index(found[1]) + 1) if found else (NOTHING, 0)

    def write(
        self,
        conversation_id: str,
        folded: Sequence[TurnRecord],
        proposals: Mapping[str, Sequence[Proposal]] | None = None,
    ) -> Written:
        """What stands for all of `folded`, the first turns of a branch. `proposals`: a model's, by turn, which are
        left out where what comes of them does not stand up to the verifier.
        """
        before, count = self.known(conversation_id, folded)
        with_lines, without = (self._encoder.encode(folded_text(Folded(1, lines))) for lines in (("",), ()))
        budget = self.tokens - (len(with_lines) - len(without))
        segment, earlier = folded[count:], folded[:count]
        written = write(before, segment, earlier, budget, self._size, proposals)
        if proposals and faults(before, segment, earlier, written, budget, self._size):
            return write(before, segment, earlier, budget, self._size)
        return written

    def _size(self, line: FoldedLine) -> int:
        return len(self._encoder.encode(f"- {line.shown}\n"))
