"""`macaron ask` answers with a real model: an object for scripts, plain text for people, UTF-8 in and out."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.ask import _noting
from app.opening import open_store
from app.paths import Paths
from engine.events import ToolCalled, ToolReturned
from tests.app.running import Done, command, environment, macaron
from tests.support.hosting import end_host, host_pid

pytestmark = pytest.mark.model

FRANCE = "What is the capital of France?"
KEYS = ["conversation_id", "turn_id", "text", "route", "usage", "usage_other", "timing_ms", "stopped", "calls"]


@pytest.fixture(scope="module")
def asked_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose host, which the first question starts, answers the second one too."""
    home = tmp_path_factory.mktemp("asked") / "home"
    yield home
    end_host(home)


@pytest.fixture(scope="module")
def first(asked_home: Path, starter_base: Path) -> Done:
    return macaron("ask", FRANCE, "--json", "--home", str(asked_home))


@pytest.fixture(scope="module")
def second(asked_home: Path, first: Done) -> Done:
    conversation = first.json["conversation_id"]
    return macaron("ask", "And of Italy?", "--json", "--conversation", conversation, "--home", str(asked_home))


def test_the_starter_knows_the_capital_of_france(first: Done):
    assert first.code == 0
    assert "Paris" in first.json["text"]
    assert first.err == ""


def test_json_has_the_documented_keys_and_no_others(first: Done):
    answer = first.json
    assert list(answer) == KEYS
    assert set(answer["route"]) == {"expert", "reason", "scores"}
    assert set(answer["usage"]) == {"prompt_tokens", "reused_tokens", "completion_tokens"}
    assert set(answer["usage_other"]) == set(answer["usage"])
    assert set(answer["timing_ms"]) == {"route", "first_token", "total"}
    assert answer["stopped"] is False
    assert answer["calls"] == []


def test_calls_are_noted_with_what_came_of_them() -> None:
    called = ToolCalled(turn_id="t", number=1, call=1, tool="add_note", arguments='{"title": "Tea"}')
    returned = ToolReturned(
        turn_id="t", number=3, call=2, tool="web_fetch", state="refused", text="No.", is_tainted=False, seconds=0.0
    )
    events = [
        called,
        replace(called, number=2, call=2, tool="web_fetch", source="clock"),
        returned,
        replace(returned, number=4, call=1, tool="add_note", state="done", text="Noted.", seconds=0.12345),
    ]
    calls: list[dict[str, Any]] = []
    assert list(_noting(iter(events), calls)) == events
    assert calls[0] == {
        "tool": "add_note",
        "source": "",
        "arguments": '{"title": "Tea"}',
        "state": "done",
        "result": "Noted.",
        "tainted": False,
        "seconds": 0.123,
    }
    assert (calls[1]["source"], calls[1]["state"]) == ("clock", "refused")


def test_the_router_scored_every_expert_and_chose_one_of_them(first: Done):
    route = first.json["route"]
    assert set(route["scores"]) == {"L0", "L1", "L2", "L3"}
    assert all(score < 0 for score in route["scores"].values())
    assert route["expert"] in route["scores"]
    assert route["reason"] in ("best", "default")


@pytest.mark.parametrize("which", ["first", "second"])
def test_counts_and_times_of_a_turn_agree_with_each_other(which: str, request: pytest.FixtureRequest):
    answer = request.getfixturevalue(which).json
    usage, timing = answer["usage"], answer["timing_ms"]
    assert 0 <= usage["reused_tokens"] < usage["prompt_tokens"]
    assert usage["completion_tokens"] > 0
    assert answer["usage_other"]["prompt_tokens"] > 0, "the route has been read"
    assert 0 < timing["route"] < timing["first_token"] <= timing["total"]


