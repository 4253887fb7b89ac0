"""Conversations off the record: kept in the memory of this process alone, and gone with it.

They have a store of their own, so that nothing of them can be listed, searched, remembered, backed up or learned by
mistake: what works on the home's store does not know them.
"""

from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from engine.errors import UnknownName, UsageProblem
from engine.store import Store
from engine.values import Conversation, TurnRecord

NOT_KEPT: Final = UsageProblem(
    "This conversation is off the record: nothing of it is kept or learned.", "Say it in an ordinary conversation."
)


class OffTheRecord:
    """Close it, or use it in a `with` statement."""

    def __init__(self) -> None:
        self.store = Store.in_memory()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.store.close()

    def conversation(self, conversation_id: str) -> Conversation | None:
        """None where it is none of these."""
        try:
            return replace(self.store.conversation(conversation_id), is_off_record=True)
        except UnknownName:
            return None

    def turn(self, turn_id: str) -> TurnRecord | None:
        try:
            return self.store.turn(turn_id)
        except UnknownName:
            return None

    def holds(self, *, conversation_id: str | None = None, turn_id: str | None = None) -> bool:
        """Whether the conversation or the turn is one of these."""
        if conversation_id is not None and self.conversation(conversation_id) is not None:
            return True
        return turn_id is not None and self.turn(turn_id) is not None
