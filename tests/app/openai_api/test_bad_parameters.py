"""A-10: absurd parameters are refused quickly, in the API's own shape, and the engine never notices."""

import json
import random
import time

import httpx
import pytest

QUICK_S = 5.0
"""Of a refusal, on a busy machine; what is refused costs no decoding."""
HELLO = [{"role": "user", "content": "Hi"}]
CHAT = {"model": "macaron:L0", "messages": HELLO, "max_tokens": 1}


@pytest.fixture(scope="module")
def post(api):
    """Send anything to a path under /v1; the engine must be the same process afterwards."""
    engine_pid = api.engine_pid
    with httpx.Client(base_url=api.url, timeout=60) as client:

        def send(path, body):
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            return client.post(path, content=data, headers={"Content-Type": "application/json"})

        yield send
    assert api.engine_pid == engine_pid is not None


def refusal(post, path, body):
    """The error of a request that must be refused, and quickly."""
    started = time.monotonic()
    response = post(path, body)
    elapsed_s = time.monotonic() - started
    assert 400 <= response.status_code < 500, (response.status_code, response.text[:200])
    assert elapsed_s < QUICK_S
    error = response.json()["error"]
    assert error["message"] and set(error) == {"message", "type", "param", "code"}
    assert len(response.content) < 4096
    return error


def chat(**changes):
    return {**CHAT, **changes}


def raw(name, value):
    """A chat body in which `name` has a value that Python's JSON would not write."""
    return json.dumps(chat(**{name: "@"})).replace('"@"', value).encode()


def deep(depth):
    return b'{"model": "macaron", "messages": ' + b"[" * depth + b"]" * depth + b"}"


def with_schema(schema):
    return chat(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}})


def with_tool(parameters):
    tool = {"type": "function", "function": {"name": "t", "parameters": parameters}}
    return chat(tools=[tool], tool_choice="required")


def nested(depth):
    return {"type": "object", "properties": {"a": nested(depth - 1)}} if depth else {}


TWICE = {"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "array", "items": {"$ref": "#"}, "minItems": 1}]}

NUMBERS = [-1, -(10**30), 10**30, 1e308, "NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, '"1"', "true", "[]", "{}"]
NUMERIC = ["n", "max_tokens", "max_completion_tokens", "top_logprobs", "seed", "temperature", "top_p"]
NUMERIC += ["presence_penalty", "frequency_penalty"]


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("value", NUMBERS, ids=lambda value: str(value)[:12])
def test_A10_a_number_that_is_none_or_out_of_range_is_refused(post, name, value):
    if (name, value) in {("seed", -1), ("presence_penalty", -1), ("frequency_penalty", -1)}:
        assert post("/chat/completions", raw(name, str(value))).status_code == 200
    else:
        refusal(post, "/chat/completions", raw(name, str(value)))


BODIES = [
    pytest.param(chat(logit_bias={"1": 10**30}), id="logit_bias"),
    pytest.param(chat(logit_bias={"x": "y"}), id="logit_bias_text"),
    pytest.param(chat(stop=["x"] * 10_000), id="stops_10_000"),
    pytest.param(chat(stop="x" * 1_000_000), id="stop_1_MB"),
    pytest.param(chat(stop=["x" * 1_000_000]), id="stop_1_MB_listed"),
    pytest.param(chat(stop=""), id="stop_empty"),
    pytest.param(chat(stop=[1]), id="stop_number"),
    pytest.param(chat(messages=HELLO * 100_000), id="messages_100_000"),
    pytest.param(chat(messages=[{"role": "user", "content": "word " * 1_000_000}]), id="prompt_of_a_million_tokens"),
    pytest.param(chat(messages=[{"role": "user", "content": "word " * 9_000}]), id="prompt_a_little_too_long"),
    pytest.param(chat(messages=[{"role": "user", "content": [{"type": "text"}]}]), id="part_without_text"),
    pytest.param(chat(messages=[{"role": "user"}]), id="no_content"),
    pytest.param(chat(messages="Hi"), id="messages_a_text"),
    pytest.param(chat(messages={}), id="messages_an_object"),
    pytest.param(chat(messages=[{"role": "system", "content": "x"}]), id="system_only"),
    pytest.param(chat(model="macaron:" + "L" * 100_000), id="model_long"),
    pytest.param(chat(model="macaron:"), id="model_half"),
    pytest.param(chat(model=3), id="model_number"),
    pytest.param(chat(tools=[{"type": "function"}] * 10_000), id="tools_10_000"),
    pytest.param(chat(messages=[{"role": "user", "content": "\ud800"}]), id="half_a_character"),
    pytest.param({"messages": HELLO}, id="no_model"),
    pytest.param({"model": "macaron"}, id="no_messages"),
    pytest.param([], id="a_list"),
    pytest.param(b"", id="nothing"),
    pytest.param(b"{", id="half_an_object"),
    pytest.param(b'{"model": "macaron:L0\xff\xfe"}', id="no_utf_8"),
    pytest.param(b"\x00" * 100, id="zeros"),
    pytest.param(deep(10_000), id="depth_10_000"),
    pytest.param(deep(900), id="depth_900"),
    pytest.param(b'{"a":' * 100_000, id="depth_100_000_open"),
    pytest.param(b"[" + b"1," * 5_000_000 + b"1]", id="10_MB"),
    pytest.param(with_schema(TWICE), id="schema_ambiguous_in_itself"),
    pytest.param(with_schema({"$ref": "#"}), id="schema_refers_to_itself"),
    pytest.param(with_schema({"type": "object", "properties": {str(i): {} for i in range(10_000)}}), id="schema_wide"),
    pytest.param(with_schema(nested(300)), id="schema_deep"),
    pytest.param(with_schema({"enum": list(range(200_000))}), id="schema_enum"),
    pytest.param(with_schema({"type": "string", "pattern": "(a+)+$"}), id="schema_pattern"),
    pytest.param(with_schema({"type": "string", "pattern": "(" * 50_000}), id="schema_pattern_long"),
    pytest.param(with_schema({"type": "array", "minItems": 10**9}), id="schema_items"),
    pytest.param(with_schema({"type": "string", "maxLength": 10**9}), id="schema_length"),
    pytest.param(with_schema([]), id="schema_a_list"),
    pytest.param(with_tool(TWICE), id="tool_ambiguous_in_itself"),
    pytest.param(with_tool({"properties": {str(i): {} for i in range(10_000)}}), id="tool_wide"),
    pytest.param(with_tool({"properties": {"a": {"type": "string", "minLength": 10**9}}}), id="tool_length"),
    pytest.param(with_tool({"properties": {"a": {"$ref": "file:///etc/passwd"}}}), id="tool_refers_to_a_file"),
]


@pytest.mark.parametrize("body", BODIES)
def test_A10_an_absurd_request_is_refused(post, body):
    refusal(post, "/chat/completions", body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"model": "macaron", "input": "\ud800"}, id="half_a_character"),
        pytest.param({"model": "macaron", "input": [{"type": "message"}] * 100_000}, id="items_100_000"),
        pytest.param({"model": "macaron", "input": "x", "max_output_tokens": 10**12}, id="huge_limit"),
        pytest.param({"model": "macaron", "input": "x", "metadata": {"a": {"b": {}}}}, id="metadata"),
        pytest.param({"model": "macaron", "input": "x", "include": ["x"] * 100_000 + [1]}, id="include"),
        pytest.param({"model": "macaron", "input": "x", "previous_response_id": "y" * 100_000}, id="long_id"),
        pytest.param({"model": "macaron", "input": "word " * 100_000}, id="too_long"),
    ],
)
def test_A10_an_absurd_response_is_refused(post, body):
    refusal(post, "/responses", body)


