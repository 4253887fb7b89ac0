"""Servers over HTTP that do not behave: nothing goes elsewhere, nothing is read without bound."""

import gzip
import json

import pytest

from tests.engine.harness.mcp.raw_http import as_json, raw_http, text
from tests.support.requirements import require_module

require_module("mcp")


@pytest.fixture
def far():
    with raw_http() as server:
        yield server


@pytest.fixture
def box(far, open_box):
    box = open_box(far.entry(Authorization="Bearer ${TOKEN}"), secrets={"TOKEN": "t0ken"})
    box.start("far")
    box.approve_tools("far")
    return box


def test_a_server_is_called_with_the_headers_it_was_given(far, box):
    assert box.call("far__echo", a=1).text == '{"a": 1}'
    assert {seen["authorization"] for seen in far.seen_headers} == {"Bearer t0ken"}
    assert box.toolbox.specs()[0].reach == "network"


def as_events(message, result):
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
    return 200, {"Content-Type": "text/event-stream"}, f"event: message\ndata: {body}\n\n".encode()


def test_an_answer_as_an_event_stream_is_read(far, box):
    far.on_call = lambda message: as_events(message, text("from afar"))
    assert box.call("far__echo").text == "from afar"


@pytest.mark.parametrize("answer", [lambda m, r: as_json(m, result=r), as_events], ids=["json", "events"])
def test_an_answer_beyond_the_limit_is_not_read_to_its_end(far, box, answer):
    far.on_call = lambda message: answer(message, text("x" * 9 * 1024 * 1024))
    said = box.call("far__echo")
    assert said.is_error
    assert "ended" not in said.text
    assert len(said.text) < 2_000
    far.on_call = far.echo
    assert box.call("far__echo").text == "{}"


def test_a_packed_answer_that_nobody_asked_for_is_not_unpacked(far, box):
    def packed(message):
        status, headers, body = as_json(message, result=text("x" * 1_000_000))
        return status, {**headers, "Content-Encoding": "gzip"}, gzip.compress(body)

    far.on_call = packed
    assert box.call("far__echo").is_error
    assert {seen["accept-encoding"] for seen in far.seen_headers} == {"identity"}


def test_e_8_a_redirect_to_another_origin_is_not_followed(far, box):
    with raw_http() as other:
        far.on_call = lambda _: (307, {"Location": other.url}, b"")
        said = box.call("far__echo")
        assert said.is_error
        assert other.seen_headers == []


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param((500, {}, b"oops"), id="error"),
        pytest.param((200, {"Content-Type": "text/html"}, b"<h1>Sign in</h1>"), id="web_page"),
        pytest.param((200, {"Content-Type": "application/json"}, b"{"), id="cut"),
        pytest.param((202, {}, b""), id="no_answer"),
    ],
)
def test_an_answer_that_is_none_is_a_result_that_says_so_and_the_next_call_works(far, box, answer):
    far.on_call = lambda _: answer
    assert box.call("far__echo").is_error
    far.on_call = far.echo
    assert box.call("far__echo").text == "{}"


def test_a_server_that_is_not_there_says_so(open_box):
    with raw_http() as gone:
        entry = gone.entry()
    box = open_box(entry)
    box.start("far")
    assert box.status("far").health.state == "ended"
    assert "failed" in box.status("far").health.problem


def test_a_server_that_goes_away_is_noticed_by_the_call_that_needs_it(open_box):
    with raw_http() as server:
        box = open_box(server.entry())
        box.start("far")
        box.approve_tools("far")
    said = box.call("far__echo")
    assert said.is_error
    assert "ended during the call" in said.text
    assert box.status("far").health.state == "ended"


def test_a_header_that_names_a_missing_secret_is_said(far, open_box):
    box = open_box(far.entry(Authorization="Bearer ${TOKEN}"))
    box.start("far")
    assert "no secret `TOKEN`" in box.status("far").health.problem
    assert far.seen_headers == []
