"""What goes wrong on our side: the right status before an answer begins, an event within it."""

import asyncio

import httpx
import pytest
from openai import APIError, InternalServerError, RateLimitError

from app.host import queue
from app.host.queue import QueueClosed
from app.openai_api.problems import error_body, status_of
from engine.errors import ModelMissing, OutOfMemory, RuntimeFailed, UnknownName
from engine.runtime.protocol import Token
from tests.app.openai_api.test_hang_up import Counted

HELLO = [{"role": "user", "content": "Count to one hundred."}]


class Failing(Counted):
    """A runtime that breaks after its first token, however short the answer would have been."""

    def generate(self, requests, stop):
        for piece in self._runtime.generate(requests, stop):
            yield piece
            if isinstance(piece, Token):
                raise RuntimeFailed("The engine broke.", "Try again.")


def ask(client, **options):
    return client.chat.completions.create(model="macaron:L0", messages=HELLO, max_tokens=20, **options)


def test_a_failure_within_a_stream_is_an_event_and_no_end_follows(api, client, monkeypatch):
    monkeypatch.setattr(api.service, "runtime", Failing(api.service.runtime))
    seen = []
    with pytest.raises(APIError, match="The engine broke"):
        seen.extend(ask(client, stream=True))
    raw = httpx.post(
        f"{api.url}/chat/completions",
        json={"model": "macaron:L0", "messages": HELLO, "max_tokens": 20, "stream": True},
        timeout=60,
    )
    assert raw.status_code == 200 and "[DONE]" not in raw.text and "The engine broke" in raw.text


def test_a_failure_of_a_whole_answer_is_a_server_error(api, client, monkeypatch):
    monkeypatch.setattr(api.service, "runtime", Failing(api.service.runtime))
    with pytest.raises(InternalServerError) as failed:
        ask(client)
    assert failed.value.type == "server_error"


def test_a_failure_within_a_streamed_response_is_its_last_event(api, client, monkeypatch):
    monkeypatch.setattr(api.service, "runtime", Failing(api.service.runtime))
    events = list(client.responses.create(model="macaron:L0", input="Count.", max_output_tokens=20, stream=True))
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.code == "server_error"
    assert "The engine broke" in events[-1].response.error.message


def test_a_full_queue_asks_the_client_to_come_again(client, monkeypatch):
    monkeypatch.setattr(queue, "MOST_WAITING", 0)
    for stream in (False, True):
        with pytest.raises(RateLimitError) as refused:
            ask(client, stream=stream)
        assert int(refused.value.response.headers["retry-after"]) > 0
        assert refused.value.code == "rate_limit_exceeded"


@pytest.mark.parametrize(
    "error", [ModelMissing("No base.", "Get one."), OutOfMemory("Too large."), UnknownName("No such profile.")]
)
def test_a_base_that_cannot_be_loaded_is_unavailable(api, client, monkeypatch, error):
    def refuse():
        raise error

    monkeypatch.setattr(api.service, "loaded", refuse)
    with pytest.raises(InternalServerError) as refused:
        ask(client)
    assert refused.value.status_code == 503 and refused.value.code == "model_not_loaded"


def test_a_host_that_ends_is_unavailable():
    error = QueueClosed("The host is ending.")
    assert status_of(error) == 503
    assert error_body(error)["error"]["type"] == "server_error"


def test_clients_that_come_at_once_are_all_answered(api):
    body = {"model": "macaron:L0", "messages": HELLO, "max_tokens": 3}

    async def all_of_them():
        async with httpx.AsyncClient(timeout=60) as client:
            return await asyncio.gather(*(client.post(f"{api.url}/chat/completions", json=body) for _ in range(16)))

    assert [response.status_code for response in asyncio.run(all_of_them())] == [200] * 16