VALUES = [None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 0.5, 1e300, "", "x", "\x00", "<|im_end|>", "日本語" * 50]
VALUES += [[], [1], ["a", "b"], [[[]]], [None], {}, {"type": "function"}, {"type": "json_object"}, {"type": "text"}]
VALUES += [{"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}, {"include_usage": True}, {"1": 2}]
NAMES = [*NUMERIC, "stop", "messages", "stream_options", "logprobs", "logit_bias", "response_format", "tools"]
NAMES += ["tool_choice", "parallel_tool_calls", "functions", "modalities", "user", "metadata", "store", "reasoning"]
CONTENTS = ["", "\x00", "<|im_start|>", "a" * 1000, "🙂", None, [], [{"type": "text", "text": "x"}], [{}], 3, {"a": 1}]


def any_body(chance):
    """A chat request in which up to four things are not as they should be."""
    body = chat(messages=[any_message(chance) for _ in range(chance.randint(1, 3))])
    for name in chance.sample(NAMES, chance.randint(0, 4)):
        body[name] = chance.choice(VALUES)
    # Whatever is asked for must not be long: this is about what is asked.
    if body.get("max_completion_tokens", 1) not in (1, None):
        body["max_completion_tokens"] = 2
    return {**body, "max_tokens": 2} if isinstance(body.get("max_tokens"), int) else body


def any_message(chance):
    message = {"role": chance.choice(["system", "user", "user", "assistant", "tool", "developer", "king"])}
    message["content"] = chance.choice(CONTENTS)
    if chance.random() < 0.2:
        message["tool_calls"] = chance.choice([[], [{}], [{"function": {"name": "a", "arguments": "{"}}], "x"])
    return message


@pytest.mark.parametrize("part", range(4))
def test_A10_no_combination_of_values_is_a_mistake_of_ours(post, part):
    chance = random.Random(part)
    statuses = []
    for _ in range(75):
        body = any_body(chance)
        response = post("/chat/completions", body)
        assert response.status_code < 500, (response.status_code, response.text[:300], body)
        if response.status_code != 200:
            assert response.json()["error"]["message"]
        statuses.append(response.status_code)
    assert 200 in statuses and 400 in statuses


def test_A10_the_engine_still_answers_after_all_that(post, client):
    assert client.chat.completions.create(model="macaron", messages=HELLO, max_tokens=4).choices
