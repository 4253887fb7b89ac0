"""What was said, straight from the store of this process: `ui.client.Library` without any model."""

from collections.abc import Sequence
from datetime import UTC, datetime

from app.off_record import NOT_KEPT, OffTheRecord
from engine.errors import UsageProblem
from engine.memory.values import Proposed
from engine.signals.keeping import KeptSignals
from engine.signals.values import Correction, CorrectionKind, Signal, SignalKind
from engine.store import Store
from engine.store.memory_care import MemoryCare
from engine.values import Conversation, ConversationCopy, Merged, Provenance, Rating, SearchHit, TurnRecord


class StoreLibrary:
    """See `ui.client.Library`. Who opened the stores closes them."""

    def __init__(self, store: Store, off_record: OffTheRecord | None = None) -> None:
        self._store = store
        self._off_record = off_record
        self._signals = KeptSignals(store.database)

    def conversations(self, *, limit: int = 50, offset: int = 0) -> Sequence[Conversation]:
        return self._store.conversations(limit, offset)

    def conversation(self, conversation_id: str) -> Conversation:
        hidden = self._off_record.conversation(conversation_id) if self._off_record else None
        return hidden or self._store.conversation(conversation_id)

    def path(self, conversation_id: str) -> Sequence[TurnRecord]:
        store = self._store_of(conversation_id=conversation_id)
        leaf = store.conversation(conversation_id).leaf_turn_id
        return store.path(leaf) if leaf else ()

    def tree(self, conversation_id: str) -> Sequence[TurnRecord]:
        return self._store_of(conversation_id=conversation_id).tree(conversation_id)

    def siblings(self, turn_id: str) -> Sequence[TurnRecord]:
        return self._store_of(turn_id=turn_id).siblings(turn_id)

    def select(self, turn_id: str) -> None:
        self._store_of(turn_id=turn_id).select(turn_id)

    def search(self, query: str, *, limit: int = 20) -> Sequence[SearchHit]:
        return self._store.search(query, limit)

    def rename(self, conversation_id: str, title: str) -> None:
        self._store_of(conversation_id=conversation_id).rename(conversation_id, title)

    def rate(self, turn_id: str, rating: Rating) -> None:
        self._require_record(turn_id)
        self._store.rate(turn_id, rating)

    def correct(
        self, turn_id: str, text: str, kind: CorrectionKind = "correction", provenance: Provenance = "typed"
    ) -> Signal:
        self._require_record(turn_id)
        return self._signals.correct(turn_id, text, kind, provenance)

    def pick(self, turn_id: str) -> None:
        self._require_record(turn_id)
        self._signals.pick(turn_id)

    def signals(
        self,
        *,
        limit: int = 50,
        before: int | None = None,
        kinds: Sequence[SignalKind] = (),
        expert: str | None = None,
        conversation_id: str | None = None,
    ) -> Sequence[Signal]:
        return self._signals.page(limit, before, kinds, expert, conversation_id)

    def corrections(self, expert: str | None = None) -> Sequence[Correction]:
        return self._signals.corrections(expert)

    def erase_signal(self, signal_id: int) -> None:
        self._signals.erase(signal_id)

    def confirm_signal(self, signal_id: int) -> Signal:
        return self._signals.confirm(signal_id)

    def export_conversation(self, conversation_id: str) -> ConversationCopy:
        return self._store_of(conversation_id=conversation_id).copy_of(conversation_id)

    def import_conversation(self, copy: ConversationCopy) -> bool:
        return self._store.add_copy(copy)

    def merge_conversation(self, copy: ConversationCopy) -> Merged:
        return self._store.merge_copy(copy)

    def read_for_memories(self, conversation_id: str) -> Proposed:
        # Only now: what reads memories takes longer to load than a list takes to show.
        from engine.memory.reviewing import Reviewing

        if MemoryCare(self._store.database).paused_since() is not None:
            raise UsageProblem("Memory is paused, so nothing is read for it.", "Resume it first, then import again.")
        now = datetime.now(UTC)
        return Reviewing(self._store).propose(self._store.tree(conversation_id), now, now.astimezone().date())

    def close(self) -> None:
        """Nothing here is open beyond the stores."""

    def _store_of(self, *, conversation_id: str | None = None, turn_id: str | None = None) -> Store:
        hidden = self._off_record
        is_hidden = hidden is not None and hidden.holds(conversation_id=conversation_id, turn_id=turn_id)
        return hidden.store if hidden is not None and is_hidden else self._store

    def _require_record(self, turn_id: str) -> None:
        """Raises: UsageProblem for a turn that is off the record."""
        if self._off_record is not None and self._off_record.holds(turn_id=turn_id):
            raise NOT_KEPT
