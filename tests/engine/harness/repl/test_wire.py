"""The frames from the sandbox: whatever bytes come, a checked message or a refusal, and never more than one held."""

import json
import random
import struct

import pytest

from engine.harness.repl.wire import Call, Done, FrameReader, Ready, Save, WireBroken, frame, read_message

CALL = {"kind": "call", "run_id": "7", "name": "add", "arguments": "{}"}
SAVE = {"kind": "save", "run_id": "7", "name": "f", "block": 3, "line": 2, "example": "f()"}
DONE = {"kind": "done", "run_id": "7", "value": "1", "error": None}


def all_of(reader):
    messages = []
    while (message := reader.next()) is not None:
        messages.append(message)
    return messages


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"kind": "ready"}, Ready(), id="ready"),
        pytest.param(CALL, Call("7", "add", "{}"), id="call"),
        pytest.param(SAVE, Save("7", "f", 3, 2, "f()"), id="save"),
        pytest.param(DONE, Done("7", "1", None), id="done"),
    ],
)
def test_a_message_is_read_as_what_it_says(fields, message):
    reader = FrameReader()
    reader.feed(frame(fields))
    assert all_of(reader) == [message]
    assert reader.is_empty


def test_frames_are_put_together_however_their_bytes_come():
    reader, data, messages = FrameReader(), frame(CALL) + frame(DONE), []
    for byte in data:
        reader.feed(bytes([byte]))
        messages += all_of(reader)
    assert messages == [Call("7", "add", "{}"), Done("7", "1", None)]


def test_half_a_frame_is_no_message_yet():
    reader = FrameReader()
    reader.feed(frame(DONE)[:-1])
    assert reader.next() is None
    assert not reader.is_empty


def test_a_frame_that_says_it_is_too_long_is_refused_before_it_is_read():
    reader = FrameReader(most_bytes=100)
    reader.feed(struct.pack(">I", 101))
    with pytest.raises(WireBroken, match="101 bytes"):
        reader.next()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"hello", id="no JSON"),
        pytest.param(b"\xff\xfe", id="no UTF-8"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="deep"),
        pytest.param(b"[1, 2]", id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"kind": "done", "run_id": "7", "value": NaN, "error": null}', id="not a number"),
        pytest.param(b'{"kind": "done", "run_id": ' + b"9" * 10_000 + b"}", id="many digits"),
        pytest.param(b"{}", id="no kind"),
        pytest.param(b'{"kind": ["done"]}', id="a list as kind"),
        pytest.param(b'{"kind": "eval"}', id="an unknown kind"),
        pytest.param(b'{"kind": "ready", "also": 1}', id="a field too many"),
        pytest.param(b'{"kind": "done", "run_id": "7", "value": "1"}', id="a field too few"),
        pytest.param(json.dumps({**DONE, "value": 1}).encode(), id="a number as value"),
        pytest.param(json.dumps({**DONE, "run_id": None}).encode(), id="no run"),
        pytest.param(json.dumps({**CALL, "name": "n" * 201}).encode(), id="a long name"),
        pytest.param(json.dumps({**CALL, "arguments": {}}).encode(), id="arguments that are no text"),
        pytest.param(json.dumps({**SAVE, "line": True}).encode(), id="true as a number"),
        pytest.param(json.dumps({**SAVE, "line": -1}).encode(), id="a negative number"),
        pytest.param(json.dumps({**SAVE, "block": 10**30}).encode(), id="a huge number"),
    ],
)
def test_what_does_not_fit_is_refused(body):
    with pytest.raises(WireBroken):
        read_message(body)


def test_half_a_character_becomes_a_question_mark():
    assert read_message(json.dumps({**DONE, "value": "\ud800"}).encode()) == Done("7", "?", None)


def test_ten_thousand_mutations_give_a_message_or_a_refusal_and_nothing_else():
    draw = random.Random(7)
    whole = [frame(fields) for fields in (CALL, SAVE, DONE, {"kind": "ready"})]
    outcomes = set()
    for _ in range(10_000):
        data = bytearray(draw.choice(whole))
        for _ in range(draw.randint(1, 6)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        reader = FrameReader(most_bytes=1_000)
        reader.feed(bytes(data))
        try:
            outcomes.add(type(reader.next()))
        except WireBroken:
            outcomes.add(WireBroken)
    assert outcomes >= {WireBroken, type(None), Call, Save, Done}
    assert outcomes <= {WireBroken, type(None), Call, Save, Done, Ready}
