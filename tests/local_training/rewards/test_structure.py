"""Rewards for JSON and for calls of tools."""

import json

import pytest

from engine.harness.tool_calls import ToolCall
from local_training.rewards import RewardProblem, build_reward
from local_training.tasks import RewardSpec
from tests.local_training.rewards.judging import judge, outcome

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [
    {"name": "weather", "description": "Weather now", "parameters": SCHEMA | {"additionalProperties": False}},
    {"name": "clock"},
]


@pytest.mark.parametrize(
    ("said", "value", "reason"),
    [
        pytest.param('{"city": "奥斯陆"}', 1, "matches the schema", id="bare"),
        pytest.param('```json\n{"city": "Oslo"}\n```', 1, "matches the schema", id="fenced"),
        pytest.param('Sure: {"city": "Oslo"}', 0, "it is no JSON", id="with_talk"),
        pytest.param('{"town": "Oslo"}', 0, "lacks `city`", id="mismatch"),
        pytest.param('{"city": "Oslo", "city": "Rome"}', 0, "`city` twice", id="key_twice"),
        pytest.param('{"city": NaN}', 0, "NaN", id="nan"),
        pytest.param("[" * 5000, 0, "nested", id="endless"),
        pytest.param("", 0, "it is no JSON", id="empty"),
    ],
)
def test_json_must_be_all_there_is_and_match(said, value, reason):
    result = judge("json_schema", said, schema=SCHEMA)
    assert (result.value, reason in result.reason) == (value, True), result.reason


def call(name: str, arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


@pytest.mark.parametrize(
    ("said", "parameters", "value"),
    [
        pytest.param(call("weather", {"city": "Oslo"}), {}, 1, id="valid"),
        pytest.param("Let me look.\n" + call("weather", {"city": "Oslo"}), {}, 1, id="with_talk"),
        pytest.param("It is sunny.", {}, 0, id="no_call"),
        pytest.param(call("stocks", {"city": "Oslo"}), {}, 0, id="unknown_tool"),
        pytest.param(call("weather", {"town": "Oslo"}), {}, 0, id="wrong_arguments"),
        pytest.param(call("weather", {"city": 5}), {}, 0, id="wrong_type"),
        pytest.param(call("clock", {}), {"expected_name": "weather"}, 0, id="another_tool"),
        pytest.param(call("clock", {}), {"expected_name": "clock"}, 1, id="the_tool"),
        pytest.param(call("clock", {}) * 2, {"expected_name": "clock"}, 0, id="the_tool_twice"),
        pytest.param(call("clock", {}) + call("weather", {}), {}, 0, id="one_of_two_is_wrong"),
        pytest.param(
            call("weather", {"city": "Oslo"}),
            {"expected_name": "weather", "expected_arguments": {"city": "Rome"}},
            0,
            id="other_arguments",
        ),
        pytest.param(
            call("weather", {"city": "Oslo"}),
            {"expected_name": "weather", "expected_arguments": {"city": "Oslo"}},
            1,
            id="the_arguments",
        ),
        pytest.param(
            "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
            {"style": "xml"},
            1,
            id="xml",
        ),
        pytest.param('{"name": "clock", "parameters": {}}', {"style": "bare"}, 1, id="bare"),
    ],
)
def test_calls_must_be_of_known_tools_with_arguments_that_match(said, parameters, value):
    assert judge("tool_call", said, tools=TOOLS, **parameters).value == value


def test_calls_that_the_harness_has_read_are_taken_as_they_are():
    said = outcome("", calls=(ToolCall("weather", '{"city": "Oslo"}'),))
    assert judge("tool_call", said, tools=TOOLS).value == 1
    assert judge("tool_call", outcome(call("clock", {}), calls=()), tools=TOOLS).value == 0


@pytest.mark.parametrize(
    "arguments",
    [pytest.param("{", id="broken"), pytest.param("[]", id="list"), pytest.param('{"city": NaN}', id="nan")],
)
def test_arguments_that_are_no_object_are_wrong(arguments):
    assert judge("tool_call", outcome("", calls=(ToolCall("weather", arguments),)), tools=TOOLS).value == 0


@pytest.mark.parametrize(
    ("reward", "parameters", "reason"),
    [
        pytest.param("json_schema", {}, "neither an object", id="no_schema"),
        pytest.param("json_schema", {"schema": {"format": "x", "pattern": "y"}}, "not supported", id="keyword"),
        pytest.param("tool_call", {"tools": []}, "list of tools", id="no_tools"),
        pytest.param("tool_call", {"tools": [{"name": ""}]}, "no name", id="nameless"),
        pytest.param("tool_call", {"tools": [{"name": "a", "strict": True}]}, "a tool must have", id="unknown_field"),
        pytest.param(
            "tool_call", {"tools": [{"name": "a", "parameters": []}]}, "no object", id="parameters_are_a_list"
        ),
        pytest.param("tool_call", {"tools": TOOLS, "expected_name": "x"}, "none of the tools", id="unknown_expected"),
        pytest.param("tool_call", {"tools": TOOLS, "expected_arguments": {}}, "go with", id="arguments_alone"),
    ],
)
def test_wrong_parameters_are_refused(reward, parameters, reason):
    with pytest.raises(RewardProblem, match=reason):
        build_reward(RewardSpec(reward, parameters))