def test_what_was_printed_is_what_was_stored(asked_home: Path, first: Done):
    answer = first.json
    shown = macaron("history", "show", answer["conversation_id"], "--json", "--home", str(asked_home))
    turn = shown.json["turns"][0]
    assert (turn["user_text"], turn["answer_text"], turn["state"]) == (FRANCE, answer["text"], "answered")
    assert turn["usage"]["prompt_tokens"] == answer["usage"]["prompt_tokens"]
    assert turn["route"]["expert"] == answer["route"]["expert"]


def test_a_second_question_goes_on_in_the_conversation_that_is_named(asked_home: Path, first: Done, second: Done):
    assert second.code == 0
    assert second.json["conversation_id"] == first.json["conversation_id"]
    assert second.json["usage"]["prompt_tokens"] > first.json["usage"]["prompt_tokens"]
    assert host_pid(asked_home) is not None, "the host ended with the question that started it"
    shown = macaron("history", "show", second.json["conversation_id"], "--json", "--home", str(asked_home))
    assert [turn["user_text"] for turn in shown.json["turns"]] == [FRANCE, "And of Italy?"]


def test_the_plain_answer_alone_goes_to_standard_output():
    done = macaron("ask", "--alone", FRANCE)
    assert done.code == 0
    assert "Paris" in done.out and done.out.endswith("\n")
    assert done.err == "", "progress is for terminals"


def test_a_question_on_standard_input_is_asked_without_the_line_end_that_ends_it(home: Path):
    done = macaron("ask", "--alone", "--json", "-", given=f"{FRANCE}\n".encode())
    assert done.code == 0
    with open_store(Paths(home)) as store:
        assert store.turn(done.json["turn_id"]).user_text == FRANCE


def test_chinese_goes_in_and_out_as_utf_8_where_the_locale_knows_only_ascii(home: Path, brief_profile: Path):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": None}
    question = "请只用中文说一句话：你好。"
    done = macaron("ask", "--alone", question.encode(), "--json", "--profile", str(brief_profile), changes=ascii_only)
    assert done.code == 0, done
    found = macaron("history", "search", "中文".encode(), changes=ascii_only)
    assert question in found.out


def test_an_expert_is_pinned_by_an_option(home: Path, brief_profile: Path):
    done = macaron("ask", "--alone", "hello", "--expert", "L2", "--json", "--profile", str(brief_profile))
    assert done.json["route"] == {"expert": "L2", "reason": "pinned", "scores": {}}


def test_an_expert_is_pinned_by_the_beginning_of_the_text_which_is_then_left_out(home: Path, brief_profile: Path):
    done = macaron("ask", "--alone", "@L2 hello", "--json", "--profile", str(brief_profile))
    assert done.json["route"] == {"expert": "L2", "reason": "pinned", "scores": {}}
    with open_store(Paths(home)) as store:
        assert store.turn(done.json["turn_id"]).user_text == "hello"


def test_a_reader_that_goes_away_ends_the_answer_quietly_and_what_was_said_is_kept(home: Path):
    with subprocess.Popen(
        command("ask", "--alone", "Count from one to one hundred in words."),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        assert child.stdout.read(1)
        child.stdout.close()
        assert child.wait(timeout=30) == 1
        assert child.stderr.read() == b""
    with open_store(Paths(home)) as store:
        (conversation,) = store.conversations()
        assert conversation.leaf_turn_id is not None
        turn = store.turn(conversation.leaf_turn_id)
    assert turn.state == "stopped" and turn.answer_text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_an_error_that_names_the_reason(home: Path):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command("history", "list", "--json"), stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
        )
    assert done.returncode == 1
    assert done.stderr.decode().startswith("error: The output cannot be written: No space left on device.\nhint: ")


def test_the_installed_command_and_the_module_are_the_same_program():
    module = macaron("--help")
    command_code = "import sys; sys.argv[0] = 'macaron'; from app.cli import main; main()"
    installed = subprocess.run(
        [sys.executable, "-c", command_code, "--help"], capture_output=True, env=environment(), check=False
    )
    assert module.code == installed.returncode == 0
    assert module.out == installed.stdout.decode()
    assert module.out.startswith("Usage: macaron ")
