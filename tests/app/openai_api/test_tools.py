"""Tool calls that go to the client and come back as results, through the official client."""

import json

import pytest
from openai import BadRequestError

PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 30},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city", "unit"],
    "additionalProperties": False,
}
WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "Weather.", "parameters": PARAMETERS}}
TIME = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}
QUESTION = {"role": "user", "content": "What is the weather in Oslo?"}
NAMED = {"type": "function", "function": {"name": "get_time"}}


def ask(client, *messages, **options):
    options = {"model": "macaron:L1", "tools": [WEATHER, TIME], "max_tokens": 100, "seed": 1, **options}
    return client.chat.completions.create(messages=messages or (QUESTION,), **options)


@pytest.mark.parametrize("seed", range(3))
def test_a_required_call_is_one_that_the_schema_allows(client, seed):
    choice = ask(client, tool_choice="required", temperature=1.0, seed=seed).choices[0]
    (call,) = choice.message.tool_calls
    assert choice.finish_reason == "tool_calls" and choice.message.content is None
    assert call.id.startswith("call_") and call.type == "function"
    arguments = json.loads(call.function.arguments)
    if call.function.name == "get_weather":
        assert set(arguments) == {"city", "unit"} and arguments["unit"] in ("celsius", "fahrenheit")
    else:
        assert (call.function.name, arguments) == ("get_time", {})


def test_a_named_call_is_of_that_name(client):
    (call,) = ask(client, tool_choice=NAMED).choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("get_time", "{}")


def test_a_stream_carries_calls_as_the_client_gathers_them(client):
    with client.chat.completions.stream(
        model="macaron:L1", messages=[QUESTION], tools=[WEATHER], tool_choice="required", max_tokens=100
    ) as stream:
        for _ in stream:
            pass
        done = stream.get_final_completion()
    (call,) = done.choices[0].message.tool_calls
    assert call.function.name == "get_weather"
    assert set(json.loads(call.function.arguments)) == {"city", "unit"}
    assert done.choices[0].finish_reason == "tool_calls"


def test_parallel_calls_are_allowed_up_to_a_number_where_they_are_asked_for(client):
    choice = ask(client, tool_choice="required", parallel_tool_calls=True, max_tokens=300).choices[0]
    assert 1 <= len(choice.message.tool_calls or []) <= 8


def test_the_result_of_a_call_is_read_by_the_model(client):
    first = ask(client, tool_choice="required").choices[0].message
    result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "It is raining frogs in Oslo."}
    then = ask(client, QUESTION, first.model_dump(exclude_none=True), result, tool_choice="none")
    assert then.choices[0].message.content
    assert then.choices[0].finish_reason in ("stop", "length")


def test_a_choice_left_to_the_model_never_fails(client):
    choice = ask(client, tool_choice="auto").choices[0]
    assert choice.message.content or choice.message.tool_calls


def test_with_no_tool_wanted_none_is_called(client):
    assert ask(client, tool_choice="none").choices[0].message.tool_calls is None


def changed(**function):
    return {"type": "function", "function": {**WEATHER["function"], **function}}


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"tool_choice": {"type": "function", "function": {"name": "get_rich"}}}, id="unknown_name"),
        pytest.param({"tool_choice": "required", "tools": []}, id="required_without_tools"),
        pytest.param({"tool_choice": {"type": "custom", "custom": {"name": "x"}}}, id="custom_choice"),
        pytest.param({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, id="custom_tool"),
        pytest.param({"tools": [WEATHER, WEATHER]}, id="same_name_twice"),
        pytest.param({"tools": [changed(name="no spaces")]}, id="name_with_space"),
        pytest.param({"tools": [changed(name="x" * 65)]}, id="long_name"),
        pytest.param({"tools": [changed(parameters={"type": "array"})], "tool_choice": "required"}, id="no_object"),
        pytest.param({"tools": [changed(strict=True, parameters={"pattern": "(a+)+"})]}, id="strict_pattern"),
        pytest.param({"tools": [WEATHER] * 129}, id="too_many"),
        pytest.param(
            {"tool_choice": "required", "response_format": {"type": "json_object"}}, id="call_and_format_at_once"
        ),
        pytest.param({"extra_body": {"functions": [{"name": "old"}]}}, id="the_old_way"),
    ],
)
def test_tools_that_make_no_sense_are_refused(client, options):
    with pytest.raises(BadRequestError):
        ask(client, **options)
