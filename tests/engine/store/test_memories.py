"""Memories are kept with their turn, indexed while they are active, superseded with history, and mended."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from engine.errors import BadText, UnknownName
from engine.memory.values import Draft
from engine.store import Store
from engine.store.memories import MemoryStore
from engine.store.memory_search import MemorySearch, Vector
from engine.store.salvage import salvage
from tests.engine.store.conftest import add_turn

NOW = datetime(2026, 11, 30, tzinfo=UTC)
VECTOR = Vector("small", b"\0\0\x80?" * 4, b"\1" * 8)


@pytest.fixture
def memories(store) -> MemoryStore:
    return MemoryStore(store.database, store.mender)


@pytest.fixture
def search(store) -> MemorySearch:
    return MemorySearch(store.database, store.mender)


@pytest.fixture
def add(store, memories):
    turn = add_turn(store, "I like tea.")

    def _add(text="I like tea", terms="tea", **options):
        facts = {name: options.pop(name) for name in ("slot", "due_on", "state", "kind") if name in options}
        draft = Draft(text, facts.pop("kind", "fact"), text, turn.turn_id, **facts)
        return memories.add(draft, terms, NOW, validation=0.8, **options)

    return _add


def test_a_memory_names_its_turn_and_conversation(memories, add, store):
    memory = add()
    assert memories.get(memory.memory_id) == memory
    assert memory.conversation_id == store.turn(memory.turn_id).conversation_id
    assert memories.of_turn(memory.turn_id) == (memory,)
    assert memories.page() == (memory,)


def test_a_memory_of_an_unknown_turn_is_refused(memories):
    with pytest.raises(UnknownName):
        memories.add(Draft("a", "fact", "a", "t-none"), "a", NOW, validation=0.8)


@pytest.mark.parametrize("source", ["user", "imported", "interview"])
def test_a_memory_that_was_not_said_in_a_turn_names_its_source(memories, search, source):
    memory = memories.add(Draft("I like tea", "fact", "I like tea", None, source=source), "tea", NOW, validation=0.8)
    assert (memory.turn_id, memory.conversation_id, memory.source) == (None, None, source)
    assert search.candidates([memory.memory_id])[memory.memory_id].conversation_id is None


def test_a_memory_from_nowhere_is_refused(memories, add):
    with pytest.raises(BadText, match="come from somewhere"):
        memories.add(Draft("a", "fact", "a", None), "a", NOW, validation=0.8)
    with pytest.raises(BadText, match="come from somewhere"):
        memories.add(Draft("a", "fact", "a", add().turn_id, source="imported"), "a", NOW, validation=0.8)


@pytest.mark.parametrize("day", ["2026-13-01", "20261201", "tomorrow", "2026-12-01T10:00"])
def test_a_day_that_cannot_be_compared_is_refused(add, day):
    with pytest.raises(BadText, match="no day"):
        add(due_on=day)


@pytest.mark.parametrize(
    ("text", "evidence"),
    [("", "a"), ("a", " "), ("a" * 1001, "a"), ("a", "a" * 2001), ("\ud800", "a")],
    ids=["no_text", "no_evidence", "long_text", "long_evidence", "half_a_character"],
)
def test_what_cannot_be_kept_is_refused(memories, store, text, evidence):
    turn = add_turn(store, "x")
    with pytest.raises(BadText):
        memories.add(Draft(text, "fact", evidence, turn.turn_id), "a", NOW, validation=0.8)


def test_the_best_match_comes_first(add, search):
    long, short = add(terms="tea a b c d e f g"), add(terms="tea")
    add(terms="jazz")
    assert search.matching('"tea"', 10) == (short.memory_id, long.memory_id)
    assert search.matching('"tea"', 1) == (short.memory_id,)
    assert search.frequencies(["tea", "jazz", "boat"]) == {"tea": 2, "jazz": 1}


def test_one_takes_the_place_of_several_and_their_history_stays(memories, add, search):
    first, second = add(slot="home"), add(slot="home")
    third = add(slot="home", supersedes=(first.memory_id, second.memory_id))
    assert third.supersedes == (first.memory_id, second.memory_id)
    assert memories.in_slot("home") == (third,)
    assert search.matching('"tea"', 10) == (third.memory_id,)
    assert [memory.memory_id for memory in memories.history(third.memory_id)] == [3, 2, 1]
    assert search.count() == 1
    last = add(slot="home", supersedes=(third.memory_id,))
    assert len(memories.history(last.memory_id)) == 4


def test_a_memory_that_supersedes_an_unknown_one_is_not_written(add, search):
    with pytest.raises(UnknownName):
        add(supersedes=(99,))
    assert search.count() == 0


def test_only_active_memories_are_found(memories, add, search):
    waiting, gone, there = add(state="pending"), add(vector=VECTOR), add(vector=VECTOR)
    memories.forget(gone.memory_id)
    assert search.matching('"tea"', 10) == (there.memory_id,)
    assert set(search.candidates([waiting.memory_id, gone.memory_id, there.memory_id])) == {there.memory_id}
    assert search.codes("small") == ([there.memory_id], VECTOR.code)
    assert search.vectors([gone.memory_id, there.memory_id]) == {there.memory_id: VECTOR.vector}


def test_numbers_are_not_given_again(memories, add):
    first = add()
    memories.forget(first.memory_id)
    assert add().memory_id > first.memory_id


def test_vectors_of_another_embedder_are_made_anew(add, search):
    memory = add(vector=VECTOR)
    assert search.unembedded("small", 10) == ()
    assert search.unembedded("large", 10) == ((memory.memory_id, "I like tea"),)
    other = Vector("large", b"\0\0\0@" * 4, b"\2" * 8)
    assert search.put_vectors([(memory.memory_id, other), (99, other)]) == (memory.memory_id,)
    assert search.codes("small") == ([], b"")
    assert search.codes("large") == ([memory.memory_id], other.code)


def test_an_empty_vector_says_that_there_is_none_to_be_had(add, search):
    memory = add(vector=Vector("small", b"", b""))
    assert search.unembedded("small", 10) == ()
    assert search.codes("small") == ([], b"")
    assert search.vectors([memory.memory_id]) == {}


def test_what_falls_due_is_listed_by_day(memories, add):
    late, soon = add(due_on="2026-12-24", kind="plan"), add(due_on="2026-12-01", kind="plan")
    add()
    assert memories.due("2026-12-01", "2026-12-31") == (soon, late)
    assert memories.due("2026-12-02", "2026-12-31") == (late,)


def test_a_page_ends_where_the_next_begins(memories, add):
    for _ in range(5):
        add()
    add(state="pending", kind="plan")
    assert [memory.memory_id for memory in memories.page(2)] == [5, 4]
    assert [memory.memory_id for memory in memories.page(10, before=4)] == [3, 2, 1]
    assert [memory.memory_id for memory in memories.page(10, states=["pending"], kinds=["plan"])] == [6]
    memories.judge(2, 0.9, NOW, trusted=True)
    assert [memory.memory_id for memory in memories.page(10, trusts=["confirmed"])] == [2]
    assert memories.page(10, kinds=["plan"], trusts=["confirmed"]) == ()


def test_only_what_bears_a_memory_out_counts_as_checked(memories, add):
    memory = add()
    assert memories.judge(memory.memory_id, 0.1, NOW).validated_at is None
    assert memories.judge(memory.memory_id, 0.9, NOW, trusted=True).trust == "confirmed"


def test_the_index_is_made_anew_from_the_memories(add, store, search):
    memory = add()
    add(state="pending")
    store.rebuild_search()
    assert search.matching('"tea"', 10) == (memory.memory_id,)
    assert search.frequencies(["tea"]) == {"tea": 1}
    assert store.integrity() == "ok"


def test_J4_an_index_of_memories_that_is_gone_is_made_anew_at_the_next_start(add, store, database_path):
    memory = add()
    store.close()
    with closing(sqlite3.connect(database_path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE name GLOB 'memories_fts*'")
    with Store.open(database_path) as again:
        assert len(again.repairs) == 1
        assert MemorySearch(again.database, again.mender).matching('"tea"', 10) == (memory.memory_id,)


def test_a_memory_that_is_missing_from_the_index_is_noticed(add, store):
    memory = add()
    with store.database.transaction() as connection:
        connection.execute("DELETE FROM memories_fts WHERE rowid = ?", [memory.memory_id])
    assert "missing from the search index" in store.integrity()


def test_memories_are_salvaged(add, store, database_path, tmp_path):
    memory = add(vector=VECTOR)
    store.close()
    salvage(database_path, tmp_path / "saved.db")
    with Store.open(tmp_path / "saved.db") as saved:
        memories = MemoryStore(saved.database, saved.mender)
        search = MemorySearch(saved.database, saved.mender)
        assert memories.get(memory.memory_id) == memory
        assert search.matching('"tea"', 10) == (memory.memory_id,)
        assert search.codes("small") == ([memory.memory_id], VECTOR.code)
