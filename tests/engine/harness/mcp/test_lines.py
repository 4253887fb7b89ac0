"""Bytes into lines: however they are cut, never more held than allowed, and an overlong answer still finds its call."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import UsageProblem
from engine.harness.mcp.lines import LineReader, LongLine

LONG = "x" * 1_000


def read(*chunks, most=500, most_passed=100_000):
    reader = LineReader(most, most_passed)
    return [line for chunk in chunks for line in reader.feed(chunk)]


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line), max_size=10), st.integers(1, 7))
def test_lines_are_the_same_however_their_bytes_arrive(lines, size):
    data = b"".join(line + b"\n" for line in lines)
    assert read(*(data[start : start + size] for start in range(0, len(data), size))) == lines


def test_a_line_that_has_not_ended_is_not_handed_out():
    assert read(b"one\ntw") == [b"one"]


@pytest.mark.parametrize("size", [1, 100, 600, 10_000])
def test_an_overlong_line_is_passed_over_and_the_next_is_read(size):
    data = LONG.encode() + b"\nnext\n"
    long, following = read(*(data[start : start + size] for start in range(0, len(data), size)))
    assert (long.size_bytes, following) == (1_000, b"next")
    assert (len(long.head), len(long.tail)) == (256, 256)


@pytest.mark.parametrize(
    ("message", "answered"),
    [
        pytest.param({"jsonrpc": "2.0", "id": 12, "result": LONG}, 12, id="first"),
        pytest.param({"id": "listen-3", "result": LONG}, "listen-3", id="first_of_all"),
        pytest.param({"result": LONG, "jsonrpc": "2.0", "id": 7}, 7, id="last"),
        pytest.param({"result": LONG, "id": 7, "jsonrpc": "2.0"}, 7, id="before_last"),
        pytest.param({"result": {"text": LONG, "id": 5}, "jsonrpc": "2.0"}, None, id="only_within"),
        pytest.param({"result": {"id": 5, "text": LONG}}, None, id="only_at_the_start_of_something_within"),
        pytest.param({"result": LONG}, None, id="nowhere"),
    ],
)
def test_an_overlong_answer_says_which_call_it_answers_where_that_is_certain(message, answered):
    (line,) = read(json.dumps(message).encode() + b"\n")
    assert isinstance(line, LongLine)
    assert line.answered == answered


def test_a_line_without_end_is_given_up():
    with pytest.raises(UsageProblem, match="does not end"):
        read(*(b"x" * 1_000 for _ in range(200)))
