"""A list is read element by element, whatever is in it and wherever the pieces of the file end."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.json_elements import begins_with_list, elements, parsed
from engine.errors import UsageProblem

SIGNS = st.text(st.sampled_from('"\\{}[], \n:咖\ud83da'), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.floats(allow_nan=False, allow_infinity=False) | SIGNS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SIGNS, inner, max_size=4),
    max_leaves=12,
)


def pieces(text: bytes, size: int) -> Iterator[bytes]:
    return (text[start : start + size] for start in range(0, len(text), size))


def read(text: bytes, size: int = 1 << 20) -> list[Any]:
    return [found.problem or json.loads(found.text) for found in elements(pieces(text, size))]


@settings(max_examples=200, deadline=None)
@given(st.lists(VALUES, max_size=5), st.integers(1, 9), st.sampled_from([None, 1]))
def test_what_was_written_is_read_in_pieces_of_any_size(values: list[Any], size: int, indent: int | None) -> None:
    assert read(json.dumps(values, indent=indent).encode(), size) == values


def test_a_byte_order_mark_and_space_around_the_list_are_no_part_of_it() -> None:
    assert read(b"\xef\xbb\xbf \n[1, {}]\r\n ") == [1, {}]
    assert begins_with_list(b"\xef\xbb\xbf\n [") and not begins_with_list(b"{[")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b"  \n", "empty", id="blank"),
        pytest.param(b'{"a": []}', "no list", id="object"),
        pytest.param(b"[{}, ", "ends before", id="cut between elements"),
        pytest.param(b"[{}] {}", "follows", id="something after it"),
    ],
)
def test_what_is_no_whole_list_is_refused(text: bytes, words: str) -> None:
    with pytest.raises(UsageProblem, match=words):
        read(text)


@pytest.mark.parametrize("text", [b'[{}, {"a": [1, 2', b'[{}, {"a": "b', b'[{}, {"a": "b\\', b'[{}, "b'])
def test_a_list_that_is_cut_within_an_element_gives_those_before_it(text: bytes) -> None:
    assert read(text) == [{}, "The file ends in the middle of it."]


def test_an_element_that_is_too_large_costs_no_other() -> None:
    text = b'[{"a": 1}, {"a": "' + b"x" * 1000 + b'"}, {"a": 2}]'
    found = list(elements(pieces(text, 64), most_bytes=100))
    assert [bool(one.text) for one in found] == [True, False, True]
    assert "larger than" in found[1].problem and found[2].number == 3


@pytest.mark.parametrize("text", [b"[}}}]", b"[{]}, 1]", b"[1{}2, 3]", b'["a" "b"]'])
def test_brackets_that_do_not_match_come_to_an_end(text: bytes) -> None:
    assert 1 <= len(list(elements([text]))) <= 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(b'{"a": "\xff"}', "UTF-8 at byte 8", id="not UTF-8"),
        pytest.param(b"[" * 100_000, "nested|JSON", id="deep"),
        pytest.param(b"[{}," * 1_500_000, "more parts", id="many parts"),
        pytest.param(b'{"a": ' + b"9" * 10_000 + b"}", "JSON", id="long number"),
        pytest.param(b'{"a": 1,}', "JSON", id="not JSON"),
    ],
)
def test_an_element_that_is_no_json_says_why(text: bytes, words: str) -> None:
    with pytest.raises(UsageProblem, match=words):
        parsed(text, "Look.")
