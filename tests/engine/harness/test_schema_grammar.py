"""What a JSON Schema lets a model write, what it is refused for, and that no schema is dear."""

import json
import re
import time

import pytest

from engine.harness.integer_ranges import integers_between
from engine.harness.schema_grammar import json_object_grammar, literal, one_of, schema_grammar
from engine.harness.schema_nodes import SchemaProblem
from engine.harness.schema_reading import MOST_OPTIONAL
from engine.runtime.protocol import Sampling
from tests.support.completing import complete, loaded

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 12},
        "age": {"type": "integer", "minimum": 18, "exclusiveMaximum": 100},
        "colour": {"enum": ["red", "reddish", "C:\\x", 'a"b', 1, None]},
        "tags": {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1, "maxItems": 3},
        "born": {"type": "string", "format": "date"},
    },
    "required": ["name", "age", "colour", "tags", "born"],
    "additionalProperties": False,
}
TREE = {
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {"value": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
            "required": ["value", "kids"],
        }
    },
    "$ref": "#/$defs/tree",
}
EXPRESSION = {
    "$defs": {
        "e": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"op": {"const": "add"}, "left": {"$ref": "#/$defs/e"}},
                    "required": ["op", "left"],
                },
                {"type": "object", "properties": {"op": {"const": "number"}}, "required": ["op"]},
            ]
        }
    },
    "$ref": "#/$defs/e",
}


@pytest.fixture(scope="module")
def runtime(starter_base):
    with loaded(starter_base) as opened:
        yield opened


def written(runtime, grammar, *, temperature=1.0, seed=1, max_tokens=150):
    prompt = runtime.encode("Here is the JSON:\n")
    sampling = Sampling(temperature=temperature, seed=seed)
    return complete(runtime, prompt, max_tokens=max_tokens, grammar=grammar, sampling=sampling)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_written_obeys_the_schema(runtime, seed):
    done = written(runtime, schema_grammar(PERSON), seed=seed)
    assert done.reason == "eos"
    value = json.loads(done.text)
    assert list(value) == PERSON["required"]
    assert 2 <= len(value["name"]) <= 12
    assert 18 <= value["age"] < 100
    assert value["colour"] in PERSON["properties"]["colour"]["enum"]
    assert 1 <= len(value["tags"]) <= 3 and set(value["tags"]) <= {"x", "y"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", value["born"])


@pytest.mark.parametrize("seed", range(3))
def test_optional_properties_come_in_order_or_not_at_all(runtime, seed):
    names = [f"p{number}" for number in range(5)]
    schema = {"type": "object", "properties": {name: {"enum": [1, 2]} for name in names}, "required": ["p2"]}
    value = json.loads(written(runtime, schema_grammar(schema), seed=seed).text)
    assert "p2" in value and list(value) == sorted(value) and set(value) <= set(names)


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        pytest.param({"type": "boolean"}, bool, id="boolean"),
        pytest.param({"type": "array", "prefixItems": [{"const": "a"}], "items": False}, list, id="tuple"),
        pytest.param({"anyOf": [{"type": "null"}, {"const": {"a": ["中"]}}]}, (dict, type(None)), id="choice"),
        pytest.param({"type": ["integer", "null"]}, (int, type(None)), id="nullable"),
        pytest.param({"type": "object", "additionalProperties": False}, dict, id="nothing_inside"),
        pytest.param({"type": "array", "items": {}, "maxItems": 0}, list, id="no_items"),
        pytest.param({"allOf": [{"type": "object"}, {"properties": {"a": {"const": 1}}}]}, dict, id="all_of"),
    ],
)
def test_small_schemas_give_values_of_their_kind(runtime, schema, kind):
    done = written(runtime, schema_grammar(schema), max_tokens=200)
    assert done.reason == "eos" and isinstance(json.loads(done.text), kind)


