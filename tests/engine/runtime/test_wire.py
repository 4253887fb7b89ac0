"""The pipe between host and child: what goes in comes out, and nothing that comes in can do more than be refused."""

import io
import json
import struct
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import AdapterMismatch, AgentError, ContextOverflow, RuntimeFailed, UsageProblem
from engine.runtime import wire
from engine.runtime.protocol import (
    AdapterRef,
    Finished,
    LoadPlan,
    ModelInfo,
    Prefilled,
    Request,
    Sampling,
    ScoreRequest,
    Scores,
    Token,
    Usage,
)

KINDS = (AdapterRef, Sampling, Request, Usage, Prefilled, Token, Finished, ScoreRequest, Scores, LoadPlan, ModelInfo)
st.register_type_strategy(float, st.floats(allow_nan=False))  # NaN survives too, but equals nothing
values = st.one_of([st.from_type(kind) for kind in KINDS])
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)
field_names = sorted({name for kind in KINDS for name in get_type_hints(kind)})


@given(values)
def test_every_value_of_the_protocol_survives_the_pipe(value: Any) -> None:
    sent = json.loads(json.dumps(wire.to_plain(value)))
    assert wire.from_plain(type(value), sent) == value


@given(st.sampled_from(KINDS), plain | st.dictionaries(st.sampled_from(field_names), plain))
def test_data_of_another_shape_is_refused_or_gives_the_kind_asked_for(kind: type, data: Any) -> None:
    try:
        value = wire.from_plain(kind, data)
    except wire.WireError:
        return
    assert isinstance(value, kind)
    assert wire.from_plain(kind, json.loads(json.dumps(wire.to_plain(value)))) is not None


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Usage, {"prompt_tokens": "5"}),
        (Usage, {"prompt_tokens": True}),
        (Usage, {"prompt_tokens": 1.5}),
        (Usage, {"cost": 5}),
        (Usage, [1, 2]),
        (Usage, None),
        (Token, {"index": 0, "token": 1}),
        (Token, {"index": 0, "token": 1, "text": "a", "top": [[1, 2, 3]]}),
        (Finished, {"index": 0, "reason": "tired", "usage": {}}),
        (Request, {"tokens": "abc", "max_tokens": 1}),
        (Request, {"tokens": [1, "2"], "max_tokens": 1}),
        (ModelInfo, {"markup": [1]}),
    ],
    ids=str,
)
def test_a_value_with_a_wrong_field_is_refused(kind: type, data: Any) -> None:
    with pytest.raises(wire.WireError):
        wire.from_plain(kind, data)


@given(st.dictionaries(st.text(), plain.filter(lambda item: item == item)), st.binary())
def test_a_frame_is_read_as_it_was_written(message: dict[str, Any], block: bytes) -> None:
    stream = io.BytesIO()
    wire.write_frame(stream, message, block)
    wire.write_frame(stream, {"second": 2})
    stream.seek(0)
    first, received = wire.read_frame(stream)
    assert json.dumps(first) == json.dumps(message)
    assert received == block
    assert wire.read_frame(stream) == ({"second": 2}, b"")


@given(st.binary())
def test_bytes_that_are_no_frame_are_refused(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.read_frame(io.BytesIO(data))


@given(st.binary())
def test_a_frame_with_any_content_is_an_object_or_refused(body: bytes) -> None:
    frame = struct.pack("<4sHHII", b"MTEP", wire.WIRE_VERSION, 0, len(body), 0) + body
    try:
        message, block = wire.read_frame(io.BytesIO(frame))
    except wire.WireError:
        return
    assert isinstance(message, dict)
    assert block == b""


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (b"", "gone"),
        (struct.pack("<4sHHII", b"MTEP", 1, 0, 10, 0) + b"{}", "gone"),
        (struct.pack("<4sHHII", b"PMET", 1, 0, 2, 0) + b"{}", "no frame"),
        (struct.pack("<4sHHII", b"MTEP", 2, 0, 2, 0) + b"{}", "version 2"),
        (struct.pack("<4sHHII", b"MTEP", 1, 0, 2, 0) + b"[]", "no object"),
        (struct.pack("<4sHHII", b"MTEP", 1, 0, 2, 0) + b"{'", "no valid JSON"),
        (struct.pack("<4sHHII", b"MTEP", 1, 0, 100_000, 0) + b"[" * 100_000, "no valid JSON"),
        (struct.pack("<4sHHII", b"MTEP", 1, 0, 10, (1 << 32) - 1) + b"{}", "announces"),
        (struct.pack("<4sHHII", b"MTEP", 1, 0, 1 << 30, 1) + b"{}", "announces"),
    ],
    ids=["nothing", "cut", "magic", "version", "a list", "no JSON", "endless JSON", "huge block", "huge JSON"],
)
def test_a_frame_is_refused_with_its_reason(frame: bytes, problem: str) -> None:
    with pytest.raises(wire.WireError, match=problem):
        wire.read_frame(io.BytesIO(frame))


def test_too_much_is_not_sent_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_MAX_BYTES", 1000)
    stream = io.BytesIO()
    with pytest.raises(UsageProblem, match="too much"):
        wire.write_frame(stream, {"op": "embed"}, bytes(1000))
    assert stream.getvalue() == b""


@pytest.mark.parametrize("kind", [AgentError, ContextOverflow, AdapterMismatch, RuntimeFailed])
def test_an_error_keeps_its_type_and_both_sentences(kind: type[AgentError]) -> None:
    sent = json.loads(json.dumps(wire.error_to_plain(kind("It broke: 坏了。", "Mend it."))))
    received = wire.error_from_plain(sent)
    assert type(received) is kind
    assert (received.problem, received.hint) == ("It broke: 坏了。", "Mend it.")


def test_an_error_of_an_unknown_type_is_a_failure_of_the_runtime() -> None:
    received = wire.error_from_plain({"type": "SystemExit", "problem": "p", "hint": "h"})
    assert type(received) is RuntimeFailed
    assert (received.problem, received.hint) == ("p", "h")


@given(plain)
def test_an_error_that_is_none_is_refused_or_an_error(data: Any) -> None:
    try:
        received = wire.error_from_plain(data)
    except wire.WireError:
        return
    assert isinstance(received, AgentError)
