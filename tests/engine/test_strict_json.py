"""JSON that means the same to everyone who reads it."""

import pytest

from engine.strict_json import MOST_LEVELS, loads, same


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param('{"a": NaN}', "NaN", id="nan"),
        pytest.param("[-Infinity]", "-Infinity", id="infinity"),
        pytest.param("1" * 5000, "more than 300 digits", id="digits"),
        pytest.param("[1e999]", "1e999", id="overflow"),
        pytest.param('{"a": 1, "a": 2}', "`a` twice", id="key_twice"),
        pytest.param('"\\ud800"', "half of a character", id="lone_surrogate"),
        pytest.param("[" * (MOST_LEVELS + 2) + "]" * (MOST_LEVELS + 2), "nested", id="nested"),
        pytest.param("[" * 100_000, "nested", id="nested_beyond_recursion"),
        pytest.param("{'a': 1}", "at character 2", id="single_quotes"),
        pytest.param("", "is no JSON", id="empty"),
    ],
)
def test_what_is_no_strict_json_is_refused_with_the_reason(text, reason):
    with pytest.raises(ValueError, match=reason):
        loads(text)


def test_ordinary_json_is_read_in_any_language():
    assert loads('{"城市": ["奥斯陆", 1.5, null, true]}') == {"城市": ["奥斯陆", 1.5, None, True]}


@pytest.mark.parametrize(
    ("left", "right", "is_same"),
    [
        pytest.param(1, 1.0, True, id="one_number"),
        pytest.param(True, 1, False, id="true_is_no_number"),
        pytest.param([1, {"a": [True]}], [1, {"a": [1]}], False, id="deep"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, id="order_of_names"),
        pytest.param([1, 2], [2, 1], False, id="order_of_items"),
    ],
)
def test_values_are_compared_as_json_compares_them(left, right, is_same):
    assert same(left, right) is is_same