@pytest.mark.parametrize(
    ("schema", "level"),
    [pytest.param(TREE, r'"kids": ?\[\s*\{', id="list"), pytest.param(EXPRESSION, r'"left": ?\{', id="choice")],
)
def test_a_recursive_schema_goes_as_deep_as_the_model_likes(runtime, schema, level):
    done = written(runtime, schema_grammar(schema), temperature=0.0, max_tokens=60)
    assert len(re.findall(level, done.text)) >= 2


def test_any_json_object_is_one(runtime):
    assert written(runtime, json_object_grammar(), max_tokens=30).text.startswith("{")


@pytest.mark.parametrize(("least", "most"), [(0, 9), (-3, 12), (7, 7), (98, 1203), (None, -5), (995, None)])
def test_whole_numbers_between_bounds_are_matched_exactly(least, most):
    pattern = re.compile(integers_between(least, most).replace('"', "").replace(" ", ""))
    for value in range(-1500, 2500):
        inside = (least is None or value >= least) and (most is None or value <= most)
        assert bool(pattern.fullmatch(str(value))) == inside, value


def test_literals_hold_any_text():
    assert literal('a"\\\n中\x00') == '"a\\"\\\\\\x0A中\\x00"'


def test_values_that_begin_alike_share_their_beginning():
    assert one_of(["red", "reed", "blue", "re"]) == '"blue" | "re" ( "" | "d" | "ed" )'


def nested(depth):
    schema = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def chain(length):
    """References that follow one another, each through a property."""
    step = {str(i): {"type": "object", "properties": {"n": {"$ref": f"#/$defs/{i + 1}"}}} for i in range(length)}
    return {"$defs": {**step, str(length): {}}, "$ref": "#/$defs/0"}


def bomb(first, second):
    """A schema that contains itself in two ways which begin alike."""
    return {"$defs": {"n": {"anyOf": [first, second]}}, "$ref": "#/$defs/n"}


SELF = {"$ref": "#/$defs/n"}
A_LIST = {"type": "array", "items": SELF, "minItems": 1}
AN_OBJECT = {"type": "object", "properties": {"a": SELF}, "required": ["a"]}

BOMBS = [
    pytest.param({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, id="reference_to_itself"),
    pytest.param(
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {}]}}},
        id="reference_cycle_through_a_choice",
    ),
    pytest.param(bomb(A_LIST, {**A_LIST, "maxItems": 2}), id="ambiguous_lists_in_themselves"),
    pytest.param(bomb(AN_OBJECT, {**AN_OBJECT, "properties": {"a": SELF, "b": {}}}), id="ambiguous_objects"),
    pytest.param(bomb(AN_OBJECT, {}), id="ambiguous_with_anything"),
    pytest.param({"anyOf": [{"type": "array", "items": {"type": "string"}}] * 70}, id="ambiguous_70_times"),
    pytest.param({"anyOf": [{"type": "null"}] * 10_000}, id="choice_of_10_000"),
    pytest.param({"type": ["object"] * 5_000, "properties": {"a": {"type": ["object"] * 5_000}}}, id="types_repeated"),
    pytest.param({"type": "object", "properties": {f"p{i}": {} for i in range(10_000)}}, id="properties_10_000"),
    pytest.param({"type": "object", "properties": {f"p{i}": {} for i in range(MOST_OPTIONAL + 1)}}, id="many_optional"),
    pytest.param(nested(1_000), id="nested_1_000"),
    pytest.param(chain(3_000), id="references_3_000"),
    pytest.param(chain(200), id="references_200"),
    pytest.param({"enum": list(range(100_000))}, id="huge_enum"),
    pytest.param({"enum": ["x" * 1_000_000]}, id="long_enum"),
    pytest.param({"type": "array", "minItems": 10**9}, id="min_items"),
    pytest.param({"type": "array", "maxItems": 10**9}, id="max_items"),
    pytest.param({"type": "string", "maxLength": 10**9}, id="max_length"),
    pytest.param({"type": "string", "maxLength": -1}, id="negative_length"),
    pytest.param({"type": "string", "minLength": 5, "maxLength": 4}, id="bounds_crossed"),
    pytest.param({"type": "string", "pattern": "(a+)+$"}, id="pattern"),
    pytest.param({"type": "array", "prefixItems": [{"type": "string", "maxLength": 1000}] * 9}, id="bounds_together"),
    pytest.param({"allOf": [{"allOf": [{}]}]}, id="all_of_nested"),
    pytest.param({"type": "integer", "minimum": 3, "maximum": 2}, id="no_number"),
    pytest.param({"type": "integer", "minimum": 10**400}, id="number_beyond_range"),
    pytest.param({"type": "number", "minimum": 0}, id="bound_that_cannot_be_kept"),
    pytest.param({"type": "thing"}, id="unknown_type"),
    pytest.param({"type": [["string"]]}, id="type_of_types"),
    pytest.param({"type": {}}, id="type_an_object"),
    pytest.param({"properties": []}, id="properties_a_list"),
    pytest.param({"properties": {"a": 3}}, id="a_number_for_a_schema"),
    pytest.param({"type": "object", "required": [1]}, id="required_a_number"),
    pytest.param({"enum": []}, id="empty_enum"),
    pytest.param({"enum": "red"}, id="enum_a_text"),
    pytest.param({"anyOf": []}, id="empty_choice"),
    pytest.param({"items": False, "type": "array", "anyOf": [{}]}, id="choice_beside_demands"),
    pytest.param({"oneOf": [{"type": "string"}, {"type": "string", "maxLength": 3}]}, id="one_of_that_overlaps"),
    pytest.param({"$ref": "#/$defs/none"}, id="reference_to_nothing"),
    pytest.param({"$ref": "https://example.org/schema"}, id="reference_elsewhere"),
    pytest.param({"$ref": "#anchor"}, id="reference_to_an_anchor"),
    pytest.param({"$ref": 3}, id="reference_a_number"),
    pytest.param({"$ref": "#/enum/99999999999", "enum": [{}]}, id="reference_far_into_a_list"),
    pytest.param(False, id="false"),
    pytest.param("object", id="a_text"),
]


