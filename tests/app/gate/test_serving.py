"""The server under hostile and unlucky clients, spoken to in raw bytes."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import psutil
import pytest

from app.gate.protocol import ConnectionLimits
from app.gate.serving import Server, listen, open_listener, port_of
from engine.errors import AgentError
from tests.app.gate.sample import FACE, Reply, serve
from tests.app.running import ROOT, environment

SECRET = f"Authorization: Bearer {FACE.decode()}\r\n"
MIB = 1 << 20


def connect(sample):
    return socket.create_connection(("127.0.0.1", sample.port), timeout=15)


def bytes_until_closed(connection):
    count = 0
    try:
        while chunk := connection.recv(65536):
            count += len(chunk)
    except ConnectionResetError:
        pass
    return count


def seconds_until_closed(connection):
    began = time.monotonic()
    bytes_until_closed(connection)
    return time.monotonic() - began


# Requests that two readers could read in two ways


@pytest.mark.parametrize(
    ("framing", "body", "statuses"),
    [
        pytest.param(
            "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n", {400}, id="length and chunks"
        ),
        pytest.param("Content-Length: 2\r\nContent-Length: 3\r\n", b"{}", {400}, id="two lengths"),
        pytest.param("Content-Length: 2, 2\r\n", b"{}", {400, 404}, id="a list of lengths"),
        pytest.param("Content-Length: +2\r\n", b"{}", {400}, id="signed"),
        pytest.param("Content-Length: -1\r\n", b"", {400}, id="negative"),
        pytest.param("Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n", {400, 501}, id="another coding"),
        pytest.param("Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n", {400, 501}, id="almost chunked"),
        pytest.param("Transfer-Encoding : chunked\r\n", b"0\r\n\r\n", {400}, id="a space before the colon"),
        pytest.param("X: a\r\n Transfer-Encoding: chunked\r\n", b"", {404}, id="folded"),
        pytest.param("X: a\0b\r\n", b"", {400}, id="NUL"),
        pytest.param("X\x01: a\r\n", b"", {400}, id="control character"),
        pytest.param(": a\r\n", b"", {400}, id="no name"),
        pytest.param("X: " + "a" * 200_000 + "\r\n", b"", {431}, id="huge header"),
        pytest.param("X: a\r\n" * 3000, b"", {431}, id="many headers"),
    ],
)
def test_A9_a_head_that_is_unclear_or_huge_reaches_no_handler(sample, framing, body, statuses):
    head = (
        f"POST /v1/nothing HTTP/1.1\r\nHost: {sample.host}\r\n{SECRET}Content-Type: application/json\r\n{framing}\r\n"
    )
    assert sample.say(head.encode("latin-1") + body).status in statuses
    assert sample.calls == []


@pytest.mark.parametrize(
    "chunks",
    [
        *(b"zz\r\n{}\r\n0\r\n\r\n", b"-2\r\n{}\r\n0\r\n\r\n", b"2\r\n{}XX0\r\n\r\n", b"0x2\r\n{}\r\n0\r\n\r\n"),
        b"f" * 40 + b"\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_A9_garbage_between_chunks_reaches_no_handler(sample, chunks):
    head = f"POST /v1/echo HTTP/1.1\r\nHost: {sample.host}\r\n{SECRET}Content-Type: application/json\r\n"
    reply = sample.say(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
    assert (reply.status, sample.calls) == (400, [])


def test_A9_lines_that_end_in_a_bare_line_feed_pass_the_same_gate(sample):
    def ask(host):
        return sample.say(f"GET /v1/models HTTP/1.1\nHost: {host}\n{SECRET.strip()}\nConnection: close\n\n".encode())

    assert ask("evil.example").status == 421
    assert ask(sample.host).status == 200
    # A feed inside a value must not become a header of its own that anyone else would not see.
    hidden = f"GET /v1/models HTTP/1.1\r\nX: a\nHost: evil.example\r\nHost: {sample.host}\r\n{SECRET}\r\n"
    assert sample.say(hidden.encode()).status == 421


@pytest.mark.parametrize(
    "line",
    [
        *(
            "GET",
            "GET /",
            "GET / HTTP/9.9",
            "GET  / HTTP/1.1",
            "GE\0T / HTTP/1.1",
            "\x16\x03\x01\x02\x00",
            "GET /\xff HTTP/1.1",
        ),
        *("PRI * HTTP/2.0", "CONNECT evil.example:443 HTTP/1.1", "OPTIONS * HTTP/1.1", "GET \\..\\ HTTP/1.1"),
    ],
)
def test_A9_a_request_line_that_is_none_is_refused(sample, line):
    reply = sample.say(f"{line}\r\nHost: {sample.host}\r\n{SECRET}Connection: close\r\n\r\n".encode("latin-1"))
    assert 400 <= reply.status < 500 and sample.calls == []


def test_a_smuggled_second_request_is_judged_like_the_first(sample):
    first = f"GET /health HTTP/1.1\r\nHost: {sample.host}\r\n\r\n"
    second = f"GET /api/effect HTTP/1.1\r\nHost: {sample.host}\r\nConnection: close\r\n\r\n"
    with connect(sample) as connection:
        connection.sendall((first + second).encode())
        data = b""
        while chunk := connection.recv(65536):
            data += chunk
    assert data.count(b"HTTP/1.1 200") == 1 and data.count(b"HTTP/1.1 401") == 1
    assert sample.calls == ["health"]


# Slow and silent clients


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    limits = ConnectionLimits(connections=20, head_s=0.5, idle_s=1, unread_s=0.5, stalled_s=0.5)
    with serve(tmp_path_factory.mktemp("impatient"), limits=limits) as sample:
        yield sample


def test_A9_a_head_that_never_ends_is_closed(impatient):
    with connect(impatient) as silent, connect(impatient) as slow:
        is_over = threading.Event()

        def drip():
            while not is_over.wait(0.1):
                try:
                    slow.sendall(b"X: a\r\n")
                except OSError:
                    return

        slow.sendall(f"GET /v1/models HTTP/1.1\r\nHost: {impatient.host}\r\n".encode())
        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            assert seconds_until_closed(silent) < 1.5
            assert seconds_until_closed(slow) < 1.5
        finally:
            is_over.set()
            dripping.join()


def test_A9_a_second_head_that_never_ends_is_closed_too(impatient):
    with connect(impatient) as connection:
        head = f"GET /health HTTP/1.1\r\nHost: {impatient.host}\r\n"
        connection.sendall(head.encode() + b"\r\n")
        assert Reply.read(connection).status == 200
        connection.sendall(head.encode())
        assert 0.2 < seconds_until_closed(connection) < 1.5


def test_a_connection_is_kept_for_the_next_request_and_closed_when_none_comes(impatient):
    with connect(impatient) as connection:
        for _ in range(2):
            connection.sendall(f"GET /health HTTP/1.1\r\nHost: {impatient.host}\r\n\r\n".encode())
            assert Reply.read(connection).status == 200
        assert 0.5 < seconds_until_closed(connection) < 2.5


def test_A9_a_client_that_takes_nothing_of_its_answer_is_dropped(tmp_path):
    limits = ConnectionLimits(stalled_s=0.5)
    with serve(tmp_path, limits=limits) as sample:
        (tmp_path / "static" / "large.js").write_bytes(b"/" * (32 * MIB))
        with connect(sample) as connection:
            connection.sendall(f"GET /static/large.js HTTP/1.1\r\nHost: {sample.host}\r\n{SECRET}\r\n".encode())
            time.sleep(1.5)
            assert bytes_until_closed(connection) < 32 * MIB


def test_A9_connections_beyond_the_bound_are_closed_and_the_others_live(impatient):
    time.sleep(0.7)  # those of the tests before are gone
    open_ones = []
    try:
        for _ in range(20):
            connection = connect(impatient)
            connection.sendall(f"GET /events HTTP/1.1\r\nHost: {impatient.host}\r\n{SECRET}\r\n".encode())
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
            open_ones.append(connection)
        with connect(impatient) as extra:
            assert seconds_until_closed(extra) < 0.4
        assert b"tick" in open_ones[0].recv(1000)
        open_ones.pop().close()
        time.sleep(0.3)
        assert impatient.ask("GET /v1/models HTTP/1.1").status == 200
    finally:
        for connection in open_ones:
            connection.close()


def test_A9_1000_idle_clients_cost_little_and_others_are_served(sample):
    process = psutil.Process()
    before = process.memory_info().rss
    clients = []
    try:
        for number in range(1000):
            connection = connect(sample)
            clients.append(connection)
            if number % 2:  # half of them are streams, half never say a word
                connection.sendall(f"GET /events HTTP/1.1\r\nHost: {sample.host}\r\n{SECRET}\r\n".encode())
        for connection in clients[1::2]:
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        began = time.monotonic()
        assert sample.ask("GET /v1/models HTTP/1.1").status == 200
        assert time.monotonic() - began < 2
        assert process.memory_info().rss - before < 100 * MIB
    finally:
        for connection in clients:
            connection.close()


# Ports and stopping


def test_A1_a_listener_is_on_loopback_only():
    with listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        addresses = {
            connection.laddr.ip
            for connection in psutil.Process().net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port_of(listener)
        }
    assert addresses == {"127.0.0.1"}


def test_a_port_that_is_taken_is_named_or_replaced():
    with listen(0) as taken:
        with pytest.raises(AgentError) as caught:
            listen(port_of(taken), fallback=False)
        assert f"Port {port_of(taken)} of 127.0.0.1" in caught.value.problem and caught.value.hint
        with listen(port_of(taken)) as other:
            assert port_of(other) not in (0, port_of(taken))


def test_a_port_is_free_again_at_once(tmp_path):
    with serve(tmp_path) as sample, connect(sample) as connection:
        connection.sendall(f"GET /health HTTP/1.1\r\nHost: {sample.host}\r\n\r\n".encode())
        assert Reply.read(connection).status == 200
    with listen(sample.port, fallback=False) as again:
        assert port_of(again) == sample.port


def test_an_address_of_no_card_here_is_refused():
    with pytest.raises(AgentError) as caught:
        open_listener("192.0.2.1", 0)
    assert "192.0.2.1" in caught.value.problem


def test_stopping_ends_streams_within_two_seconds(tmp_path):
    with serve(tmp_path) as sample:
        connection = connect(sample)
        connection.sendall(f"GET /events HTTP/1.1\r\nHost: {sample.host}\r\n{SECRET}\r\n".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        began = time.monotonic()
    assert time.monotonic() - began < 2
    with connection:
        assert seconds_until_closed(connection) < 0.5


def test_a_server_that_cannot_start_says_so():
    async def broken(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no"})

    with pytest.raises(AgentError, match="could not start"), Server(broken, [listen(0)]).running():
        pass


SERVE_UNTIL_A_SIGNAL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from app.gate.serving import Server, listen
async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive(); await send({"type": "lifespan.startup.complete"})
        print("serving", resource.getrlimit(resource.RLIMIT_NOFILE)[0], flush=True)
        await receive(); await send({"type": "lifespan.shutdown.complete"})
try:
    Server(application, [listen(0)]).run()
finally:
    print("cleaned up", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_and_lets_the_program_clean_up(number):
    command = [sys.executable, "-c", SERVE_UNTIL_A_SIGNAL]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()) as process:
        word, files = process.stdout.readline().split()
        os.kill(process.pid, number)
        rest, _ = process.communicate(timeout=10)
    assert (word, rest, process.returncode) == ("serving", "cleaned up\n", 0)
    assert int(files) > 2048, "the bound on open files was not raised"
