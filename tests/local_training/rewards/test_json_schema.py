"""The part of JSON Schema that answers are asked for."""

import pytest

from local_training.rewards.json_schema import mismatch, schema_fault

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}
TREE = {"$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "$ref": "#/$defs/node"}


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        pytest.param(PERSON, {"name": "Li", "age": 3}, "", id="fits"),
        pytest.param(PERSON, {"name": "Li", "age": 3.0}, "", id="a_whole_number_with_a_point"),
        pytest.param(PERSON, {"age": 3}, "the value lacks `name`", id="missing"),
        pytest.param(PERSON, {"name": ""}, "the value.name, in characters, has 0", id="too_short"),
        pytest.param(PERSON, {"name": "Li", "age": -1}, "the value.age is too small", id="too_small"),
        pytest.param(PERSON, {"name": "Li", "age": True}, "the value.age is no integer", id="true_is_no_integer"),
        pytest.param(PERSON, {"name": "Li", "x": 1}, "the value.x is not allowed", id="additional"),
        pytest.param(PERSON, [], "the value is no object", id="another_type"),
        pytest.param({"type": ["string", "null"]}, None, "", id="one_of_the_types"),
        pytest.param({"enum": [1, "a"]}, True, "none of the allowed", id="enum_tells_true_from_one"),
        pytest.param({"const": {"a": [1]}}, {"a": [1.0]}, "", id="const"),
        pytest.param({"prefixItems": [{"type": "string"}], "items": False}, ["a", 1], "[1] is not allowed", id="tuple"),
        pytest.param({"uniqueItems": True}, [1, 2, 1], "holds an item twice", id="unique"),
        pytest.param({"maxItems": 1}, [1, 2], "2 instead of at most 1", id="too_many"),
        pytest.param({"anyOf": [{"type": "string"}, {"minimum": 3}]}, 2, "none of the alternatives", id="any_of"),
        pytest.param({"oneOf": [{"minimum": 1}, {"maximum": 3}]}, 2, "fits 2 of the alternatives", id="one_of"),
        pytest.param({"allOf": [PERSON, {"required": ["age"]}]}, {"name": "Li"}, "lacks `age`", id="all_of"),
        pytest.param({"not": {"type": "null"}}, None, "what it must not be", id="not"),
        pytest.param({"multipleOf": 0.1}, 0.3, "", id="multiple_despite_rounding"),
        pytest.param({"multipleOf": 1e-300}, 1e300, "no multiple", id="multiple_beyond_all_bounds"),
        pytest.param({"type": "boolean"}, False, "", id="boolean"),
        pytest.param({"exclusiveMaximum": 3}, 3, "too large", id="exclusive"),
        pytest.param(TREE, [[], [[]]], "", id="recursive"),
        pytest.param(TREE, [[], [1]], "[1][0] is no array", id="recursive_wrong"),
        pytest.param({"$ref": "#"}, 1, "leads back to itself", id="reference_without_end"),
        pytest.param(False, 1, "not allowed", id="nothing_is_allowed"),
        pytest.param({}, [None], "", id="everything_is_allowed"),
    ],
)
def test_a_value_that_breaks_the_schema_is_told_where_and_how(schema, value, reason):
    assert schema_fault(schema) == ""
    found = mismatch(value, schema)
    assert (reason in found) if reason else found == ""


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        pytest.param(None, "neither an object", id="missing"),
        pytest.param({"pattern": "a+"}, "`pattern`, which is not supported", id="unsupported"),
        pytest.param({"properties": {"a": {"if": {}}}}, "properties.a has the keyword `if`", id="unsupported_within"),
        pytest.param({"type": "text"}, "no type 'text'", id="unknown_type"),
        pytest.param({"enum": []}, "`enum` must be a list", id="empty_enum"),
        pytest.param({"required": "a"}, "`required` must be a list", id="required_is_a_text"),
        pytest.param({"minItems": 1.5}, "whole number", id="half_an_item"),
        pytest.param({"minimum": "1"}, "must be a number", id="bound_is_a_text"),
        pytest.param({"multipleOf": 0}, "above 0", id="multiple_of_nothing"),
        pytest.param({"anyOf": []}, "list of schemas", id="no_alternatives"),
        pytest.param({"items": [{}]}, "neither an object", id="items_are_a_list"),
        pytest.param({"$ref": "#/$defs/x"}, "points at nothing", id="reference_to_nothing"),
        pytest.param({"$ref": "file:///etc/passwd"}, "points at nothing", id="reference_outside"),
    ],
)
def test_a_schema_that_cannot_be_kept_to_is_refused(schema, reason):
    assert reason in schema_fault(schema)


def test_alternatives_that_multiply_come_to_an_end():
    schema: object = {"type": "null"}
    for _ in range(18):
        schema = {"anyOf": [schema, schema]}
    assert mismatch(1, schema) == "the value fits none of the alternatives"
    assert mismatch(None, schema) == ""
