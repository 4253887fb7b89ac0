"""What runs by itself, what asks and what never runs: every rule is one line here."""

import json
from dataclasses import replace

import pytest

from engine.harness.permissions import Circumstances, Decision, Mode, Rule, decide, pattern_for, subject_of
from engine.harness.tool_calls import Tool, ToolCall
from engine.harness.tools.values import Reach, ToolSpec

MODES: tuple[Mode, ...] = ("ask", "plan", "auto")


def spec(reach: Reach, *, changes: bool = False) -> ToolSpec:
    return ToolSpec(Tool("do"), reach, changes)


def call(**arguments: object) -> ToolCall:
    return ToolCall("do", json.dumps(arguments))


@pytest.mark.parametrize(
    ("reach", "changes", "expected"),
    [
        ("nothing", False, {"ask": "run", "plan": "run", "auto": "run"}),
        ("own_data", False, {"ask": "run", "plan": "run", "auto": "run"}),
        ("own_data", True, {"ask": "ask", "plan": "refuse", "auto": "run"}),
        ("files", False, {"ask": "run", "plan": "run", "auto": "run"}),
        ("files", True, {"ask": "ask", "plan": "refuse", "auto": "run"}),
        ("program", False, {"ask": "ask", "plan": "ask", "auto": "run"}),
        ("program", True, {"ask": "ask", "plan": "refuse", "auto": "run"}),
        ("network", False, {"ask": "ask", "plan": "ask", "auto": "run"}),
        ("network", True, {"ask": "ask", "plan": "refuse", "auto": "run"}),
    ],
)
def test_a_mode_says_what_runs_by_itself(reach: Reach, changes: bool, expected: dict[Mode, str]):
    found = {mode: decide(spec(reach, changes=changes), call(), Circumstances(mode)).verdict for mode in MODES}
    assert found == expected


@pytest.mark.parametrize("mode", MODES)
def test_what_was_forbidden_never_runs_even_where_it_was_also_allowed(mode: Mode):
    rules = (Rule("do", "*", allows=True), Rule("do", "/secret/*", allows=False))
    asked = Circumstances(mode, rules)
    assert decide(spec("files"), call(path="/secret/key"), asked) == Decision("refuse", "forbidden")
    assert decide(spec("files"), call(path="/open/key"), asked).verdict == "run"


def test_what_was_allowed_for_good_is_not_asked_for_again_but_stays_out_of_a_plan():
    rules = (Rule("do", "/notes/*", allows=True),)
    write = spec("files", changes=True)
    assert decide(write, call(path="/notes/a.md"), Circumstances("ask", rules)) == Decision("run", "allowed")
    assert decide(write, call(path="/other/a.md"), Circumstances("ask", rules)).verdict == "ask"
    assert decide(write, call(path="/notes/a.md"), Circumstances("plan", rules)) == Decision("refuse", "plan")


@pytest.mark.parametrize("mode", ["ask", "auto"])
def test_without_a_sandbox_every_program_is_asked_for(mode: Mode):
    rules = (Rule("do", "*", allows=True),)
    asked = Circumstances(mode, rules, has_sandbox=False)
    assert decide(spec("program", changes=True), call(), asked) == Decision("ask", "no_sandbox")
    denied = replace(asked, without_sandbox="deny")
    assert decide(spec("program", changes=True), call(), denied) == Decision("refuse", "no_sandbox")


@pytest.mark.parametrize("mode", ["ask", "auto"])
def test_F1_after_text_of_others_everything_that_leaves_the_machine_is_asked_for(mode: Mode):
    rules = (Rule("do", "*", allows=True),)
    clean = Circumstances(mode, rules)
    assert decide(spec("network"), call(url="https://a.example"), clean).verdict == "run"
    tainted = replace(clean, is_tainted=True)
    assert decide(spec("network"), call(url="https://a.example"), tainted) == Decision("ask", "leaves_tainted")


@pytest.mark.parametrize("reach", ["program", "network", "own_data"])
def test_E6_where_nobody_can_be_asked_what_would_be_asked_for_is_refused(reach: Reach):
    asked = Circumstances("ask", can_ask=False)
    assert decide(spec(reach, changes=True), call(), asked) == Decision("refuse", "nobody")
    assert decide(spec("own_data"), call(), asked).verdict == "run"


def test_E5_a_rule_is_of_one_tool_alone():
    rules = (Rule("other", "*", allows=True),)
    assert decide(spec("network"), call(), Circumstances("ask", rules)).verdict == "ask"


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        ({"path": "/a/b.txt", "text": "x"}, "/a/b.txt"),
        ({"folder": "/a"}, "/a"),
        ({"path": "/a/../etc//passwd"}, "/etc/passwd"),
        ({"path": ""}, ""),
        ({"url": "https://Example.org:8080/x?q=1"}, "example.org"),
        ({"url": "not an address"}, "not an address"),
        ({"b": 1, "a": "é"}, '{"a": "é", "b": 1}'),
        ({"path": 3}, '{"path": 3}'),
    ],
)
def test_a_call_is_about_the_path_or_host_it_names_or_else_all_of_it(arguments: dict[str, object], subject: str):
    assert subject_of(ToolCall("do", json.dumps(arguments, ensure_ascii=False))) == subject


@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"a": ', "null"])
def test_arguments_that_are_no_object_are_about_themselves(text: str):
    assert subject_of(ToolCall("do", text)) == text


@pytest.mark.parametrize("path", ["/a/b.txt", "/a/[draft]*?.txt", "/a/*", "/a/ü [1].md"])
def test_E5_always_covers_the_same_file_and_no_other(path: str):
    rule = Rule("do", pattern_for(call(path=path)), allows=True)
    assert rule.covers(call(path=path, text="anything"))
    assert not rule.covers(call(path=path + "x"))
    assert not rule.covers(call(path="/a/other"))


def test_E5_no_way_around_leads_out_of_what_was_allowed_or_past_what_was_forbidden():
    rules = (Rule("do", "/notes/*", allows=True), Rule("do", "/secret/*", allows=False))
    write, asked = spec("files", changes=True), Circumstances("ask", rules)
    assert decide(write, call(path="/notes/../home/x"), asked).verdict == "ask"
    assert decide(write, call(path="/notes/./../secret/key"), asked).verdict == "refuse"


def test_E5_always_for_an_address_covers_its_host():
    rule = Rule("do", pattern_for(call(url="https://a.example/1")), allows=True)
    assert rule.covers(call(url="http://A.example:99/2"))
    assert not rule.covers(call(url="https://a.example.org/1"))
    assert not rule.covers(call(url="https://evil.example/?a.example"))
