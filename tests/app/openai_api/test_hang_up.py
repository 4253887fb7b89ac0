"""A client that goes away stops its own work, and nobody else's."""

import json
import socket
import time

import httpx

from tests.app.running import wait_until

LONG = {
    "model": "macaron:L0",
    "messages": [{"role": "user", "content": "Count to one thousand in words."}],
    "max_tokens": 4000,
    "temperature": 1.0,
    # Without a grammar that goes on for ever, the model may end by itself before anybody hangs up.
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "n", "schema": {"type": "array", "minItems": 1000, "items": {"type": "integer"}}},
    },
}
STOPPED_WITHIN_S = 2.0


class Counted:
    """Counts the pieces that the engine still gives, by standing between the service and its runtime."""

    def __init__(self, runtime):
        self._runtime = runtime
        self.pieces = 0

    def __getattr__(self, name):
        return getattr(self._runtime, name)

    def generate(self, requests, stop):
        for piece in self._runtime.generate(requests, stop):
            self.pieces += 1
            yield piece


def raw_request(api, body):
    """An open connection on which the whole request has been sent."""
    host, port = httpx.URL(api.url).host, httpx.URL(api.url).port
    data = json.dumps(body).encode()
    connection = socket.create_connection((host, port))
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n"
    connection.sendall(head.encode() + data)
    return connection


def hung_up_after(api, monkeypatch, body, pieces):
    """Pieces the engine gave from the moment of hanging up until it was idle; it must have given `pieces` before."""
    counted = Counted(api.service.runtime)
    monkeypatch.setattr(api.service, "runtime", counted)
    connection = raw_request(api, body)
    wait_until(lambda: counted.pieces >= pieces, f"the engine has given {pieces} pieces")
    connection.close()
    before, closed = counted.pieces, time.monotonic()
    wait_until(lambda: not api.service.queue.is_busy, "the engine is idle")
    assert time.monotonic() - closed < STOPPED_WITHIN_S
    return counted.pieces - before


def test_hanging_up_a_stream_stops_the_engine(api, monkeypatch):
    assert hung_up_after(api, monkeypatch, {**LONG, "stream": True}, 10) < 60


def test_hanging_up_while_waiting_for_a_whole_answer_stops_the_engine(api, monkeypatch):
    assert hung_up_after(api, monkeypatch, LONG, 10) < 60


def test_hanging_up_while_the_prompt_is_read_stops_the_engine(api, monkeypatch):
    messages = [{"role": "user", "content": f"{time.time()} " + "one two three four five " * 1200}]
    assert hung_up_after(api, monkeypatch, {**LONG, "messages": messages, "stream": True}, 1) < 10


def test_who_hangs_up_in_the_queue_is_never_served(api, client, monkeypatch):
    counted = Counted(api.service.runtime)
    monkeypatch.setattr(api.service, "runtime", counted)
    first = raw_request(api, {**LONG, "stream": True})
    wait_until(lambda: counted.pieces > 3, "the first is being answered")
    second = raw_request(api, {**LONG, "stream": True})
    wait_until(lambda: api.service.queue.waiting == 1, "the second waits")
    second.close()
    wait_until(lambda: api.service.queue.waiting == 0, "the second is gone")
    first.close()
    wait_until(lambda: not api.service.queue.is_busy, "the engine is idle")
    assert client.chat.completions.create(
        model="macaron:L0", messages=[{"role": "user", "content": "Hi"}], max_tokens=4
    ).choices


def test_a_client_that_never_reads_holds_nobody_up(api, client):
    lazy = raw_request(api, {**LONG, "stream": True, "max_tokens": 300, "logprobs": True, "top_logprobs": 20})
    try:
        done = client.chat.completions.create(
            model="macaron:L0", messages=[{"role": "user", "content": "Hi"}], max_tokens=4
        )
        assert done.choices
    finally:
        lazy.close()
    wait_until(lambda: not api.service.queue.is_busy, "the engine is idle")
