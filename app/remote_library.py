"""What was said, asked of a host that runs: `ui.client.Library` over HTTP, by the names of its calls."""

from collections.abc import Sequence
from typing import Any, cast

from app.host.connection import HostConnection
from engine.memory.values import Proposed
from engine.runtime import wire
from engine.signals.values import Correction, CorrectionKind, Signal, SignalKind
from engine.values import Conversation, ConversationCopy, Merged, Provenance, Rating, SearchHit, TurnRecord


class RemoteLibrary:
    """See `ui.client.Library`. Calls may come from any thread."""

    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection

    def conversations(self, *, limit: int = 50, offset: int = 0) -> Sequence[Conversation]:
        return cast(Sequence[Conversation], self._call("conversations", limit=limit, offset=offset))

    def conversation(self, conversation_id: str) -> Conversation:
        return cast(Conversation, self._call("conversation", conversation_id=conversation_id))

    def path(self, conversation_id: str) -> Sequence[TurnRecord]:
        return cast(Sequence[TurnRecord], self._call("path", conversation_id=conversation_id))

    def tree(self, conversation_id: str) -> Sequence[TurnRecord]:
        return cast(Sequence[TurnRecord], self._call("tree", conversation_id=conversation_id))

    def siblings(self, turn_id: str) -> Sequence[TurnRecord]:
        return cast(Sequence[TurnRecord], self._call("siblings", turn_id=turn_id))

    def select(self, turn_id: str) -> None:
        self._call("select", turn_id=turn_id)

    def search(self, query: str, *, limit: int = 20) -> Sequence[SearchHit]:
        return cast(Sequence[SearchHit], self._call("search", query=query, limit=limit))

    def rename(self, conversation_id: str, title: str) -> None:
        self._call("rename", conversation_id=conversation_id, title=title)

    def rate(self, turn_id: str, rating: Rating) -> None:
        self._call("rate", turn_id=turn_id, rating=rating)

    def correct(
        self, turn_id: str, text: str, kind: CorrectionKind = "correction", provenance: Provenance = "typed"
    ) -> Signal:
        return cast(Signal, self._call("correct", turn_id=turn_id, text=text, kind=kind, provenance=provenance))

    def pick(self, turn_id: str) -> None:
        self._call("pick", turn_id=turn_id)

    def signals(
        self,
        *,
        limit: int = 50,
        before: int | None = None,
        kinds: Sequence[SignalKind] = (),
        expert: str | None = None,
        conversation_id: str | None = None,
    ) -> Sequence[Signal]:
        found = self._call(
            "signals",
            limit=limit,
            before=before,
            kinds=list(kinds),
            expert=expert,
            conversation_id=conversation_id,
        )
        return cast(Sequence[Signal], found)

    def corrections(self, expert: str | None = None) -> Sequence[Correction]:
        return cast(Sequence[Correction], self._call("corrections", expert=expert))

    def erase_signal(self, signal_id: int) -> None:
        self._call("erase_signal", signal_id=signal_id)

    def confirm_signal(self, signal_id: int) -> Signal:
        return cast(Signal, self._call("confirm_signal", signal_id=signal_id))

    def export_conversation(self, conversation_id: str) -> ConversationCopy:
        return cast(ConversationCopy, self._call("export_conversation", conversation_id=conversation_id))

    def import_conversation(self, copy: ConversationCopy) -> bool:
        return cast(bool, self._call("import_conversation", copy=wire.to_plain(copy)))

    def merge_conversation(self, copy: ConversationCopy) -> Merged:
        return cast(Merged, self._call("merge_conversation", copy=wire.to_plain(copy)))

    def read_for_memories(self, conversation_id: str) -> Proposed:
        return cast(Proposed, self._call("read_for_memories", conversation_id=conversation_id))

    def close(self) -> None:
        self._connection.close()

    def _call(self, call: str, /, **arguments: Any) -> Any:
        return self._connection.call(call, **arguments)