@pytest.mark.parametrize("schema", BOMBS)
def test_A10_a_schema_that_cannot_be_used_is_refused_at_once(schema):
    started = time.process_time()
    with pytest.raises(SchemaProblem) as refused:
        schema_grammar(schema)
    assert time.process_time() - started < 2.0
    assert refused.value.problem and refused.value.hint


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "string", "pattern": "(a+)+$"}, id="pattern"),
        pytest.param({"type": "number", "minimum": 0, "multipleOf": 0.5}, id="number_bounds"),
        pytest.param({"type": "string", "format": "email"}, id="format"),
        pytest.param({"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}]}, id="choice_beside"),
    ],
)
def test_what_cannot_be_kept_is_passed_over_where_that_is_wanted(schema):
    assert schema_grammar(schema, strict=False).startswith("root ::= ")


def test_a_bound_beyond_what_a_grammar_counts_is_passed_over_where_that_is_allowed():
    long = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 20_000}}, "required": ["text"]}
    free = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    assert schema_grammar(long, strict=False) == schema_grammar(free, strict=False)
    with pytest.raises(SchemaProblem, match="maxLength"):
        schema_grammar(long)


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object", "properties": {f"p{i}": {} for i in range(MOST_OPTIONAL)}}, id="optional"),
        pytest.param({"enum": [f"{i:03}" for i in range(500)]}, id="enum"),
        pytest.param(
            {"type": "array", "items": {"anyOf": [{"type": "string", "maxLength": n} for n in range(1, 33)]}}, id="ways"
        ),
        pytest.param({"type": "array", "minItems": 1000, "items": {"type": "string", "maxLength": 1000}}, id="bounds"),
        pytest.param(
            {
                "type": "object",
                "properties": {f"p{i}": {"type": "string"} for i in range(1000)},
                "required": [f"p{i}" for i in range(1000)],
            },
            id="properties",
        ),
    ],
)
def test_A10_the_dearest_schemas_that_are_taken_still_answer_quickly(runtime, schema):
    grammar = schema_grammar(schema)
    started = time.perf_counter()
    written(runtime, grammar, max_tokens=16)
    assert time.perf_counter() - started < 20.0
