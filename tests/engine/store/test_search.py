"""History is found by words and by characters, in English, Chinese, Japanese and Korean, whatever is typed."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.store import Store, search
from tests.engine.store.conftest import add_turn

CJK = st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF, categories=["Lo"]) | st.sampled_from(
    "あいがぱアガパー가각힣한국々〇\U00020000\U0002b820\U00031350\ufa0e"
)
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=60)
STORABLE_TEXT = st.text(max_size=40)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("library") / "macaron.db") as opened:
        add_turn(opened, "I want a Latte, not tea.", answer="One latté coming up!")
        add_turn(opened, "我想喝拿铁咖啡。", answer="好的，一杯拿铁。")
        add_turn(opened, "用 Python 写一个咖啡店", answer="コーヒーショップ 커피숍에서")
        add_turn(opened, "NEAR AND OR NOT: it's a trap", answer='He said "no" (twice)*')
        yield opened


def found(store: Store, query: str) -> set[str]:
    return {hit.snippet for hit in store.search(query, 50)}


@pytest.mark.parametrize(
    ("query", "snippets"),
    [
        pytest.param("latte", {"I want a Latte, not tea.", "One latté coming up!"}, id="case and accents fold"),
        pytest.param("LATTÉ tea", {"I want a Latte, not tea."}, id="terms are all needed"),
        pytest.param("want lat", {"I want a Latte, not tea."}, id="the last term may be a beginning"),
        pytest.param("lat want", set(), id="an earlier term may not"),
        pytest.param("atte", set(), id="nor may the end of a word"),
        pytest.param("ｌａｔｔｅ ｗａｎｔ", {"I want a Latte, not tea."}, id="fullwidth letters fold"),
        pytest.param("咖啡", {"我想喝拿铁咖啡。", "用 Python 写一个咖啡店"}, id="two characters at an end or inside"),
        pytest.param("铁咖啡", {"我想喝拿铁咖啡。"}, id="three characters"),
        pytest.param("拿咖", set(), id="characters that are not neighbours"),
        pytest.param("咖", {"我想喝拿铁咖啡。", "用 Python 写一个咖啡店"}, id="one character inside"),
        pytest.param("啡", {"我想喝拿铁咖啡。", "用 Python 写一个咖啡店"}, id="one character at the end"),
        pytest.param("python咖啡", {"用 Python 写一个咖啡店"}, id="mixed without a space"),
        pytest.param("咖啡 pyth", {"用 Python 写一个咖啡店"}, id="mixed with a beginning"),
        pytest.param("咖啡 latte", set(), id="mixed in different messages"),
        pytest.param("ーヒー", {"コーヒーショップ 커피숍에서"}, id="katakana"),
        pytest.param("ｺｰﾋｰ", {"コーヒーショップ 커피숍에서"}, id="halfwidth katakana"),
        pytest.param("커피", {"コーヒーショップ 커피숍에서"}, id="hangul"),
        pytest.param("피숍에", {"コーヒーショップ 커피숍에서"}, id="hangul inside a word"),
        pytest.param("near not", {"NEAR AND OR NOT: it's a trap"}, id="operators are words"),
        pytest.param('"no" (twice)*', {'He said "no" (twice)*'}, id="syntax is punctuation"),
        pytest.param("terms:latte", set(), id="a column filter is two words"),
        pytest.param("☕🍵", set(), id="nothing but emoji"),
        pytest.param("", set(), id="nothing"),
        pytest.param("\0\ud800'\";--", set(), id="nothing but trouble"),
    ],
)
def test_J6_a_query_finds(library, query, snippets):
    assert found(library, query) == snippets


def test_a_hit_names_its_message(store, say):
    turn = say("拿铁咖啡", answer="Coffee it is")
    (asked,), (said,) = store.search("咖啡", 5), store.search("coffee", 5)

    assert (asked.conversation_id, asked.turn_id, asked.role) == (turn.conversation_id, turn.turn_id, "user")
    assert (said.turn_id, said.role, said.title) == (turn.turn_id, "assistant", "拿铁咖啡")
    assert asked.created_at == turn.created_at


def test_at_most_as_many_hits_as_asked_for_the_closest_match_first(store, say):
    for number in range(4):
        say(f"coffee and many other words that are not asked for, {number}", answer="No.")
    say("coffee", answer="No.")
    hits = store.search("coffee", 3)
    assert len(hits) == 3
    assert hits[0].snippet == "coffee"


def test_J6_a_very_long_query_is_answered(library):
    assert library.search("latte " * 100_000, 5) == library.search("latte latte", 5)
    assert library.search("咖啡" * 100_000, 5) == ()
    assert library.search("x" * 1_000_000, 5) == ()


def test_a_word_longer_than_what_is_indexed_is_still_found(store, say):
    say("x" * 300, answer="No.")
    assert len(store.search("x" * 300, 5)) == 1


@given(ANY_TEXT, st.integers(min_value=1, max_value=5))
@settings(deadline=None, max_examples=200)
def test_J6_no_query_raises(library, query, limit):
    assert len(library.search(query, limit)) <= limit


@given(STORABLE_TEXT)
@settings(deadline=None, max_examples=60)
def test_any_text_is_found_by_itself_when_it_has_a_word(library, text):
    turn = add_turn(library, text, answer="")
    hits = {hit.turn_id for hit in library.search(text, 100_000)}
    assert (turn.turn_id in hits) == bool(search.terms(text))


@given(st.text(CJK, min_size=2, max_size=12), st.data())
@settings(deadline=None, max_examples=60)
def test_any_two_neighbouring_characters_are_found(library, text, data):
    start = data.draw(st.integers(min_value=0, max_value=len(text) - 2))
    turn = add_turn(library, f"前 {text}, after", answer="")
    assert turn.turn_id in {hit.turn_id for hit in library.search(text[start : start + 2], 100_000)}


@given(ANY_TEXT, ANY_TEXT)
def test_a_snippet_is_one_short_line(text, query):
    shown = search.snippet(text * 5, query)
    assert len(shown) <= search.SNIPPET_CHARACTERS + 2
    assert len(shown.splitlines()) <= 1


def test_a_snippet_shows_the_match_with_what_is_around_it():
    text = "一" * 500 + "我想喝 Café 拿铁\n咖啡" + "二" * 500
    assert "Café 拿铁 咖啡" in search.snippet(text, "cafe")
    assert "Café 拿铁 咖啡" in search.snippet(text, "铁")
    assert search.snippet(text, "铁").startswith("…一")
    assert search.snippet(text, "铁").endswith("二…")
    assert search.snippet("short", "absent") == "short"


def test_the_index_can_be_made_anew_from_the_messages(database_path, store, say):
    say("拿铁咖啡", answer="Latte")
    with closing(sqlite3.connect(database_path)) as connection, connection:
        connection.execute("DELETE FROM messages_fts")
    assert store.search("咖啡", 5) == ()
    assert store.integrity() == "2 messages are missing from the search index"

    store.rebuild_search()

    assert [len(store.search(query, 5)) for query in ("咖啡", "latte")] == [1, 1]
    assert store.integrity() == "ok"


def test_a_damaged_index_is_told_apart_and_can_be_made_anew(database_path, store, say):
    say("拿铁咖啡", answer="Latte")
    with closing(sqlite3.connect(database_path)) as connection, connection:
        connection.execute("UPDATE messages_fts_data SET block = x'00' WHERE id > 10")
    assert "the search index is damaged" in store.integrity()

    store.rebuild_search()

    assert store.integrity() == "ok"
    assert len(store.search("咖啡", 5)) == 1
