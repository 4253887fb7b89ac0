"""Files, thumbs and the whole tree: what a turn carries beside its two messages."""

import sqlite3
from contextlib import closing

import pytest

from engine.errors import BadText, UnknownName, UsageProblem
from engine.store import Store
from engine.values import Answer, Attachment

FILES = (Attachment("茶.txt", "绿茶 and a NUL \0 and 🍵"), Attachment("b", ""), Attachment("茶.txt", '"twice"'))


def open_with(store, *files, text="Look."):
    return store.open_turn(text, conversation_id=None, parent_turn_id=None, profile="starter", attachments=files)


def test_files_come_back_exactly_and_in_order(database_path):
    with Store.open(database_path) as store:
        opened = open_with(store, *FILES)
        assert opened.attachments == FILES
    with Store.open(database_path) as store:
        assert store.turn(opened.turn_id).attachments == FILES
        (conversation,) = store.conversations()
        assert [turn.attachments for turn in store.path(conversation.leaf_turn_id)] == [FILES]


def test_a_turn_without_files_has_none(say):
    assert say("Hi").attachments == ()


@pytest.mark.parametrize("file", [Attachment("a", "\ud800"), Attachment("\ud800", "a")], ids=["text", "name"])
def test_a_file_that_is_not_unicode_is_refused_and_nothing_is_stored(store, file):
    with pytest.raises(BadText):
        open_with(store, file)
    assert store.conversations() == ()


def test_a_turn_is_found_by_the_name_and_the_words_of_its_files(store):
    turn = open_with(store, Attachment("einkauf.md", "Milch, 拿铁咖啡"))
    store.close_turn(Answer(turn.turn_id, "answered", "Yes.", None))
    for query in ("einkauf", "milch", "咖啡", "look milch"):
        (hit,) = store.search(query)
        assert (hit.turn_id, hit.role) == (turn.turn_id, "user")
    assert "拿铁咖啡" in store.search("咖啡")[0].snippet
    assert store.search("milch yes") == ()


def test_the_index_made_anew_still_finds_the_words_of_files(store):
    open_with(store, Attachment("a", "Milch"))
    store.rebuild_search()
    assert len(store.search("milch")) == 1
    assert store.integrity() == "ok"


def test_the_newest_rating_counts_and_older_ones_are_kept_as_evidence(store, say, database_path):
    turn, other = say("Hi"), say("Ho")
    assert turn.rating == 0
    for rating in (1, -1, 0, 1):
        store.rate(turn.turn_id, rating)
        assert store.turn(turn.turn_id).rating == rating
    assert store.turn(other.turn_id).rating == 0
    with closing(sqlite3.connect(database_path)) as connection:
        rows = connection.execute("SELECT turn_id, kind, value, source FROM signals ORDER BY signal_id").fetchall()
    assert rows == [(turn.turn_id, "thumb", float(rating), "user") for rating in (1, -1, 0, 1)]


def test_another_kind_of_signal_is_no_rating(store, say, database_path):
    turn = say("Hi")
    store.rate(turn.turn_id, -1)
    with closing(sqlite3.connect(database_path)) as connection, connection:
        connection.execute(
            "INSERT INTO signals (turn_id, kind, value, source, created_at) VALUES (?, 'retry', 1, 'x', '2026')",
            [turn.turn_id],
        )
    assert store.turn(turn.turn_id).rating == -1


def test_what_is_no_rating_is_refused(store, say):
    turn = say("Hi")
    with pytest.raises(UsageProblem):
        store.rate(turn.turn_id, 5)
    with pytest.raises(UnknownName):
        store.rate("t-nowhere", 1)
    assert store.turn(turn.turn_id).rating == 0


def test_the_tree_holds_the_turns_of_all_branches_oldest_first(store, say):
    first = say("1")
    second = say("2", first)
    say("elsewhere")
    other = say("2b", first)
    third = say("3", second)
    root = store.open_turn("1b", conversation_id=first.conversation_id, parent_turn_id=None, profile="starter")
    assert store.tree(first.conversation_id) == (first, second, other, third, root)
    with pytest.raises(UnknownName):
        store.tree("c-nowhere")
