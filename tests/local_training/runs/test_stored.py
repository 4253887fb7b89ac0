"""Plain dataclasses as JSON: what comes back is what was written, and nothing else is taken for it."""

from dataclasses import dataclass, field
from typing import Literal

import pytest

from local_training.runs.stored import from_json, parsed, to_json


@dataclass(frozen=True, slots=True)
class Plain:
    count: int
    share: float = 0.0
    name: str = ""
    reward: float | None = None
    is_done: bool = False
    words: dict[str, str] = field(default_factory=dict)
    kind: Literal["plain"] = "plain"


def test_what_is_written_comes_back():
    plain = Plain(3, 0.25, "简短\n回答", -1.5, True, {"torch": "2"})
    assert from_json(Plain, parsed(to_json(plain))) == plain


def test_one_object_is_one_line_unless_it_is_indented():
    assert "\n" not in to_json(Plain(1, name="a\nb"))
    assert from_json(Plain, parsed(to_json(Plain(1), indent=1))) == Plain(1)


def test_a_path_that_is_no_unicode_comes_back():
    plain = Plain(1, name=b"caf\xe9".decode("utf-8", "surrogateescape"))
    assert from_json(Plain, parsed(to_json(plain).encode("utf-8"))) == plain


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_never_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(Plain(1, number))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({}, id="a field is missing"),
        pytest.param({"count": 1, "more": 2}, id="a field too many"),
        pytest.param({"count": "1"}, id="a text for a number"),
        pytest.param({"count": True}, id="true for a number"),
        pytest.param({"count": 1.0}, id="a fraction for a count"),
        pytest.param({"count": None}, id="null for a number"),
        pytest.param({"count": 1, "share": True}, id="true for a fraction"),
        pytest.param({"count": 1, "share": float("nan")}, id="not a number"),
        pytest.param({"count": 1, "share": 10**400}, id="more than a fraction can hold"),
        pytest.param({"count": 1, "reward": "x"}, id="a text for an optional number"),
        pytest.param({"count": 1, "is_done": 1}, id="a number for true"),
        pytest.param({"count": 1, "words": {"a": 1}}, id="a number among texts"),
        pytest.param({"count": 1, "words": []}, id="a list for an object"),
        pytest.param({"count": 1, "kind": "other"}, id="another kind"),
        pytest.param({"count": 1, "kind": []}, id="a kind that is a list"),
        pytest.param([1], id="a list"),
        pytest.param(None, id="nothing"),
    ],
)
def test_values_of_another_shape_are_not_taken(values):
    assert from_json(Plain, values) is None


def test_a_whole_number_may_stand_for_a_fraction_and_null_for_none():
    assert from_json(Plain, {"count": 1, "share": 2, "reward": None}) == Plain(1, 2)


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"a": ' + b"1" * 5000 + b"}"],
    ids=lambda line: repr(line[:4]),
)
def test_what_is_no_json_holds_nothing(line):
    assert parsed(line) is None
