"""`macaron signals`: what was said of answers is listed, added, confirmed and erased, with and without a host."""

import json
from contextlib import closing
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from app.cli.signals import signals
from app.opening import open_store
from app.paths import Paths
from app.remote_client import connect
from engine.errors import BadText, HomeBusy, UnknownName, UsageProblem
from engine.signals.keeping import KeptSignals
from engine.values import Answer, Route, TurnRecord
from tests.app.conftest import ANSWERED, SAID
from tests.support.hosting import end_host, host_pid


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):
    """Run the verb and read what it printed; with --json the value."""

    def _printed(*arguments: str) -> Any:
        capsys.readouterr()
        assert signals.main([*arguments], prog_name="macaron signals", standalone_mode=False) == 0
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in arguments else out

    return _printed


def rate(home: Path, turn: TurnRecord, *ratings: int) -> None:
    with open_store(Paths(home)) as store:
        for rating in ratings:
            store.rate(turn.turn_id, rating)


def test_an_empty_list_says_what_would_be_in_it(home, printed, monkeypatch):
    assert printed("list").startswith("Nothing yet.")
    assert printed("list", "--json") == {"signals": [], "next": None}
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert printed("list").startswith("还没有内容")


def test_a_better_answer_is_added_to_the_last_answer_or_to_the_one_that_is_named(home, earlier, printed):
    assert printed("add", "拿铁 is Italian.") == "Noted as signal 1.\n"
    added = printed("add", "Tea.", "--turn", earlier.turn_id, "--edit", "--json")
    assert (added["kind"], added["text"], added["source"], added["is_tainted"]) == ("edit", "Tea.", "typed", False)
    with open_store(Paths(home)) as store:
        (correction,) = KeptSignals(store.database).corrections("L0")
    assert (correction.prompt, correction.before, correction.after) == (SAID, ANSWERED, "Tea.")


def test_what_comes_through_a_pipe_waits_to_be_confirmed(home, earlier, printed, monkeypatch):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO("拿铁.\n".encode())))
    assert "macaron signals confirm 1" in printed("add", "-")
    assert "not confirmed" in printed("list")
    assert printed("confirm", "1").startswith("Confirmed")
    assert "not confirmed" not in printed("list")


def test_without_a_text_or_an_answer_it_says_what_is_missing(home, printed, monkeypatch):
    with pytest.raises(UsageProblem, match="no answer yet"):
        printed("add", "Tea.")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(BadText, match="No better answer was given"):
        printed("add")


def test_a_list_has_a_line_for_each_the_newest_first_and_says_how_to_go_on(home, earlier, printed):
    rate(home, earlier, 1, -1, 0)
    printed("add", "Tea.\nWith milk.")
    heads, *rows, more = printed("list", "--limit", "3").splitlines()
    assert heads.split() == ["number", "day", "kind", "state", "text"]
    assert [row.split()[0] for row in rows] == ["4", "3", "2"]
    assert "better answer" in rows[0] and "Tea. With milk." in rows[0]
    assert "thumb taken back" in rows[1] and "thumb down" in rows[2]
    assert more == "More with: --before 2"
    page = printed("list", "--before", "2", "--json")
    assert [(one["signal_id"], one["value"]) for one in page["signals"]] == [(1, 1)]
    assert page["next"] is None


def test_a_list_of_some_kinds_or_one_expert_holds_nothing_else(home, earlier, printed):
    rate(home, earlier, 1)
    printed("add", "Tea.")
    assert [one["kind"] for one in printed("list", "--kind", "thumb", "--json")["signals"]] == ["thumb"]
    assert len(printed("list", "--kind", "thumb", "--kind", "correction", "--json")["signals"]) == 2
    assert len(printed("list", "--expert", "l0", "--json")["signals"]) == 2
    assert printed("list", "--expert", "L2", "--json")["signals"] == []


def test_one_is_shown_with_its_question_and_its_answer(home, earlier, printed):
    printed("add", "拿铁 is\nwith milk.")
    shown = printed("show", "1")
    assert (
        f"asked:\n{SAID}\n" in shown and f"answered:\n{ANSWERED}\n" in shown and "better:\n拿铁 is\nwith milk." in shown
    )
    data = printed("show", "1", "--json")
    assert (data["asked"], data["answered"], data["turn_id"]) == (SAID, ANSWERED, earlier.turn_id)


def test_a_pick_is_shown_with_the_answer_that_was_passed_over(home, earlier, printed):
    with open_store(Paths(home)) as store:
        again = store.open_turn(SAID, conversation_id=earlier.conversation_id, parent_turn_id=None, profile="starter")
        store.close_turn(Answer(again.turn_id, "answered", "A drink.", Route("L0", "default")))
        KeptSignals(store.database).pick(again.turn_id)
    shown = printed("show", "1")
    assert "chosen of two" in shown and earlier.turn_id in shown and again.turn_id in shown


def test_control_sequences_in_a_better_answer_reach_no_terminal(home, earlier, printed):
    printed("add", "\x1b]0;owned\x07evil\u202e")
    for out in (printed("list"), printed("show", "1")):
        assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out


def test_erased_signals_are_gone_all_of_those_that_are_named_or_none(home, earlier, printed):
    for text in ("One.", "Two.", "Three."):
        printed("add", text)
    with pytest.raises(UnknownName, match="no signal 9"):
        printed("erase", "1", "9")
    assert len(printed("list", "--json")["signals"]) == 3
    assert printed("erase", "1", "3", "1", "--json") == {"erased": [1, 3]}
    assert [one["text"] for one in printed("list", "--json")["signals"]] == ["Two."]
    for verb in ("show", "confirm", "erase"):
        with pytest.raises(UnknownName, match="no signal 3"):
            printed(verb, "3")


def test_while_a_host_runs_all_of_it_goes_through_the_host(home, earlier, printed):
    with closing(connect(Paths(home))) as client:
        pid = host_pid(home)
        with pytest.raises(HomeBusy), open_store(Paths(home)):
            pytest.fail("the home is the host's")
        printed("add", "Tea.")
        pasted = client.correct(earlier.turn_id, "拿铁。", "edit", "pasted")
        assert [one["text"] for one in printed("list", "--json")["signals"]] == ["拿铁。", "Tea."]
        assert [found.after for found in client.corrections("L0")] == ["Tea."]
        assert client.confirm_signal(pasted.signal_id).is_tainted is False
        assert [found.after for found in client.corrections()] == ["拿铁。"]
        assert [one.kind for one in client.signals(limit=1, kinds=("edit", "thumb"))] == ["edit"]
        printed("erase", str(pasted.signal_id))
        assert [one.text for one in client.signals(before=pasted.signal_id)] == ["Tea."]
        with pytest.raises(UsageProblem, match="no other answer"):
            client.pick(earlier.turn_id)
        with pytest.raises(UsageProblem, match="What a program says"):
            client.correct(earlier.turn_id, "Tea!", "edit", "api")
        assert host_pid(home) == pid
    end_host(home)
