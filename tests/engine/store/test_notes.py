"""Notes are kept, found in English and Chinese, changed, removed and brought back."""

from contextlib import closing

import pytest

import engine.store.notes as notes_module
from engine.errors import BadText, UnknownName, UsageProblem
from engine.store import Store
from engine.store.notes import NoteStore
from engine.store.salvage import salvage


@pytest.fixture
def notes(store) -> NoteStore:
    return NoteStore(store.database)


def found(notes, query):
    return [note.title for note in notes.search(query)]


def test_a_note_is_kept_and_named_by_its_first_line(notes):
    note = notes.add("", "Milk and  bread\nfor Sunday", "user")
    assert (note.title, note.text, note.source) == ("Milk and bread", "Milk and  bread\nfor Sunday", "user")
    assert notes.get(note.note_id) == note
    assert notes.page() == (note,)


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        pytest.param("coffee", ["Latte"], id="a_word"),
        pytest.param("COFF", ["Latte"], id="the_beginning_of_a_word"),
        pytest.param("cafe", ["Latte"], id="without_its_accent"),
        pytest.param("offee", [], id="not_the_middle_of_a_word"),
        pytest.param("咖啡", ["拿铁"], id="two_characters"),
        pytest.param("铁咖啡", ["拿铁"], id="across_pairs"),
        pytest.param("啡", ["拿铁"], id="one_character"),
        pytest.param("咖茶", [], id="characters_that_are_apart"),
        pytest.param("拿铁 morning", ["拿铁"], id="all_of_several"),
        pytest.param("coffee 咖啡", [], id="not_only_some_of_several"),
        pytest.param('" OR 1=1 --', [], id="J6_syntax_of_queries"),
        pytest.param("%", [], id="nothing_to_search_for"),
    ],
)
def test_notes_are_found_by_their_words(notes, query, titles):
    notes.add("Latte", "Coffee at the café, 1", "user")
    notes.add("拿铁", "早上喝拿铁咖啡 every morning, 茶", "user")
    assert found(notes, query) == titles


def test_the_last_changed_comes_first(notes):
    first = notes.add("", "tea one", "user")
    notes.add("", "tea two", "user")
    notes.edit(first.note_id, "", "tea three", "model")
    assert found(notes, "tea") == ["tea three", "tea two"]
    assert [note.title for note in notes.page(limit=1, skipped=1)] == ["tea two"]


def test_an_edit_is_undone_and_done_again_with_who_wrote_it(notes):
    note = notes.add("Tea", "green", "user")
    edited = notes.edit(note.note_id, "Tea", "black", "model")
    assert (edited.text, edited.source) == ("black", "model")
    assert notes.undone(note.note_id).text == "green"
    undone = notes.undo(note.note_id)
    assert (undone.text, undone.source) == ("green", "user")
    assert found(notes, "black") == []
    assert notes.undo(note.note_id).text == "black"


def test_a_removed_note_is_not_found_and_can_be_brought_back(notes):
    note = notes.add("Tea", "green", "user")
    assert notes.remove(note.note_id).is_removed
    assert notes.page() == ()
    assert found(notes, "green") == []
    with pytest.raises(UsageProblem, match="removed"):
        notes.edit(note.note_id, "", "x", "user")
    with pytest.raises(UsageProblem, match="removed"):
        notes.remove(note.note_id)
    assert not notes.undo(note.note_id).is_removed
    assert found(notes, "green") == ["Tea"]


def test_the_text_of_a_removed_note_is_gone_after_a_month(notes, store):
    note = notes.add("Tea", "green", "user")
    notes.remove(note.note_id)
    with store.database.transaction() as connection:
        connection.execute("UPDATE notes SET removed_at = '2020-01-01T00:00:00.000000+00:00'")
    notes.add("", "another", "user")
    with pytest.raises(UnknownName):
        notes.get(note.note_id)


def test_an_erased_note_is_gone_at_once(notes):
    note = notes.add("Tea", "green", "user")
    notes.erase(note.note_id)
    with pytest.raises(UnknownName):
        notes.undo(note.note_id)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        pytest.param("", " \n", id="empty"),
        pytest.param("", "x" * 100_001, id="long_text"),
        pytest.param("x" * 201, "y", id="long_title"),
        pytest.param("", "half \ud83d", id="half_a_character"),
    ],
)
def test_what_is_no_note_is_refused(notes, title, text):
    with pytest.raises(BadText):
        notes.add(title, text, "user")


def test_there_are_never_more_notes_than_can_be_searched(notes, monkeypatch):
    monkeypatch.setattr(notes_module, "MOST_NOTES", 2)
    notes.add("", "one", "user")
    notes.add("", "two", "user")
    with pytest.raises(UsageProblem, match="already"):
        notes.add("", "three", "user")


def test_what_was_never_edited_cannot_be_undone(notes):
    with pytest.raises(UsageProblem, match="never edited"):
        notes.undo(notes.add("", "one", "user").note_id)
    with pytest.raises(UnknownName, match="no note 99"):
        notes.undo(99)


def test_notes_are_salvaged(database_path, tmp_path):
    with closing(Store.open(database_path)) as store:
        NoteStore(store.database).add("Tea", "绿茶", "user")
    assert salvage(database_path, tmp_path / "new.db").is_complete
    with closing(Store.open(tmp_path / "new.db")) as store:
        assert found(NoteStore(store.database), "绿茶") == ["Tea"]
