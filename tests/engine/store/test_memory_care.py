"""Memories are counted, looked for by their letters, and paused."""

from datetime import UTC, datetime, timedelta

import pytest

from engine.memory.values import Draft, Standing
from engine.store import Store
from engine.store.memories import MemoryStore
from engine.store.memory_care import MemoryCare
from engine.store.salvage import salvage

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def care(store) -> MemoryCare:
    return MemoryCare(store.database)


@pytest.fixture
def add(store):
    memories = MemoryStore(store.database, store.mender)

    def _add(text, **options):
        state = options.pop("state", "active")
        draft = Draft(text, "fact", text, None, state=state, source="user")
        return memories.add(draft, "", NOW, validation=0.8, **options)

    return _add


def test_they_are_counted_by_what_became_of_them(store, care, add):
    assert care.standing() == Standing(0, 0, 0, None)
    old, gone = add("a"), add("b")
    add("c", supersedes=[old.memory_id])
    add("d", state="pending")
    MemoryStore(store.database, store.mender).forget(gone.memory_id)
    assert care.standing() == Standing(active=1, pending=1, superseded=1, paused_since=None)
    assert sorted(care.texts(["active", "superseded"])) == ["a", "c"]


def test_each_word_is_looked_for_letter_for_letter(care, add):
    for text in ("Tea at 100%", "Tea at 100 degrees", "a_b!", "axb"):
        add(text)
    add("Tea that waits", state="pending")

    def found(words, states=("active",), limit=10):
        return [memory.text for memory in care.holding(words, states, limit)]

    assert found("TEA 100") == ["Tea at 100 degrees", "Tea at 100%"]
    assert found("100%") == ["Tea at 100%"]
    assert found("a_b!") == ["a_b!"]
    assert found("waits") == [] and found("waits", ["pending"]) == ["Tea that waits"]
    assert found("tea", limit=1) == ["Tea at 100 degrees"]
    assert found("  ") == []


def test_a_pause_lasts_until_it_is_ended_and_survives_a_start_and_a_salvage(store, database_path, tmp_path):
    care = MemoryCare(store.database)
    assert care.paused_since() is None
    care.pause(NOW)
    care.pause(NOW + timedelta(days=1))
    store.close()
    salvage(database_path, tmp_path / "saved.db")
    for path in (database_path, tmp_path / "saved.db"):
        with Store.open(path) as again:
            care = MemoryCare(again.database)
            assert datetime.fromisoformat(care.paused_since() or "") == NOW
            care.resume()
            assert care.paused_since() is None
