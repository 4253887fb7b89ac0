"""`macaron history` lists, shows and finds what was said, in both languages, for people and for scripts."""

from pathlib import Path

import pytest

from app.home_lock import hold_home
from app.opening import open_store
from app.paths import Paths
from engine.values import Answer, TurnRecord
from tests.app.conftest import ANSWERED, SAID
from tests.app.running import complaint, macaron

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\x1b[8m"
CHINESE = {"LC_ALL": None, "LANG": "zh_CN.UTF-8"}


@pytest.fixture
def hostile(home: Path) -> TurnRecord:
    """A turn whose texts and problem try to command the terminal."""
    with open_store(Paths(home)) as store:
        turn = store.open_turn(HOSTILE + " tea", conversation_id=None, parent_turn_id=None, profile="starter")
        store.close_turn(Answer(turn.turn_id, "failed", HOSTILE, None, problem=HOSTILE, hint=HOSTILE))
        return store.turn(turn.turn_id)


def is_inert(text: str) -> bool:
    return not any((ord(sign) < 32 and sign not in "\n\t") or 0x7F <= ord(sign) <= 0x9F for sign in text) and (
        "\u202e" not in text
    )


def test_an_empty_home_has_an_empty_history():
    listed = macaron("history", "list")
    assert (listed.code, listed.out, listed.err) == (0, "", "")
    assert macaron("history", "list", "--json").json == []


def test_the_list_has_one_line_with_id_day_title_and_turns(earlier: TurnRecord):
    (line,) = macaron("history", "list").out.splitlines()
    assert line.startswith(f"{earlier.conversation_id}  {earlier.created_at[:10]}  {SAID}")
    (in_json,) = macaron("history", "list", "--json").json
    assert in_json["conversation_id"] == earlier.conversation_id
    assert (in_json["title"], in_json["turn_count"], in_json["profile"]) == (SAID, 1, "starter")


def test_a_conversation_is_shown_with_what_was_said_and_who_answered(earlier: TurnRecord):
    shown = macaron("history", "show", earlier.conversation_id).out
    assert f"> {SAID}\n[L0 · default]\n{ANSWERED}\n" in shown
    in_json = macaron("history", "show", earlier.conversation_id, "--json").json
    (turn,) = in_json["turns"]
    assert (turn["user_text"], turn["answer_text"], turn["route"]["expert"]) == (SAID, ANSWERED, "L0")


@pytest.mark.parametrize("query", ["coffee drink", "拿铁"], ids=["english", "chinese"])
def test_words_are_found_in_both_languages(earlier: TurnRecord, query: str):
    found = macaron("history", "search", *query.split())
    assert found.out.startswith(earlier.conversation_id) and "拿铁" in found.out
    (hit,) = macaron("history", "search", query, "--json").json
    assert (hit["turn_id"], hit["role"]) == (earlier.turn_id, "assistant")


def test_words_that_were_never_said_find_nothing(earlier: TurnRecord):
    found = macaron("history", "search", "zeppelin")
    assert (found.code, found.out) == (0, "")
    assert macaron("history", "search", '"OR* NEAR(', "--json").json == []


def test_the_words_around_are_chinese_where_the_environment_is(earlier: TurnRecord):
    assert "1 轮" in macaron("history", "list", changes=CHINESE).out
    assert "[L0 · 默认]" in macaron("history", "show", earlier.conversation_id, changes=CHINESE).out


def test_the_language_that_is_set_wins_over_the_environment(home: Path, earlier: TurnRecord):
    (home / "settings.toml").write_text('language = "zh"\n')
    assert "[L0 · 默认]" in macaron("history", "show", earlier.conversation_id).out


def test_control_sequences_in_what_was_stored_reach_no_terminal(hostile: TurnRecord):
    shown = macaron("history", "show", hostile.conversation_id)
    listed = macaron("history", "list")
    found = macaron("history", "search", "tea")
    for done in (shown, listed, found):
        assert done.code == 0 and "evil" in done.out
        assert is_inert(done.out), done.out


def test_scripts_get_every_character_escaped_so_that_a_terminal_is_safe_from_it(hostile: TurnRecord):
    shown = macaron("history", "show", hostile.conversation_id, "--json")
    assert is_inert(shown.out)
    assert shown.json["turns"][0]["answer_text"] == HOSTILE


def test_an_unknown_conversation_is_a_usage_error(earlier: TurnRecord):
    assert "no conversation `c-none`" in complaint(macaron("history", "show", "c-none"), 2)
    assert "not valid UTF-8" in complaint(macaron("history", "search", b"caf\xe9"), 2)


def test_no_history_while_another_process_holds_the_home(home: Path, earlier: TurnRecord):
    with hold_home(Paths(home)):
        said = complaint(macaron("history", "list"), 1)
        assert "Another macaron (process " in said and str(home) in said
        assert "Another macaron" in macaron("history", "search", "tea", "--json").json["error"]["problem"]
