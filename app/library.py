"""What was said, straight from the store of this process: `ui.client.Library` without any model."""

from collections.abc import Sequence

from engine.store import Store
from engine.values import Conversation, ConversationCopy, Rating, SearchHit, TurnRecord


class StoreLibrary:
    """See `ui.client.Library`. Who opened the store closes it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def conversations(self, *, limit: int = 50, offset: int = 0) -> Sequence[Conversation]:
        return self._store.conversations(limit, offset)

    def conversation(self, conversation_id: str) -> Conversation:
        return self._store.conversation(conversation_id)

    def path(self, conversation_id: str) -> Sequence[TurnRecord]:
        leaf = self._store.conversation(conversation_id).leaf_turn_id
        return self._store.path(leaf) if leaf else ()

    def tree(self, conversation_id: str) -> Sequence[TurnRecord]:
        return self._store.tree(conversation_id)

    def siblings(self, turn_id: str) -> Sequence[TurnRecord]:
        return self._store.siblings(turn_id)

    def select(self, turn_id: str) -> None:
        self._store.select(turn_id)

    def search(self, query: str, *, limit: int = 20) -> Sequence[SearchHit]:
        return self._store.search(query, limit)

    def rename(self, conversation_id: str, title: str) -> None:
        self._store.rename(conversation_id, title)

    def rate(self, turn_id: str, rating: Rating) -> None:
        self._store.rate(turn_id, rating)

    def export_conversation(self, conversation_id: str) -> ConversationCopy:
        return self._store.copy_of(conversation_id)

    def import_conversation(self, copy: ConversationCopy) -> bool:
        return self._store.add_copy(copy)

    def close(self) -> None:
        """Nothing here is open beyond the store."""
