"""POST /v1/chat/completions and GET /v1/models, through the official client, on the real starter model."""

import asyncio
import json
import math

import pytest
from openai import AsyncOpenAI, BadRequestError, NotFoundError
from pydantic import BaseModel

HELLO = [{"role": "user", "content": "Say hello to Ann."}]
COUNT = [{"role": "user", "content": "Count from one to twenty in words."}]


def ask(client, messages=HELLO, **options):
    options = {"model": "macaron:L0", "max_tokens": 12, "seed": 1, **options}
    return client.chat.completions.create(messages=messages, **options)


def test_the_models_are_the_one_that_routes_and_one_per_expert(client):
    models = client.models.list().data
    assert [model.id for model in models] == ["macaron", "macaron:L0", "macaron:L1", "macaron:L2", "macaron:L3"]
    assert all(model.description for model in models)
    assert client.models.retrieve("macaron:L2").id == "macaron:L2"
    with pytest.raises(NotFoundError):
        client.models.retrieve("gpt-9")


def test_an_answer_has_all_that_clients_read(client):
    done = ask(client, model="macaron")
    (choice,) = done.choices
    assert choice.message.role == "assistant" and choice.message.content
    assert choice.finish_reason in ("stop", "length")
    assert done.object == "chat.completion" and done.model == "macaron"
    assert done.usage.completion_tokens <= 12
    assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens
    assert done.system_fingerprint.startswith("fp_")
    assert set(done.macaron) == {"expert", "reason"}


def test_a_pinned_model_is_answered_by_that_expert(client):
    assert ask(client, model="macaron:L2").macaron == {"expert": "L2", "reason": "pinned"}


def test_a_stream_adds_up_to_the_answer_that_comes_as_a_whole(client):
    whole = ask(client)
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert chunks[-2].choices[0].finish_reason == whole.choices[0].finish_reason
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_stream_without_usage_wanted_has_none(client):
    assert all(chunk.choices and chunk.usage is None for chunk in ask(client, stream=True))


async def test_the_asynchronous_client_is_answered_too(api):
    async with AsyncOpenAI(base_url=api.url, api_key="any", max_retries=0) as client:
        one, other = await asyncio.gather(ask(client), ask(client))
        streamed = [chunk async for chunk in await ask(client, stream=True)]
    assert one.choices[0].message.content == other.choices[0].message.content
    assert streamed[-1].choices[0].finish_reason


def test_equal_seeds_give_equal_answers(client):
    options = {"temperature": 1.5, "max_tokens": 24}
    answers = [ask(client, seed=seed, **options).choices[0].message.content for seed in (5, 5, 6, -7, -7)]
    assert answers[0] == answers[1] != answers[2]
    assert answers[3] == answers[4]


def test_without_a_seed_answers_differ(client):
    answers = {ask(client, seed=None, temperature=1.8, max_tokens=20).choices[0].message.content for _ in range(3)}
    assert len(answers) == 3


