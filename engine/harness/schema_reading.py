"""A JSON Schema read into a graph of nodes, with what cannot be enforced refused or passed over.

Schemas come from outside. Everything that would make a grammar large, slow or endless is refused here, in pure code,
before the engine sees any of it. Knows no grammar syntax and no model.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from engine.harness.integer_ranges import LARGEST
from engine.harness.schema_nodes import (
    MOST_WAYS,
    AnyNode,
    ArrayNode,
    ChoiceNode,
    Node,
    ObjectNode,
    Property,
    ScalarNode,
    SchemaProblem,
    TextNode,
    ValuesNode,
    are_apart,
    ways,
)

MOST_SCHEMA_CHARACTERS: Final = 200_000
MOST_DEPTH: Final = 40
"""Levels of nesting, as written."""
MOST_LEVELS: Final = 100
"""Levels of nesting with every reference followed."""
MOST_NODES: Final = 5_000
MOST_PROPERTIES: Final = 1_000
"""In the whole schema."""
MOST_OPTIONAL: Final = 64
"""Optional properties of one object; each may be the next one wherever it has not been passed yet."""
MOST_ALTERNATIVES: Final = 100
MOST_VALUES: Final = 500
"""Values of one enum."""
MOST_REPEATED: Final = 1_000
"""Items or characters that one bound may count, and all bounds together four times that."""

_BESIDE_CHOICE: Final = ("enum", "const", "properties", "items", "prefixItems", "additionalProperties", "required")
"""What narrows a schema further than a choice beside it could be read to."""
_UNENFORCED: Final = (
    *("pattern", "multipleOf", "uniqueItems"),
    *("contains", "minContains", "maxContains", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
    *("propertyNames", "patternProperties", "minProperties", "maxProperties", "unevaluatedItems"),
    "unevaluatedProperties",
)
_NUMBER_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_FORMATS: Final = ("date", "time", "date-time", "uuid")


def read_schema(schema: Any, *, strict: bool = True) -> Node:
    """The graph of a schema. Strict refuses what cannot be held to; otherwise such keywords are passed over.

    Raises: SchemaProblem.
    """
    _check_size(schema)
    reader = _Reader(schema, strict)
    node = reader.node(schema, "the schema")
    if strict and not all(are_apart(options) for options in reader.exclusive):
        raise SchemaProblem("oneOf has alternatives that may both fit.", "Use anyOf.")
    if ways(node) > MOST_WAYS:
        raise SchemaProblem(
            "The schema has alternatives that begin alike, too many or within itself.",
            "Let each alternative begin with a required property of another name or another constant.",
        )
    return node


def _check_size(schema: Any) -> None:
    """Look at every value once, without recursion: this is where hostile nesting ends."""
    nodes = 0
    level: list[Any] = [schema]
    for _ in range(MOST_DEPTH):
        nodes += len(level)
        if nodes > MOST_NODES:
            raise SchemaProblem(f"The schema has more than {MOST_NODES} parts.", "Make it smaller.")
        level = [child for value in level for child in _children(value)]
        if not level:
            break
    if level:
        raise SchemaProblem(f"The schema is nested more than {MOST_DEPTH} deep.", "Use $defs and $ref, or flatten it.")
    if len(json.dumps(schema, ensure_ascii=False)) > MOST_SCHEMA_CHARACTERS:
        raise SchemaProblem(f"The schema has more than {MOST_SCHEMA_CHARACTERS} characters.", "Make it smaller.")


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        yield from value


class _Reader:
    def __init__(self, root: Any, strict: bool) -> None:
        self._root = root
        self._strict = strict
        self._targets: dict[str, Node] = {}
        self._open: list[str] = []
        """References being followed without a bracket in between; meeting one again would never end."""
        self._level = 0
        self._properties = 0
        self._repeated = 0
        self.exclusive: list[list[Node]] = []
        """The options of every oneOf."""

    def node(self, schema: Any, place: str) -> Node:
        if schema is True or schema == {}:
            return AnyNode()
        if not isinstance(schema, dict):
            raise SchemaProblem(f"{place} is no schema.", "A schema is an object, or true.")
        if self._level == MOST_LEVELS:
            raise SchemaProblem(f"The schema is nested more than {MOST_LEVELS} deep.", "Flatten it.")
        self._level += 1
        try:
            return self._read(schema, place)
        finally:
            self._level -= 1

    def _read(self, schema: dict[str, Any], place: str) -> Node:
        if "$ref" in schema:
            return self._reference(schema["$ref"], place)
        if "allOf" in schema:
            return self.node(self._merged(schema, place), place)
        self._check_enforced(schema, place)
        for name in ("anyOf", "oneOf"):
            if name not in schema:
                continue
            if not any(key in schema for key in _BESIDE_CHOICE):
                return self._choice(_list(schema[name], f"{place}: {name}"), f"{place}: {name}", name == "oneOf")
            if self._strict:
                raise SchemaProblem(f"{place}: {name} stands beside other demands.", "Put them into each alternative.")
        if "const" in schema:
            return self._values([schema["const"]], place)
        if "enum" in schema:
            return self._values(_list(schema["enum"], f"{place}: enum"), place)
        return self._typed(schema, place)

    def _check_enforced(self, schema: Mapping[str, Any], place: str) -> None:
        if not self._strict:
            return
        found = [name for name in _UNENFORCED if schema.get(name) is not None and schema[name] is not False]
        if schema.get("type") != "integer":  # of other numbers, a grammar cannot tell which is larger
            found += [name for name in _NUMBER_BOUNDS if schema.get(name) is not None]
        if schema.get("format") not in (None, *_FORMATS):
            found.append(f"format {schema['format']!r:.40}")
        if found:
            raise SchemaProblem(
                f"{place}: {found[0]} cannot be enforced here.", "Leave it out, or set strict to false to pass over it."
            )

    def _reference(self, reference: Any, place: str) -> Node:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise SchemaProblem(f"{place}: $ref must point into the schema itself.", 'Such as "#/$defs/item".')
        if reference in self._open:
            raise SchemaProblem(f"{place}: $ref {reference:.80} leads back to itself.", "Put something in between.")
        known = self._targets.get(reference)
        if known is not None:
            return known
        target = self._look_up(reference, place)
        holder = ChoiceNode()
        self._targets[reference] = holder  # known before it is read: it may contain itself
        self._open.append(reference)
        try:
            holder.options.append(self.node(target, f"{reference:.80}"))
        finally:
            self._open.remove(reference)
        return holder

    def _look_up(self, reference: str, place: str) -> Any:
        value = self._root
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and name.isascii() and name.isdecimal() and int(name[:6]) < len(value):
                value = value[int(name[:6])]
            else:
                raise SchemaProblem(f"{place}: $ref {reference:.80} points at nothing.", "Define it under $defs.")
        return value

    def _merged(self, schema: Mapping[str, Any], place: str) -> dict[str, Any]:
        """One schema of all that `allOf` lists, where they only add to one another."""
        merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
        for part in _list(schema["allOf"], f"{place}: allOf"):
            if isinstance(part, dict) and "$ref" in part and len(schema["allOf"]) > 1:
                part = self._look_up(str(part["$ref"]), place)
            if not isinstance(part, dict) or "allOf" in part:
                raise SchemaProblem(f"{place}: allOf is nested or holds no schema.", "Write one schema instead.")
            for key, value in part.items():
                if key == "properties" and isinstance(value, dict) and isinstance(merged.get(key), dict):
                    merged[key] = {**merged[key], **value}
                elif key == "required" and isinstance(value, list) and isinstance(merged.get(key), list):
                    merged[key] = [*merged[key], *value]
                elif merged.setdefault(key, value) != value and key not in ("title", "description"):
                    raise SchemaProblem(f"{place}: allOf gives two of {key:.40}.", "Write one schema instead.")
        return merged

    def _choice(self, options: Sequence[Any], place: str, is_exclusive: bool = False) -> Node:
        if not 1 <= len(options) <= MOST_ALTERNATIVES:
            raise SchemaProblem(
                f"{place} has {len(options)} alternatives.", f"Give it at least 1 and at most {MOST_ALTERNATIVES}."
            )
        read = [self.node(option, f"{place}[{number}]") for number, option in enumerate(options)]
        if is_exclusive:
            self.exclusive.append(read)
        return read[0] if len(read) == 1 else ChoiceNode(read)

    def _values(self, values: Sequence[Any], place: str) -> Node:
        if not values or len(values) > MOST_VALUES:
            raise SchemaProblem(
                f"{place}: enum has {len(values)} values.", f"Give it at least 1 and at most {MOST_VALUES}."
            )
        return ValuesNode(tuple(dict.fromkeys(json.dumps(value, ensure_ascii=False) for value in values)))

    def _typed(self, schema: Mapping[str, Any], place: str) -> Node:
        kind = schema.get("type")
        if isinstance(kind, list):
            # Each once, or nested lists of the same would multiply.
            kinds = dict.fromkeys(one for one in kind if isinstance(one, str)) if len(kind) < 8 else {}
            return self._choice([{**schema, "type": one} for one in kinds], f"{place}: type")
        if kind is None:
            kind = "object" if "properties" in schema else "array" if {"items", "prefixItems"} & set(schema) else None
        match kind:
            case None:
                return AnyNode()
            case "object":
                return self._object(schema, place)
            case "array":
                return self._array(schema, place)
            case "string":
                return self._text(schema, place)
            case "integer":
                return self._integer(schema, place)
            case "number" | "boolean" | "null":
                return ScalarNode(kind)
        raise SchemaProblem(f"{place}: there is no type {kind!r:.40}.", "Use a type of JSON Schema.")

    def _object(self, schema: Mapping[str, Any], place: str) -> Node:
        described = schema.get("properties", {})
        required = _list(schema.get("required", []), f"{place}: required")
        if not isinstance(described, dict) or not all(isinstance(name, str) for name in required):
            raise SchemaProblem(f"{place}: properties or required is malformed.", "See the JSON Schema of an object.")
        wanted = {**described, **{name: True for name in required if name not in described}}
        self._properties += len(wanted)
        if self._properties > MOST_PROPERTIES:
            raise SchemaProblem(f"The schema has more than {MOST_PROPERTIES} properties.", "Make it smaller.")
        if len(wanted) - len(set(required)) > MOST_OPTIONAL:
            raise SchemaProblem(f"{place} has more than {MOST_OPTIONAL} optional properties.", "Require them.")
        with_bracket, self._open = self._open, []
        try:
            if not wanted:
                others = schema.get("additionalProperties", True)
                return ObjectNode([], None if others is False else self.node(others, f"{place}: additionalProperties"))
            names = set(required)
            return ObjectNode(
                [
                    Property(name, self.node(value, f"{place}: {name:.40}"), name in names)
                    for name, value in wanted.items()
                ]
            )
        finally:
            self._open = with_bracket

    def _array(self, schema: Mapping[str, Any], place: str) -> Node:
        least, most = self._bounds(schema, "minItems", "maxItems", place)
        prefix = _list(schema.get("prefixItems", []), f"{place}: prefixItems")[:most]
        items = schema.get("items", True)
        with_bracket, self._open = self._open, []
        try:
            read = [self.node(item, f"{place}: prefixItems") for item in prefix]
            if items is False:
                return ArrayNode(read, None, 0, 0)
            rest = None if most is None else most - len(read)
            return ArrayNode(read, self.node(items, f"{place}: items"), max(0, least - len(read)), rest)
        finally:
            self._open = with_bracket

    def _integer(self, schema: Mapping[str, Any], place: str) -> Node:
        bounds = {name: schema[name] for name in _NUMBER_BOUNDS if schema.get(name) is not None}
        if not bounds:
            return ScalarNode("integer")
        for name, value in bounds.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise SchemaProblem(f"{place}: {name} must be a number.", "Write one.")
        low = max(
            math.ceil(bounds.get("minimum", -LARGEST)), math.floor(bounds.get("exclusiveMinimum", -LARGEST - 1)) + 1
        )
        high = min(
            math.floor(bounds.get("maximum", LARGEST)), math.ceil(bounds.get("exclusiveMaximum", LARGEST + 1)) - 1
        )
        if low > high or low > LARGEST or high < -LARGEST:
            raise SchemaProblem(f"{place}: no whole number lies between the bounds.", "Choose other bounds.")
        return ScalarNode("integer", low, high)

    def _text(self, schema: Mapping[str, Any], place: str) -> Node:
        shape = schema.get("format")
        if shape in _FORMATS:
            return TextNode(shape)
        return TextNode("any", *self._bounds(schema, "minLength", "maxLength", place))

    def _bounds(self, schema: Mapping[str, Any], low: str, high: str, place: str) -> tuple[int, int | None]:
        least, most = schema.get(low, 0), schema.get(high)
        if not self._strict and type(most) is int and most > MOST_REPEATED:
            most = None  # more than a grammar can count; whoever takes the value looks at it anyway
        for name, value in ((low, least), (high, 0 if most is None else most)):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_REPEATED:
                raise SchemaProblem(f"{place}: {name} must be from 0 to {MOST_REPEATED}.", "Choose another bound.")
            self._repeated += value
        if self._repeated > 4 * MOST_REPEATED:
            raise SchemaProblem("The bounds of the schema are too large together.", "Leave some out, or lower them.")
        if most is not None and most < least:
            raise SchemaProblem(f"{place}: {high} is below {low}.", "Exchange them.")
        return least, most


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise SchemaProblem(f"{place} must be a list.", "Put it in brackets.")
    return value
