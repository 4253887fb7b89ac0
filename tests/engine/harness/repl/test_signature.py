"""The schema that a signature comes to, and the signatures that come to none."""

import ast

import pytest

from engine.errors import UsageProblem
from engine.harness.repl.signature import parameters_schema
from engine.harness.schema_reading import read_schema


def schema_of(signature: str) -> dict[str, object]:
    (function,) = ast.parse(f"def f({signature}): pass").body
    assert isinstance(function, ast.FunctionDef)
    schema = parameters_schema(function)
    read_schema(schema)
    return schema


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        ("str", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("None", {"type": "null"}),
        ("list", {"type": "array"}),
        ("list[int]", {"type": "array", "items": {"type": "integer"}}),
        ("typing.Sequence[str]", {"type": "array", "items": {"type": "string"}}),
        (
            "dict[str, list[float]]",
            {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
        ),
        ("int | None", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("int | str | None", {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),
        ("Optional[int]", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("typing.Union[int, str]", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ("Literal['up', 'down', 3]", {"enum": ["up", "down", 3]}),
        ("'int'", {"type": "integer"}),
        ("'list[str] | None'", {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}),
    ],
)
def test_a_type_hint_becomes_a_schema_that_can_be_enforced(hint: str, schema: dict[str, object]):
    assert schema_of(f"x: {hint}")["properties"] == {"x": schema}


def test_parameters_without_a_default_are_required_and_no_others_are_taken():
    assert schema_of("a: int, b: str = 'x', *, c: float, d: bool = True") == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "string", "default": "x"},
            "c": {"type": "number"},
            "d": {"type": "boolean", "default": True},
        },
        "required": ["a", "c"],
        "additionalProperties": False,
    }


def test_a_function_may_take_nothing():
    assert schema_of("")["properties"] == {}


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        pytest.param("x", "no type hint", id="no hint"),
        pytest.param("*x: int", "without names", id="any number"),
        pytest.param("**x: int", "without names", id="any names"),
        pytest.param("x: int, /", "without names", id="by position alone"),
        pytest.param("x: set[int]", "no counterpart", id="a set"),
        pytest.param("x: dict[int, str]", "no counterpart", id="numbers as keys"),
        pytest.param("x: tuple[int, int]", "no counterpart", id="a tuple"),
        pytest.param("x: Path", "no counterpart", id="a class"),
        pytest.param("x: print('hello')", "no counterpart", id="a call"),
        pytest.param("x: 'int ] ['", "is not Python", id="a text that is no hint"),
        pytest.param(f"x: {'list[' * 20}int{']' * 20}", "too deeply", id="depth"),
        pytest.param("x: int = len('a')", "not a plain value", id="a computed default"),
        pytest.param("x: float = float('nan')", "not a plain value", id="not a number"),
        pytest.param("x: list = (1, 2)", "not a plain value", id="a tuple as default"),
        pytest.param("x: str = b'x'", "not a plain value", id="bytes"),
        pytest.param("x: Literal[f()]", "cannot stand in Literal", id="a computed choice"),
        pytest.param("х: int", "letters beyond a to z", id="a Cyrillic letter"),
        pytest.param(", ".join(f"x{n}: int" for n in range(21)), "more than 20", id="too many"),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(signature: str, words: str):
    with pytest.raises(UsageProblem, match=words):
        schema_of(signature)
