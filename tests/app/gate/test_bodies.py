"""Bodies come whole, in time and within bounds, or no handler sees them."""

import asyncio
import json
import socket
import time

import pytest

from app.gate.bodies import Bodies, BodyLimits, Gone, check_nesting
from app.gate.policy import Refusal
from tests.app.gate.sample import FACE, Reply, serve

MIB = 1 << 20


def head_of(sample, path, *headers):
    lines = (f"POST {path} HTTP/1.1", f"Host: {sample.host}", f"Authorization: Bearer {FACE.decode()}", *headers)
    return ("\r\n".join((*lines, "Content-Type: application/json")) + "\r\n\r\n").encode()


def test_a_body_within_the_limit_arrives_whole(sample):
    body = b'"' + b"x" * (8 * MIB - 2) + b'"'
    reply = sample.ask(
        "POST /v1/echo HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}", body=body
    )
    assert reply.body == b'{"bytes":%d}' % len(body)


def test_A9_a_body_of_100_MB_is_refused_before_it_is_sent(sample):
    with socket.create_connection(("127.0.0.1", sample.port), timeout=10) as connection:
        connection.sendall(head_of(sample, "/v1/echo", "Content-Length: 104857600", "Expect: 100-continue"))
        reply = Reply.read(connection)
    assert (reply.status, sample.calls) == (413, [])
    assert json.loads(reply.body)["error"]["code"] == "body_too_large"


def test_A9_who_sends_100_MB_all_the_same_can_still_read_why_not(sample):
    with socket.create_connection(("127.0.0.1", sample.port), timeout=10) as connection:
        connection.sendall(head_of(sample, "/v1/echo", "Content-Length: 104857600"))
        for _ in range(100):
            connection.sendall(b"x" * MIB)
        assert Reply.read(connection).status == 413
    assert sample.calls == []


def test_A9_a_body_without_a_length_is_counted_while_it_comes(sample):
    chunk = b"%x\r\n%s\r\n" % (MIB, b"x" * MIB)
    with socket.create_connection(("127.0.0.1", sample.port), timeout=10) as connection:
        connection.sendall(head_of(sample, "/v1/echo", "Transfer-Encoding: chunked"))
        for _ in range(9):
            connection.sendall(chunk)
        assert Reply.read(connection).status == 413
    assert sample.calls == []


def test_A9_a_refused_body_is_not_read_for_ever(sample):
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", sample.port), timeout=10) as connection:
        connection.sendall(head_of(sample, "/v1/echo", "Content-Length: 104857600"))
        with pytest.raises(OSError):
            while time.monotonic() - began < 10:
                connection.sendall(b"x")
                time.sleep(0.05)
    assert 1.0 < time.monotonic() - began < 5.0


def test_A9_a_path_can_have_a_limit_of_its_own(tmp_path):
    with serve(tmp_path, body_bytes_by_path={"/v1/echo": 10}) as sample:
        head = ("POST /v1/echo HTTP/1.1", "Content-Type: application/json")
        assert sample.ask(*head, "Content-Length: 10", body=b'"12345678"').status == 200
        assert sample.ask(*head, "Content-Length: 11", body=b'"123456789"').status == 413


@pytest.mark.parametrize("bracket", [b"[", b'{"a":'])
def test_A9_json_that_is_10000_deep_is_refused(sample, bracket):
    closing = b"]" if bracket == b"[" else b"}"
    body = bracket * 10_000 + b"1" + closing * 10_000
    reply = sample.ask(
        "POST /v1/parsed HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}", body=body
    )
    assert (reply.status, sample.calls) == (400, [])


@pytest.mark.parametrize(
    ("body", "is_refused"),
    [
        pytest.param(b"[" * 100 + b"]" * 100, False, id="deep enough"),
        pytest.param(b"[" * 101 + b"]" * 101, True, id="too deep"),
        pytest.param(b"[" * 300, True, id="never closed"),
        pytest.param(b"[" + b"{}," * 10_000 + b"{}]", False, id="long and flat"),
        pytest.param(json.dumps("[" * 10_000).encode(), False, id="brackets in a text"),
        pytest.param(json.dumps(['"\\' * 5000 + "[" * 500] * 3).encode(), False, id="brackets after quotes in a text"),
        pytest.param(json.dumps({"咖啡": ["[" * 99] * 99}).encode(), False, id="brackets in many texts"),
        pytest.param(b'["' + b"\\n" * 10_000 + b"[" * 300, True, id="a text that never ends"),
        pytest.param(b"]" * 300 + b"[" * 300, False, id="closed before it is opened"),
    ],
)
def test_only_brackets_outside_texts_count_as_nesting(body, is_refused):
    assert (check_nesting(body) is not None) == is_refused


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[]," * (8 * MIB // 3), id="brackets"),
        pytest.param(b"[" * (4 * MIB) + b"]" * (4 * MIB), id="nesting"),
        pytest.param(b"[" * 101 + b'"' + b"\\n" * (4 * MIB - 100), id="escapes"),
        pytest.param(b"[" * 101 + b'"' * (8 * MIB - 101), id="quotes"),
        pytest.param(b"[" * 101 + b'"a' * (4 * MIB - 51), id="texts"),
    ],
)
def test_A9_looking_for_nesting_takes_no_time_worth_attacking(body):
    began = time.process_time()
    check_nesting(body)
    assert time.process_time() - began < 2.0


def test_A9_a_slow_body_is_given_up(tmp_path):
    limits = BodyLimits(chunk_s=0.3, whole_s=1.0)
    with serve(tmp_path, body_limits=limits) as sample:
        for pause_s, longest_s in ((5.0, 0.9), (0.1, 2.5)):  # silent, and a trickle
            with socket.create_connection(("127.0.0.1", sample.port), timeout=10) as connection:
                began = time.monotonic()
                connection.sendall(head_of(sample, "/v1/echo", "Content-Length: 100000"))
                connection.settimeout(pause_s)
                assert trickle(connection, pause_s).status == 408
                assert time.monotonic() - began < longest_s
        assert sample.calls == []


def trickle(connection, pause_s):
    """Send a byte at a time until the server says something."""
    while True:
        try:
            connection.recv(1, socket.MSG_PEEK)
            return Reply.read(connection)
        except TimeoutError:
            connection.sendall(b"x")


def test_all_bodies_together_are_bounded():
    async def scenario():
        bodies = Bodies(BodyLimits(held_bytes=100))
        first = await bodies.read(sender(b"x" * 80), 1000)
        refused = await bodies.read(sender(b"x" * 80), 1000)
        bodies.release(len(first))
        return refused, await bodies.read(sender(b"x" * 80), 1000)

    refused, third = asyncio.run(scenario())
    assert refused == Refusal("busy", 503, retry_after_s=1)
    assert third == b"x" * 80


def test_what_was_read_of_a_refused_or_broken_body_no_longer_counts():
    async def scenario():
        bodies = Bodies(BodyLimits(held_bytes=100))
        for _ in range(3):
            assert await bodies.read(sender(b"x" * 60, b"x" * 30), 80) == Refusal("body_too_large", 413)
            with pytest.raises(Gone):
                await bodies.read(sender(b"x" * 60, None), 80)
        return await bodies.read(sender(b"x" * 100), 100)

    assert asyncio.run(scenario()) == b"x" * 100


def sender(*chunks):
    """A client that sends these; None hangs up."""
    messages = [
        {"type": "http.disconnect"}
        if chunk is None
        else {"type": "http.request", "body": chunk, "more_body": index < len(chunks) - 1}
        for index, chunk in enumerate(chunks)
    ]

    async def receive():
        return messages.pop(0)

    return receive
