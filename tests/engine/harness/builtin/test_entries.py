"""Arguments of a model are checked against the schema it was shown, and what was shown is what is done."""

import json
import threading

import pytest
from pydantic import Field

from engine.errors import ScoringStopped, UnknownName, UsageProblem
from engine.harness.builtin.entries import Arguments, EntryToolbox, ShownStates, entry, read_arguments, shortened
from engine.harness.builtin.interrupting import run_until
from engine.harness.schema_reading import read_schema
from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import Invocation, Preview, ToolResult
from engine.runtime.protocol import NEVER


class Greet(Arguments):
    """Greet someone
    politely."""

    name: str = Field(max_length=20)
    times: int = Field(default=1, ge=1, le=3)


def greet(asked: Greet, invocation: Invocation) -> ToolResult:
    if asked.name == "nobody":
        raise UsageProblem("There is nobody.", "Name somebody.")
    return ToolResult("Hello. " * asked.times)


@pytest.fixture
def toolbox() -> EntryToolbox:
    def preview(asked: Greet, invocation: Invocation) -> Preview:
        return Preview(f"Greet {asked.name}", "")

    return EntryToolbox([entry(Greet, "greet", "network", False, preview, greet)])


def test_the_schema_is_made_from_the_arguments_and_can_be_enforced(toolbox):
    (spec,) = toolbox.specs()
    assert spec.tool.description == "Greet someone politely."
    assert spec.tool.parameters["required"] == ["name"]
    assert "title" not in json.dumps(spec.tool.parameters)
    read_schema(spec.tool.parameters, strict=False)


def test_numbers_written_as_text_are_taken(toolbox, call):
    assert toolbox.run(call("greet", name="Ada", times="2")).text == "Hello. Hello. "


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param("{", "no JSON", id="no_json"),
        pytest.param("[1]", "valid dictionary", id="no_object"),
        pytest.param("{}", "name: Field required", id="missing"),
        pytest.param('{"name": "a", "loud": true}', "loud: Extra", id="unknown"),
        pytest.param('{"name": "a", "name": "b"}', "twice", id="twice"),
        pytest.param('{"name": "a", "times": 9}', "times", id="too_large"),
        pytest.param('{"name": "\\ud800"}', "half of a character", id="half_a_character"),
        pytest.param('{"name": "' + "x" * 3_000_000 + '"}', "characters", id="endless"),
        pytest.param("[" * 100_000, "deep", id="deep"),
    ],
)
def test_wrong_arguments_are_named_and_nothing_runs(toolbox, arguments, said):
    invocation = Invocation(ToolCall("greet", arguments), "c", "t", NEVER)
    with pytest.raises(UsageProblem, match=said):
        toolbox.preview(invocation)
    result = toolbox.run(invocation)
    assert result.is_error
    assert said in result.text


def test_a_tool_of_another_box_is_refused(toolbox, call):
    with pytest.raises(UnknownName, match="no tool"):
        toolbox.preview(call("shout"))
    assert toolbox.run(call("shout")).text == "There is no tool `shout` here. Use one of: greet."


def test_an_error_of_the_tool_is_a_result_that_says_what_to_do(toolbox, call):
    result = toolbox.run(call("greet", name="nobody"))
    assert (result.text, result.is_error, result.is_tainted) == ("There is nobody. Name somebody.", True, True)


def test_nothing_runs_once_it_is_stopped(toolbox, call):
    stop = threading.Event()
    stop.set()
    with pytest.raises(ScoringStopped):
        toolbox.run(call("greet", name="Ada", stop=stop))


def test_E5_a_change_since_it_was_shown_is_refused_once_and_only_for_that_call(call):
    shown = ShownStates()
    seen, other = call("greet", name="Ada"), call("greet", name="Bob")
    shown.remember(seen, "before")
    shown.check(other, "anything", "Bob")
    with pytest.raises(UsageProblem, match="Ada has changed"):
        shown.check(seen, "after", "Ada")
    shown.remember(seen, "after")
    shown.check(seen, "after", "Ada")


def test_what_waits_is_left_at_once_when_it_is_stopped():
    stop, begun, ended = threading.Event(), threading.Event(), threading.Event()

    def work(is_given_up):
        begun.set()
        stop.set()
        while not is_given_up():
            threading.Event().wait(0.01)
        ended.set()

    with pytest.raises(ScoringStopped):
        run_until(work, stop, 60.0, "The work")
    assert ended.wait(5.0)


def test_what_takes_too_long_is_left():
    with pytest.raises(UsageProblem, match="longer than 0 seconds"):
        run_until(lambda is_given_up: threading.Event().wait(2.0), NEVER, 0.1, "The work")


@pytest.mark.parametrize("error", [UsageProblem("Wrong.", ""), TimeoutError("Its own.")], ids=["ours", "a_timeout"])
def test_an_error_of_the_work_is_raised_where_it_is_waited_for(error):
    def work(is_given_up):
        raise error

    with pytest.raises(type(error), match=r"Wrong|Its own"):
        run_until(work, NEVER, 5.0, "The work")


def test_arguments_without_text_are_no_arguments():
    class Nothing(Arguments):
        """Do nothing."""

    assert read_arguments(Nothing, "") == Nothing()
    assert shortened("a  b\nc", 10) == "a b c"
    assert shortened("abcdef", 4) == "abc…"
