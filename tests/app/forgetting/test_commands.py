"""`macaron history forget`: says what would go, asks, and says what has gone and what is left; in both languages."""

import json
from pathlib import Path

import pytest

from app.cli.history import history
from app.opening import open_store
from app.paths import Paths
from engine.forgetting import MARK
from engine.values import TurnRecord
from tests.app.conftest import ANSWERED, SAID
from tests.app.forgetting.learned import learned
from tests.app.running import complaint, macaron
from tests.support.remnants import files_with


def said_in(home: Path, turn_id: str) -> tuple[str, str]:
    with open_store(Paths(home)) as store:
        turn = store.turn(turn_id)
    return turn.user_text, turn.answer_text


def test_a_turn_is_forgotten_and_what_went_is_said(home: Path, earlier: TurnRecord):
    done = macaron("history", "forget", earlier.turn_id, "--yes")
    assert done.code == 0
    assert done.out.startswith("Forgotten:\n  messages and answers: 2\n")
    assert said_in(home, earlier.turn_id) == (MARK, MARK)
    assert files_with(home, SAID, ANSWERED) == []
    assert macaron("history", "search", "coffee").out == ""


def test_words_are_read_from_standard_input_so_that_no_list_of_commands_holds_them(home: Path, earlier: TurnRecord):
    done = macaron("history", "forget", earlier.conversation_id, "--span", "-", "--yes", given="拿铁\n".encode())
    assert done.code == 0
    assert said_in(home, earlier.turn_id) == (SAID, ANSWERED.replace("拿铁", MARK))
    assert files_with(home, "拿铁") == []


def test_it_is_said_in_chinese_where_that_is_spoken(earlier: TurnRecord):
    done = macaron("history", "forget", earlier.turn_id, "--yes", changes={"LC_ALL": None, "LANG": "zh_CN.UTF-8"})
    assert done.out.startswith("已遗忘：\n  消息和回答: 2\n")


def test_scripts_get_what_went_as_one_object(home: Path):
    taught = learned(home)
    looked = macaron("history", "forget", taught.turn_ids[0], "--preview", "--json").json
    assert (looked["is_done"], said_in(home, taught.turn_ids[0])[0] == MARK) == (False, False)
    done = macaron("history", "forget", taught.turn_ids[0], "--yes", "--json").json
    assert done["places"] == looked["places"] and done["is_done"] and done["is_scrubbed"]
    (adapter,) = done["adapters"]
    assert (adapter["content_hash"], adapter["was_answering"]) == (taught.record.content_hash, True)
    assert adapter["corrections"] == 7


def test_what_follows_for_an_expert_is_said_with_the_command_that_teaches_it_anew(home: Path):
    taught = learned(home, others=8)
    out = macaron("history", "forget", taught.turn_ids[0], "--yes").out
    assert f"Adapter {taught.record.content_hash[:12]}, which answers for L0, is retired for good" in out
    assert "8 corrections are left for L0; to teach it anew from these: macaron teach --expert L0" in out


def test_a_preview_changes_nothing(home: Path, earlier: TurnRecord):
    done = macaron("history", "forget", earlier.turn_id, "--preview")
    assert done.code == 0 and done.out.startswith("This will go, and cannot be brought back:\n")
    assert said_in(home, earlier.turn_id) == (SAID, ANSWERED)


def test_who_says_no_keeps_it(home: Path, earlier: TurnRecord, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr("app.cli.history.is_terminal", lambda _stream: True)
    monkeypatch.setattr("click.confirm", lambda _question: False)
    assert history.main(["forget", earlier.turn_id], standalone_mode=False) == 0
    assert "Nothing was forgotten." in capsys.readouterr().out
    assert said_in(home, earlier.turn_id) == (SAID, ANSWERED)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        pytest.param(["t-none", "--yes"], 2, "no conversation `t-none`", id="no such turn"),
        pytest.param(["--yes"], 2, "not clear what is to be forgotten", id="nothing"),
        pytest.param(["--span", "words", "--yes"], 2, "--everywhere", id="words of nothing"),
        pytest.param(["--span", "x", "--everywhere", "--yes"], 2, "2 characters", id="a letter"),
        pytest.param(["t-none"], 2, "--yes", id="nobody to be asked"),
    ],
)
def test_what_cannot_be_done_says_why(earlier: TurnRecord, arguments: list[str], code: int, told: str):
    assert told in complaint(macaron("history", "forget", *arguments), code)


def test_words_that_are_not_there_are_refused(earlier: TurnRecord):
    assert "Nothing there says that" in complaint(
        macaron("history", "forget", earlier.turn_id, "--span", "tea", "--yes"), 2
    )


def test_the_same_words_elsewhere_are_counted_with_the_command_for_them(home: Path, earlier: TurnRecord):
    with open_store(Paths(home)) as store:
        store.open_turn("More 咖啡!", conversation_id=None, parent_turn_id=None, profile="starter")
    out = macaron("history", "forget", earlier.turn_id, "--span", "咖啡", "--yes").out
    assert "The same words were said elsewhere" in out and "macaron history forget --everywhere --span -" in out
    assert macaron("history", "forget", "--everywhere", "--span", "咖啡", "--yes").code == 0
    assert files_with(home, "咖啡") == []


def test_a_copy_is_named_as_what_it_is(home: Path, earlier: TurnRecord, tmp_path: Path):
    file = tmp_path / "it's.json"
    assert macaron("history", "export", "--all", "--format", "json", "--output", str(file)).code == 0
    out = macaron("history", "forget", earlier.turn_id, "--yes").out
    assert "export · 20" in out and "'\"'\"'s.json'" in out
    assert json.loads(file.read_text(encoding="utf-8"))["turns"][0]["user_text"] == SAID
