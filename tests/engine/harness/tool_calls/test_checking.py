"""Arguments are put right where it is clear what was meant, and otherwise refused in words a model can act on."""

import json

import pytest

from engine.harness.tool_calls import CallFault, Tool, ToolCall, check_call, fault_of_text
from tests.engine.harness.tool_calls.corpus import TOOLS


def checked(schema, arguments):
    """The arguments as they go to a tool of that schema, or what is wrong with them."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    found = check_call(ToolCall("tool", text), (Tool("tool", "", schema),))
    return json.loads(found.arguments) if isinstance(found, ToolCall) else found.text


def of(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


LINKED = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {"type": "object", "properties": {"size": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}
    },
}
FITS = [
    pytest.param(of(n={"type": "integer"}), {"n": "-3"}, {"n": -3}, id="whole_number"),
    pytest.param(of(n={"type": "integer"}), {"n": "3.0"}, {"n": 3}, id="whole_number_as_fraction"),
    pytest.param(of(n={"type": "number"}), {"n": "1.5e2"}, {"n": 150.0}, id="number"),
    pytest.param(of(n={"type": ["integer", "null"]}), {"n": "none"}, {"n": None}, id="null_in_words"),
    pytest.param(of(n={"type": ["string", "integer"]}), {"n": "3"}, {"n": "3"}, id="a_text_where_texts_are_allowed"),
    pytest.param(of(n={"anyOf": [{"type": "integer"}, {"type": "string"}]}), {"n": "3"}, {"n": "3"}, id="any_of_as_is"),
    pytest.param(of(n={"anyOf": [{"type": "integer"}, {"type": "null"}]}), {"n": "3"}, {"n": 3}, id="any_of_made"),
    pytest.param(of(n={"oneOf": [{"const": 1}, {"const": 2}]}), {"n": "2"}, {"n": 2}, id="constant"),
    pytest.param(of(n={"allOf": [{"type": "integer"}, {"minimum": 2}]}), {"n": "2"}, {"n": 2}, id="all_of"),
    pytest.param(of(n={"enum": ["Auto", "manual"]}), {"n": "AUTO"}, {"n": "Auto"}, id="value_in_another_case"),
    pytest.param(of(n={"type": "boolean"}), {"n": "False"}, {"n": False}, id="boolean"),
    pytest.param(of(n={"type": "object"}), {"n": "{'a': True}"}, {"n": {"a": True}}, id="object_as_python_text"),
    pytest.param(
        of(n={"type": "array", "items": {"type": "integer"}}), {"n": ["1", 2]}, {"n": [1, 2]}, id="items_of_a_list"
    ),
    pytest.param(LINKED, {"node": {"next": {"size": "2"}}}, {"node": {"next": {"size": 2}}}, id="reference"),
    pytest.param(of(maxItems={"type": "integer"}), {"max_items": 1}, {"maxItems": 1}, id="name_written_otherwise"),
    pytest.param({"properties": {"n": {"type": "string"}}}, {"n": None}, {}, id="null_for_what_may_be_left_out"),
    pytest.param({"additionalProperties": True}, {"x": [1]}, {"x": [1]}, id="others_are_allowed"),
    pytest.param({}, "", {}, id="no_text_at_all"),
    pytest.param(of(n={"pattern": "(a+)+$"}), {"n": "a" * 99 + "b"}, {"n": "a" * 99 + "b"}, id="patterns_are_not_run"),
    pytest.param({"properties": "x", "required": 3}, {}, {}, id="a_schema_that_is_none"),
]


@pytest.mark.parametrize(("schema", "arguments", "expected"), FITS)
def test_what_was_meant_is_what_the_tool_gets(schema, arguments, expected):
    assert json.dumps(checked(schema, arguments)) == json.dumps(expected)


FAULTS = [
    pytest.param(of(n={"type": "integer"}), {"n": "3 days"}, '`n` must be a whole number, not "3 days"', id="words"),
    pytest.param(of(n={"type": "integer"}), {"n": 2.5}, "`n` must be a whole number, not 2.5", id="fraction"),
    pytest.param(
        of(n={"type": "integer"}), {"n": True}, "`n` must be a whole number, not true", id="true_is_no_number"
    ),
    pytest.param(of(n={"type": "number"}), {"n": "1e999"}, '`n` must be a number, not "1e999"', id="too_large"),
    pytest.param(of(n={"type": "string"}), {"n": {"a": 1}}, '`n` must be a text, not {"a": 1}', id="object_for_a_text"),
    pytest.param(of(n={"type": "string"}), {"n": None}, "`n` must be a text, not null", id="null_for_what_is_required"),
    pytest.param(
        of(n={"enum": ["a", "A"]}), {"n": " a"}, '`n` must be one of "a", "A", not " a"', id="two_it_might_be"
    ),
    pytest.param(of(n={"type": "string", "minLength": 2}), {"n": "x"}, "at least 2 characters, not 1", id="short"),
    pytest.param(of(n={"type": "array", "maxItems": 1}), {"n": [1, 2]}, "at most 1 items, not 2", id="long_list"),
    pytest.param(of(n={"type": "array", "uniqueItems": True}), {"n": [1, 1.0]}, "`n` holds an item twice", id="twice"),
    pytest.param(of(n={"exclusiveMinimum": 0}), {"n": 0}, "`n` must be more than 0, not 0", id="bound"),
    pytest.param(
        of(n=of(m={"type": "null"})), {"n": {"m": 1}}, "`n.m` must be null, not 1", id="place_within_an_object"
    ),
    pytest.param(of(n={"type": "integer"}), {}, "`n` is missing; it must be a whole number", id="missing"),
    pytest.param(
        of(n={}, m={}), {"N": 1, "m": 1, "other": 1}, "there is no argument `other`; there are `n` (req", id="unknown"
    ),
    pytest.param(of(city={}), {"City": 1, "CITY": 2}, "`city` is given twice", id="two_spellings_of_one"),
    pytest.param(of(n=False), {"n": 1}, "`n` is not allowed", id="never_allowed"),
    pytest.param(
        of(n={"$ref": "#/properties/n"}),
        {"n": 1},
        "`n`: the tool's schema leads back to itself",
        id="endless_reference",
    ),
    pytest.param({}, "[1]", "must be an object", id="list"),
    pytest.param({}, '{"a": ', "cannot be read", id="broken"),
]


@pytest.mark.parametrize(("schema", "arguments", "said"), FAULTS)
def test_what_is_wrong_is_said_with_its_place_and_what_it_must_be(schema, arguments, said):
    text = checked(schema, arguments)
    assert isinstance(text, str) and said in text and "\n" not in text


def test_several_faults_are_said_at_once_and_not_too_many():
    text = checked(of(**{f"n{number}": {"type": "integer"} for number in range(9)}), {"n0": "x"})
    assert "`n0` must be" in text and "`n1` is missing" in text and text.endswith("and 5 more")


def test_a_schema_of_alternatives_within_alternatives_ends():
    schema = {"type": "integer"}
    for _ in range(60):
        schema = {"anyOf": [schema, schema]}
    assert "`n` must be a whole number" in checked(of(n=schema), {"n": "x"})


def test_a_schema_nested_without_end_ends():
    schema = {"type": "integer"}
    for _ in range(5_000):
        schema = {"allOf": [schema]}
    assert "too many comparisons" in checked(of(n=schema), {"n": 1})


def test_the_names_of_the_tools_are_told_where_one_is_wrong():
    found = check_call(ToolCall("fly\nhome", "{}"), TOOLS)
    assert isinstance(found, CallFault) and found.kind == "name"
    assert found.text.startswith("there is no tool `fly home`; there are `get_weather`, `get_time`")


def test_a_name_written_otherwise_is_put_right():
    assert check_call(ToolCall("GetTime", "{}"), TOOLS) == ToolCall("get_time", "{}")


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        pytest.param("<tool_call>{'name': 'get_time'}</tool>", "form", "it goes on at character", id="tag_misspelt"),
        pytest.param('<tool_call>{"name": "get_time"', "form", "never closed", id="cut_off"),
        pytest.param("<function=fly>", "name", "there is no tool `fly`", id="xml_name"),
        pytest.param("<function=", "form", "the name of the function is not closed", id="xml_header"),
        pytest.param('{"name": "get_time"}', "form", "stands within other text", id="not_marked"),
        pytest.param("", "form", "cannot be read", id="nothing"),
    ],
)
def test_what_only_looks_like_a_call_is_explained(text, kind, said):
    fault = fault_of_text(text, TOOLS)
    assert fault.kind == kind and said in fault.text
