"""Does a JSON value match a schema? The part of JSON Schema that answers are asked for, checked exactly.

A schema with a keyword that is not known here is refused, since passing over it would reward what it forbids. Pure.
The grammar that enforces a schema while an answer is written is another matter: `engine.harness.schema_grammar`.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.strict_json import is_of_type, same

_ANNOTATIONS: Final = frozenset(
    {"title", "description", "default", "examples", "$schema", "$id", "$comment", "$defs", "definitions", "format"}
)
_TYPES: Final = ("object", "array", "string", "integer", "number", "boolean", "null")
_NUMBERS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_COUNTS: Final = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMAS: Final = frozenset({"not", "items", "additionalProperties"})
_KNOWN: Final = (
    _ANNOTATIONS
    | _NUMBERS
    | _COUNTS
    | _LISTS
    | _SCHEMAS
    | {"type", "enum", "const", "properties", "required", "uniqueItems", "$ref"}
)
_MOST_STEPS: Final = 50_000
"""Comparisons per value. Alternatives within alternatives multiply."""


def schema_fault(schema: Any) -> str:
    """What is wrong with a schema, as a clause; empty when it can be used."""
    return next(_faults(schema, schema, "the schema"), "")


def mismatch(value: Any, schema: Any) -> str:
    """Where and how `value` breaks a schema without a fault, as a clause; empty when it matches."""
    return _Matching(schema).mismatch(value, schema, "the value", ())


def _faults(schema: Any, root: Any, place: str) -> Iterator[str]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"{place} is neither an object nor true or false"
        return
    for name, value in schema.items():
        if name not in _KNOWN:
            yield f"{place} has the keyword `{name:.40}`, which is not supported"
        elif name == "type" and not all(one in _TYPES for one in (value if isinstance(value, list) else [value])):
            yield f"{place}: there is no type {value!r:.40}"
        elif name == "enum" and (not isinstance(value, list) or not value):
            yield f"{place}: `enum` must be a list of values"
        elif name == "required" and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            yield f"{place}: `required` must be a list of names"
        elif name in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
            yield f"{place}: `{name}` must be a number"
        elif name == "multipleOf" and value <= 0:
            yield f"{place}: `multipleOf` must be above 0"
        elif name in _COUNTS and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            yield f"{place}: `{name}` must be a whole number of at least 0"
        elif name == "$ref" and _target(root, value) is None:
            yield f"{place}: $ref {value!r:.80} points at nothing within the schema"
        else:
            yield from _inner_faults(name, value, root, f"{place}: {name}")


def _inner_faults(name: str, value: Any, root: Any, place: str) -> Iterator[str]:
    if name in _LISTS:
        if not isinstance(value, list) or not value:
            yield f"{place} must be a list of schemas"
            return
        for number, one in enumerate(value):
            yield from _faults(one, root, f"{place}[{number}]")
    elif name in ("properties", "$defs", "definitions"):
        if not isinstance(value, dict):
            yield f"{place} must be an object of schemas"
            return
        for key, one in value.items():
            yield from _faults(one, root, f"{place}.{key:.40}")
    elif name in _SCHEMAS:
        yield from _faults(value, root, place)


def _target(root: Any, reference: Any) -> Any:
    """What a local reference points at; None when that is nothing."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    value = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value if isinstance(value, dict | bool) else None


class _Matching:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._steps = 0

    def mismatch(self, value: Any, schema: Any, place: str, following: tuple[str, ...]) -> str:
        """`following` are the references followed since the value was last gone into; one twice never ends."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return "it takes too many comparisons"
        if isinstance(schema, bool):
            return "" if schema else f"{place} is not allowed"
        if "$ref" in schema:
            reference = schema["$ref"]
            if reference in following:
                return f"{place}: the schema's $ref {reference:.40} leads back to itself"
            found = self.mismatch(value, _target(self._root, reference), place, (*following, reference))
            if found:
                return found
        return (
            _plain_mismatch(value, schema, place)
            or self._choice_mismatch(value, schema, place, following)
            or self._inner_mismatch(value, schema, place)
        )

    def _choice_mismatch(self, value: Any, schema: Mapping[str, Any], place: str, following: tuple[str, ...]) -> str:
        def fits(one: Any) -> bool:
            return self.mismatch(value, one, place, following) == ""

        for one in schema.get("allOf", []):
            if found := self.mismatch(value, one, place, following):
                return found
        if "anyOf" in schema and not any(map(fits, schema["anyOf"])):
            return f"{place} fits none of the alternatives"
        if "oneOf" in schema and (count := sum(map(fits, schema["oneOf"]))) != 1:
            return f"{place} fits {count} of the alternatives instead of one"
        if "not" in schema and fits(schema["not"]):
            return f"{place} is what it must not be"
        return ""

    def _inner_mismatch(self, value: Any, schema: Mapping[str, Any], place: str) -> str:
        if isinstance(value, dict):
            named, others = schema.get("properties", {}), schema.get("additionalProperties", True)
            for name, one in value.items():
                if found := self.mismatch(one, named.get(name, others), f"{place}.{name:.40}", ()):
                    return found
        if isinstance(value, list):
            first, rest = schema.get("prefixItems", []), schema.get("items", True)
            for number, one in enumerate(value):
                wanted = first[number] if number < len(first) else rest
                if found := self.mismatch(one, wanted, f"{place}[{number}]", ()):
                    return found
        return ""


def _plain_mismatch(value: Any, schema: Mapping[str, Any], place: str) -> str:
    kinds = schema.get("type", list(_TYPES))
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not any(is_of_type(value, kind) for kind in kinds):
        return f"{place} is no {' or '.join(kinds)}"
    if "const" in schema and not same(value, schema["const"]):
        return f"{place} is not {schema['const']!r:.40}"
    if "enum" in schema and not any(same(value, one) for one in schema["enum"]):
        return f"{place} is none of the allowed values"
    if isinstance(value, str):
        return _count_mismatch(len(value), schema, "minLength", "maxLength", f"{place}, in characters,")
    if isinstance(value, list):
        if schema.get("uniqueItems") is True and any(same(a, b) for n, a in enumerate(value) for b in value[:n]):
            return f"{place} holds an item twice"
        return _count_mismatch(len(value), schema, "minItems", "maxItems", f"{place}, in items,")
    if isinstance(value, dict):
        missing = [name for name in schema.get("required", []) if name not in value]
        if missing:
            return f"{place} lacks `{missing[0]:.40}`"
        return _count_mismatch(len(value), schema, "minProperties", "maxProperties", f"{place}, in properties,")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number_mismatch(value, schema, place)
    return ""


def _count_mismatch(count: int, schema: Mapping[str, Any], low: str, high: str, place: str) -> str:
    if count < schema.get(low, 0):
        return f"{place} has {count} instead of at least {schema[low]}"
    return f"{place} has {count} instead of at most {schema[high]}" if count > schema.get(high, math.inf) else ""


def _number_mismatch(value: float, schema: Mapping[str, Any], place: str) -> str:
    if value < schema.get("minimum", -math.inf) or value <= schema.get("exclusiveMinimum", -math.inf):
        return f"{place} is too small"
    if value > schema.get("maximum", math.inf) or value >= schema.get("exclusiveMaximum", math.inf):
        return f"{place} is too large"
    if "multipleOf" in schema:
        times = value / schema["multipleOf"]
        if not math.isfinite(times) or not math.isclose(times, round(times), rel_tol=1e-9, abs_tol=1e-9):
            return f"{place} is no multiple of {schema['multipleOf']}"
    return ""