def test_a_stop_text_ends_the_answer_and_is_not_in_it(client):
    free = ask(client, COUNT, max_tokens=40, temperature=0).choices[0].message.content
    middle = free[len(free) // 2 :][:4]
    held = ask(client, COUNT, max_tokens=40, temperature=0, stop=["never said", middle]).choices[0]
    assert held.message.content == free.partition(middle)[0] != free
    assert held.finish_reason == "stop"


def test_a_limit_is_said_to_be_one(client):
    done = ask(client, COUNT, max_tokens=None, max_completion_tokens=3)
    assert done.choices[0].finish_reason == "length" and done.usage.completion_tokens == 3


def test_several_answers_come_from_one_reading_of_the_prompt(client):
    done = ask(client, n=3, temperature=1.2)
    assert [choice.index for choice in done.choices] == [0, 1, 2]
    assert len({choice.message.content for choice in done.choices}) == 3
    assert done.usage.completion_tokens > 12
    alone = ask(client)
    assert done.usage.prompt_tokens == alone.usage.prompt_tokens


def test_several_answers_stream_side_by_side(client):
    chunks = list(ask(client, n=2, stream=True))
    assert {chunk.choices[0].index for chunk in chunks} == {0, 1}
    assert sum(chunk.choices[0].finish_reason is not None for chunk in chunks) == 2


def test_log_probabilities_are_those_of_the_tokens_that_are_shown(client):
    done = ask(
        client, [{"role": "user", "content": "写一句关于咖啡的话。"}], logprobs=True, top_logprobs=3, max_tokens=24
    )
    choice = done.choices[0]
    entries = choice.logprobs.content
    spoken = b"".join(bytes(entry.bytes) for entry in entries)
    # A character may be cut off by the limit.
    assert spoken.decode("utf-8", "ignore") == choice.message.content.rstrip("\ufffd")
    for entry in entries:
        assert entry.logprob <= 0.0 and len(entry.top_logprobs) == 3
        assert sum(math.exp(other.logprob) for other in entry.top_logprobs) <= 1.0 + 1e-6
        assert entry.top_logprobs[0].logprob >= entry.logprob - 1e-6


def test_a_stream_has_the_same_log_probabilities(client):
    whole = ask(client, logprobs=True)
    streamed = [
        entry
        for chunk in ask(client, logprobs=True, stream=True)
        for entry in (chunk.choices[0].logprobs.content if chunk.choices[0].logprobs else [])
    ]
    assert [entry.token for entry in streamed] == [entry.token for entry in whole.choices[0].logprobs.content]


def test_what_was_read_before_counts_as_cached(client):
    story = {"role": "user", "content": "Once upon a time there was a lighthouse keeper. " * 20}
    ask(client, [story])
    again = ask(client, [story])
    assert again.usage.prompt_tokens_details.cached_tokens >= again.usage.prompt_tokens - 8


def test_content_may_come_in_parts(client):
    parts = [{"type": "text", "text": "Say hello"}, {"type": "text", "text": "to Ann."}]
    whole = [{"role": "user", "content": "Say hello\nto Ann."}]
    assert ask(client, [{"role": "user", "content": parts}]).choices == ask(client, whole).choices


def test_json_mode_gives_an_object(client):
    done = ask(client, response_format={"type": "json_object"}, max_tokens=200, temperature=0)
    assert done.choices[0].message.content.startswith("{")


class Person(BaseModel):
    name: str
    age: int
    languages: list[str]


def test_an_answer_obeys_its_schema(client):
    schema = Person.model_json_schema()
    schema["properties"]["languages"] |= {"maxItems": 2, "items": {"enum": ["English", "中文"]}}
    schema["properties"]["name"]["maxLength"] = 20
    wanted = {"type": "json_schema", "json_schema": {"name": "person", "schema": schema, "strict": True}}
    for seed in range(3):
        done = ask(client, response_format=wanted, max_tokens=120, temperature=1.0, seed=seed)
        assert Person.model_validate_json(done.choices[0].message.content)


def test_the_clients_own_parsing_of_schemas_works(client):
    class Mood(BaseModel):
        happy: bool

    done = client.chat.completions.parse(model="macaron:L0", messages=HELLO, response_format=Mood, max_tokens=40)
    assert isinstance(done.choices[0].message.parsed, Mood)


@pytest.mark.parametrize(
    ("options", "param"),
    [
        pytest.param({"model": "gpt-4o"}, "model", id="unknown_model"),
        pytest.param({"model": "macaron:L9"}, "model", id="unknown_expert"),
    ],
)
def test_models_there_are_not_are_not_found(client, options, param):
    with pytest.raises(NotFoundError) as refused:
        ask(client, **options)
    assert refused.value.code == "model_not_found" and refused.value.param == param


IMAGE = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}]


@pytest.mark.parametrize(
    ("messages", "options", "param", "code"),
    [
        pytest.param(IMAGE, {}, "messages.0.content.0", "unsupported_content", id="image"),
        pytest.param(HELLO, {"logit_bias": {"5": 1}}, "logit_bias", "unsupported_parameter", id="logit_bias"),
        pytest.param(HELLO, {"temperature": 2.5}, "temperature", None, id="temperature"),
        pytest.param(HELLO, {"n": 9}, "n", None, id="too_many_answers"),
        pytest.param(HELLO, {"top_logprobs": 2}, "top_logprobs", None, id="top_without_logprobs"),
        pytest.param([], {}, "messages", None, id="no_messages"),
        pytest.param([{"role": "king", "content": "x"}], {}, "messages.0.role", None, id="role"),
        pytest.param(
            HELLO,
            {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"pattern": "a"}}}},
            "response_format",
            "invalid_value",
            id="schema",
        ),
        pytest.param(
            [{"role": "user", "content": "long " * 9000}], {}, "messages", "context_length_exceeded", id="too_long"
        ),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_errors_name_the_parameter_and_raise_the_clients_own_exception(client, messages, options, param, code, stream):
    with pytest.raises(BadRequestError) as refused:
        ask(client, messages, stream=stream, **options)
    assert (refused.value.param, refused.value.code) == (param, code)
    assert refused.value.type == "invalid_request_error"
    assert json.loads(refused.value.response.text)["error"]["message"]


def test_what_is_not_known_is_ignored(client):
    assert ask(client, extra_body={"store": True, "metadata": {"a": "b"}, "user": "me", "top_k": 3, "frob": 1}).choices
