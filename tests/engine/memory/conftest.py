"""Memories in a store of their own, and a user who talks."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.memory.keeping import Kept, KeptMemories, Spoken
from engine.store import Store
from engine.values import Answer

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
Say = Callable[..., Kept]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "home" / "macaron.db") as opened:
        yield opened


@pytest.fixture
def memories(store: Store) -> KeptMemories:
    return KeptMemories(store, None)


@pytest.fixture
def say(store: Store, memories: KeptMemories) -> Say:
    """Say something in a conversation of its own, and learn from it."""

    def _say(text: str, *, now: datetime = NOW, **facts) -> Kept:
        return memories.learn(Spoken(turn_in(store, text), text, **facts), now, now.date())

    return _say


def turn_in(store: Store, text: str, after: str | None = None) -> str:
    """The id of an answered turn, in a new conversation or after another turn."""
    conversation = store.turn(after).conversation_id if after else None
    turn = store.open_turn(text, conversation_id=conversation, parent_turn_id=after, profile="starter")
    store.close_turn(Answer(turn.turn_id, "answered", "Yes.", None))
    return turn.turn_id


def active(memories: KeptMemories) -> list[str]:
    """The texts of all active memories, the oldest first."""
    return [memory.text for memory in reversed(memories.store.page(1000))]


def recalled(memories: KeptMemories, question: str, now: datetime = NOW) -> list[str]:
    return [one.memory.text for one in memories.recall(question, now)]
