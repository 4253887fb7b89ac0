"""POST /v1/responses and its chain, through the official client."""

import json

import pytest
from openai import BadRequestError, NotFoundError

from app.openai_api.problems import ApiProblem
from app.openai_api.response_shelf import KEPT_S, MOST_BYTES, MOST_RESPONSES, ResponseShelf
from engine.completing import Message

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 20}}, "required": ["city"]},
}


SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
FORMAT = {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}}


def respond(client, said="Say hello to Ann.", **options):
    return client.responses.create(**{"model": "macaron:L0", "input": said, "max_output_tokens": 16, **options})


def test_a_response_has_all_that_clients_read(client):
    done = respond(client, instructions="Be brief.", metadata={"a": "b"})
    assert done.object == "response" and done.id.startswith("resp_")
    assert done.status in ("completed", "incomplete")
    assert done.output_text and done.output[0].type == "message"
    assert done.usage.input_tokens > 0 and done.usage.output_tokens <= 16
    assert done.metadata == {"a": "b"} and done.instructions == "Be brief."
    assert done.macaron == {"expert": "L0", "reason": "pinned"}


def test_a_limit_makes_it_incomplete_and_says_why(client):
    done = respond(client, "Count to one hundred in words.", max_output_tokens=3)
    assert done.status == "incomplete" and done.incomplete_details.reason == "max_output_tokens"


def test_the_second_response_sees_the_first(client):
    first = respond(client, "My dog is called Rumpelstiltskin.")
    second = respond(client, "Go on.", previous_response_id=first.id)
    whole = respond(
        client,
        [
            {"role": "user", "content": "My dog is called Rumpelstiltskin."},
            {"role": "assistant", "content": first.output_text},
            {"role": "user", "content": "Go on."},
        ],
    )
    assert second.usage.input_tokens == whole.usage.input_tokens > first.usage.input_tokens
    assert second.usage.input_tokens_details.cached_tokens >= first.usage.input_tokens - 4
    assert second.previous_response_id == first.id


def test_instructions_are_not_inherited(client):
    first = respond(client, instructions="Speak like a pirate. " * 10)
    second = respond(client, "Go on.", previous_response_id=first.id)
    with_instructions = respond(client, "Go on.", previous_response_id=first.id, instructions="Be a pirate. " * 30)
    assert second.usage.input_tokens + 60 < with_instructions.usage.input_tokens


EVENTS = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
]


def test_a_stream_tells_the_official_events_in_order(client):
    events = list(respond(client, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert list(dict.fromkeys(event.type for event in events))[:-1] == EVENTS
    last = events[-1]
    assert last.type in ("response.completed", "response.incomplete")
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert last.response.output_text == text
    assert client.responses.retrieve(last.response.id).output_text == text


def test_the_clients_own_stream_helper_understands_it(client):
    with client.responses.stream(model="macaron:L0", input="Hello", text=FORMAT, max_output_tokens=40) as stream:
        for _ in stream:
            pass
        assert set(json.loads(stream.get_final_response().output_text)) == {"ok"}


def test_a_call_goes_out_and_its_result_comes_back(client):
    first = respond(client, "Weather in Oslo?", tools=[WEATHER], tool_choice="required", max_output_tokens=80)
    (call,) = [item for item in first.output if item.type == "function_call"]
    assert call.name == "get_weather" and "city" in json.loads(call.arguments)
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "Raining."}
    then = respond(client, [result], previous_response_id=first.id, tools=[WEATHER])
    assert then.usage.input_tokens > first.usage.input_tokens + first.usage.output_tokens


def test_a_streamed_call_has_its_own_events(client):
    options = {"tools": [WEATHER], "tool_choice": {"type": "function", "name": "get_weather"}, "max_output_tokens": 80}
    events = list(respond(client, "Weather in Oslo?", stream=True, **options))
    kinds = [event.type for event in events]
    assert kinds[2:-1] == [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
    ]
    assert events[-1].response.output[0].name == "get_weather"


def test_a_format_is_obeyed(client):
    done = respond(client, text=FORMAT, max_output_tokens=40)
    assert set(json.loads(done.output_text)) == {"ok"}
    assert done.text.format.name == "answer"


def test_log_probabilities_are_given_where_they_are_included(client):
    done = respond(client, include=["message.output_text.logprobs"], top_logprobs=2)
    entries = done.output[0].content[0].logprobs
    assert "".join(entry.token for entry in entries) == done.output_text
    assert all(len(entry.top_logprobs) == 2 for entry in entries)


def test_a_response_can_be_looked_up_and_forgotten(client):
    done = respond(client)
    assert client.responses.retrieve(done.id).output_text == done.output_text
    client.responses.delete(done.id)
    with pytest.raises(NotFoundError):
        client.responses.retrieve(done.id)


def test_what_is_not_to_be_stored_is_not(client):
    done = respond(client, store=False)
    with pytest.raises(NotFoundError):
        client.responses.retrieve(done.id)
    with pytest.raises(BadRequestError) as refused:
        respond(client, previous_response_id=done.id)
    assert refused.value.code == "previous_response_not_found"


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"background": True}, id="background"),
        pytest.param({"conversation": "conv_1"}, id="conversation"),
        pytest.param({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, id="image"),
        pytest.param({"input": [{"type": "item_reference", "id": "x"}]}, id="reference"),
        pytest.param({"input": [{"type": "computer_call"}]}, id="other_item"),
        pytest.param({"input": [3]}, id="no_item"),
        pytest.param({"input": ""}, id="empty"),
        pytest.param({"input": []}, id="nothing"),
        pytest.param({"tools": [{"type": "web_search"}]}, id="web_search"),
        pytest.param({"max_output_tokens": 0}, id="no_tokens"),
        pytest.param({"previous_response_id": "resp_none"}, id="unknown_previous"),
        pytest.param({"text": {"format": {"type": "json_schema", "name": "x"}}}, id="schema_missing"),
    ],
)
def test_what_is_not_done_here_is_refused(client, options):
    with pytest.raises(BadRequestError):
        respond(client, extra_body=options)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def shelf(clock):
    return ResponseShelf(clock)


def test_the_shelf_keeps_only_the_newest(shelf):
    for number in range(MOST_RESPONSES + 10):
        shelf.keep({"id": str(number)}, ())
    assert len(shelf) == MOST_RESPONSES
    with pytest.raises(ApiProblem):
        shelf.get("9")
    assert shelf.get("10").response == {"id": "10"}


def test_the_shelf_keeps_what_is_used(shelf):
    shelf.keep({"id": "first"}, ())
    for number in range(MOST_RESPONSES + 10):
        shelf.get("first")
        shelf.keep({"id": str(number)}, ())
    assert shelf.get("first")


def test_the_shelf_keeps_nothing_for_more_than_an_hour(shelf, clock):
    shelf.keep({"id": "a"}, ())
    clock.now = KEPT_S - 1
    assert shelf.get("a")
    clock.now = KEPT_S
    with pytest.raises(ApiProblem) as gone:
        shelf.get("a")
    assert gone.value.status == 404 and len(shelf) == 0


def test_the_shelf_keeps_no_more_bytes_than_its_budget(shelf):
    for number in range(40):
        shelf.keep({"id": str(number)}, (Message("user", "x" * (MOST_BYTES // 64)),))
    assert 1 <= len(shelf) <= 16
