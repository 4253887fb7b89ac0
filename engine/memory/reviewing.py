"""What a user said in another program, as memories that wait for them: none counts before they have looked at it.

Reads the user's side of imported conversations by the rules for what is typed here; no model is asked. By construction
it can only make memories that wait: what it hands to the store has neither trust nor state, and the store's way for it
knows no others than tainted and pending. Reading the same conversation again changes nothing.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

from engine.memory.concepts import Concepts, shipped_concepts
from engine.memory.finding import Finder
from engine.memory.values import Proposed, Waiting
from engine.memory.weighting import DEFAULT_RULES, FIRST_VALIDATION, first_r0
from engine.memory.writing.frames import NO_FRAME, Frame, frame_after, is_made_up
from engine.memory.writing.own_words import sentences_claimed
from engine.memory.writing.proposals import Proposal
from engine.memory.writing.proposing import RuleProposer
from engine.memory.writing.reconciling import says_the_same
from engine.memory.writing.verifying import Refused, Said, verify
from engine.store import Store
from engine.store.memories import MemoryStore
from engine.store.memory_search import MemorySearch
from engine.values import TurnRecord

_ALIKE: Final = 12
"""How many memories a proposal is held against."""


class Reviewing:
    def __init__(self, store: Store, concepts: Concepts | None = None) -> None:
        self._memories = MemoryStore(store.database, store.mender)
        search = MemorySearch(store.database, store.mender)
        self._finder = Finder(search, None, concepts or shipped_concepts(), DEFAULT_RULES)

    def propose(self, turns: Sequence[TurnRecord], now: datetime, today: date) -> Proposed:
        """From the imported turns of one conversation, a parent before its children. `today`: plans whose day is over
        are left out."""
        frames = dict[str | None, Frame]()
        waiting = known = 0
        for turn in turns:
            frame = frame_after([turn.user_text], frames.get(turn.parent_turn_id, NO_FRAME))
            frames[turn.turn_id] = frame
            if turn.provenance != "imported" or frame.is_open or is_made_up(turn.user_text):
                continue
            proposals = [one for one in _verified(turn) if not one.due_on or date.fromisoformat(one.due_on) >= today]
            new = [proposal for proposal in proposals if not self._is_known(proposal)]
            known += len(proposals) - len(new)
            if not new:
                continue
            waiting += self._memories.add_waiting(
                turn.turn_id,
                [(_waiting(proposal), self._finder.terms_of(proposal.text, proposal.slot)) for proposal in new],
                now,
                r0=first_r0("tainted"),
                validation=FIRST_VALIDATION,
            )
        return Proposed(waiting, known)

    def _is_known(self, proposal: Proposal) -> bool:
        """Whether an active memory says the same."""
        memories = list(self._memories.in_slot(proposal.slot)) if proposal.slot else []
        memories += self._memories.get_all(self._finder.alike(proposal.text, None, _ALIKE)).values()
        return any(memory.state == "active" and says_the_same(proposal, memory) for memory in memories)


def _verified(turn: TurnRecord) -> list[Proposal]:
    """What the rules see in a turn and the verifier lets pass; days are counted from when it was said."""
    sentences = sentences_claimed(turn.user_text)
    said = Said(turn.user_text, sentences)
    day = datetime.fromisoformat(turn.created_at).date()
    verdicts = [verify(proposal, said) for proposal in RuleProposer().propose(sentences, day)]
    return [verdict for verdict in verdicts if not isinstance(verdict, Refused)]


def _waiting(proposal: Proposal) -> Waiting:
    return Waiting(proposal.text, proposal.kind, proposal.evidence, proposal.slot, proposal.due_on)
