"""Arguments held against the JSON Schema of a tool: what a model meant is put right, what is wrong is said.

A number written as a text becomes the number only where the schema wants one; nothing is guessed. What is said names
the argument, what it must be and what it is, so that a model can correct it. Regular expressions and conditions in a
schema are passed over: schemas come from outside, and the tool itself refuses what it cannot use.
"""

import json
import math
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.harness.tool_calls.loose_json import read_value
from engine.harness.tool_calls.naming import same_name
from engine.strict_json import is_of_type, same

_MOST_STEPS: Final = 20_000
"""Comparisons in one call. Alternatives within alternatives multiply."""
_MOST_LEVELS: Final = 150
"""Of the schema and the value together."""
_MOST_FAULTS: Final = 20
_MOST_LISTED: Final = 20
_MOST_COMPARED: Final = 200
"""Items of a list that are compared with one another."""
_NUMBER: Final = re.compile(r"-?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?")
_WORDS: Final = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
_BOUNDS: Final = (
    ("minimum", "at least", operator.ge),
    ("maximum", "at most", operator.le),
    ("exclusiveMinimum", "more than", operator.gt),
    ("exclusiveMaximum", "less than", operator.lt),
)
_NOTHING: Final = object()


def fitted(arguments: dict[str, Any], schema: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(the arguments as the schema wants them, what is wrong with them as clauses)."""
    fitting = _Fitting(schema)
    closed = {"type": "object", "additionalProperties": False, **schema}
    value, faults = fitting.fit(arguments, closed, "", ())
    return (value, ()) if not faults else (arguments, tuple(faults))


class _Fitting:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._steps = 0
        self._level = 0

    def fit(self, value: Any, schema: Any, place: str, following: tuple[str, ...]) -> tuple[Any, list[str]]:
        """`following` are the references followed since the value was last gone into; one twice never ends."""
        self._steps += 1
        if self._steps > _MOST_STEPS or self._level == _MOST_LEVELS:
            return value, ["the arguments take too many comparisons with the tool's schema"]
        self._level += 1
        try:
            return self._fit(value, schema, place, following)
        finally:
            self._level -= 1

    def _fit(self, value: Any, schema: Any, place: str, following: tuple[str, ...]) -> tuple[Any, list[str]]:
        if schema is False:
            return value, [f"{_named(place)} is not allowed"]
        if not isinstance(schema, Mapping):
            return value, []
        if "$ref" in schema:
            reference = str(schema["$ref"])
            if reference in following:
                return value, [f"{_named(place)}: the tool's schema leads back to itself"]
            value, faults = self.fit(value, self._target(reference), place, (*following, reference))
            if faults:
                return value, faults
        for part in _list(schema.get("allOf")):
            value, faults = self.fit(value, part, place, following)
            if faults:
                return value, faults
        for name in ("anyOf", "oneOf"):
            if options := _list(schema.get(name)):
                value, faults = self._choice(value, options, place, following)
                if faults:
                    return value, faults
        return self._plain(value, schema, place)

    def _target(self, reference: str) -> Any:
        """What a local reference points at; anything is allowed where that is nothing."""
        value = self._root
        if reference != "#" and not reference.startswith("#/"):
            return True
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(value, Mapping) or name not in value:
                return True
            value = value[name]
        return value

    def _choice(
        self, value: Any, options: Sequence[Any], place: str, following: tuple[str, ...]
    ) -> tuple[Any, list[str]]:
        """As the first option has it that takes the value as it is, else as the first that can be made to."""
        tried = [self.fit(value, option, place, following) for option in options]
        fitting = [found for found, faults in tried if not faults]
        if not fitting:
            return value, min((faults for _, faults in tried), key=len)
        return next((found for found in fitting if same(found, value)), fitting[0]), []

    def _plain(self, value: Any, schema: Mapping[str, Any], place: str) -> tuple[Any, list[str]]:
        allowed = [schema["const"]] if "const" in schema else _list(schema.get("enum"))
        if allowed:
            found = _allowed_value(value, allowed)
            if found is _NOTHING:
                return value, [f"{_named(place)} must be {_listed(allowed)}, not {_shown(value)}"]
            return found, []
        kinds = _kinds(schema)
        if kinds and not any(is_of_type(value, kind) for kind in kinds):
            found = next((one for kind in kinds if (one := _made(value, kind)) is not _NOTHING), _NOTHING)
            if found is _NOTHING:
                wanted = " or ".join(_WORDS[kind] for kind in kinds)
                return value, [f"{_named(place)} must be {wanted}, not {_shown(value)}"]
            value = found
        if isinstance(value, float) and "integer" in kinds and "number" not in kinds:
            value = int(value)
        if isinstance(value, dict):
            return self._object(value, schema, place)
        if isinstance(value, list):
            return self._items(value, schema, place)
        return value, _bound_faults(value, schema, place)

    def _object(self, value: dict[str, Any], schema: Mapping[str, Any], place: str) -> tuple[Any, list[str]]:
        described = schema.get("properties")
        described = described if isinstance(described, Mapping) else {}
        others = True if "patternProperties" in schema else schema.get("additionalProperties", True)
        required = [name for name in _list(schema.get("required")) if isinstance(name, str)]
        found: dict[str, Any] = {}
        faults: list[str] = []
        for name, one in value.items():
            if len(faults) >= _MOST_FAULTS:
                return value, faults
            known = name if name in described else same_name(name, [key for key in described if key not in value])
            if known is None and others is False:
                faults.append(f"there is no argument {_named(_joined(place, name))}; {_known(described, required)}")
                continue
            one_schema = described.get(known, others) if known is not None else others
            fit, wrong = self.fit(one, one_schema, _joined(place, known or name), ())
            if wrong and one is None and known not in required:
                continue  # null for what may be left out
            if (known or name) in found:
                faults.append(f"{_named(_joined(place, known or name))} is given twice")
            found[known or name] = fit
            faults += wrong
        for name in required:
            if name not in found and not (name in value and faults):
                faults.append(f"{_named(_joined(place, name))} is missing; it must be {_wanted(described.get(name))}")
        return found, faults or _count_faults(len(found), schema, "Properties", "entries", place)

    def _items(self, value: list[Any], schema: Mapping[str, Any], place: str) -> tuple[Any, list[str]]:
        first, rest = _list(schema.get("prefixItems")), schema.get("items", True)
        found: list[Any] = []
        faults = _count_faults(len(value), schema, "Items", "items", place)
        for number, one in enumerate(value):
            fit, wrong = self.fit(one, first[number] if number < len(first) else rest, f"{place}[{number}]", ())
            found.append(fit)
            faults += wrong
        few = found[:_MOST_COMPARED]
        if schema.get("uniqueItems") is True and any(same(a, b) for n, a in enumerate(few) for b in few[:n]):
            faults.append(f"{_named(place)} holds an item twice")
        return found, faults


def _made(value: Any, kind: str) -> Any:
    """`value` as the kind that was wanted, where that is what was meant; else nothing."""
    if isinstance(value, str):
        return _made_of_text(value.strip(), kind)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return _NOTHING


def _made_of_text(text: str, kind: str) -> Any:
    if kind in ("integer", "number") and _NUMBER.fullmatch(text):
        number = float(text) if any(mark in text for mark in ".eE") else int(text)
        return number if is_of_type(number, kind) and math.isfinite(number) else _NOTHING
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower(), _NOTHING)
    if kind == "null":
        return None if text.lower() in ("null", "none") else _NOTHING
    if kind in ("array", "object") and text[:1] in ("[", "{"):
        try:
            value = read_value(text)
        except ValueError:
            return _NOTHING
        return value if is_of_type(value, kind) else _NOTHING
    return _NOTHING


def _allowed_value(value: Any, allowed: Sequence[Any]) -> Any:
    """The allowed value that is meant: the same, or the only one that is spelt alike."""
    exact = next((one for one in allowed if same(one, value)), _NOTHING)
    if exact is not _NOTHING or isinstance(value, dict | list):
        return exact
    alike = [one for one in allowed if _spelling(one) == _spelling(value)]
    return alike[0] if len(alike) == 1 else _NOTHING


def _spelling(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value)).strip().casefold()


def _bound_faults(value: Any, schema: Mapping[str, Any], place: str) -> list[str]:
    if isinstance(value, str):
        return _count_faults(len(value), schema, "Length", "characters", place)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    return [
        f"{_named(place)} must be {words} {schema[name]}, not {_shown(value)}"
        for name, words, holds in _BOUNDS
        if is_of_type(schema.get(name), "number") and not holds(value, schema[name])
    ]


def _count_faults(count: int, schema: Mapping[str, Any], what: str, unit: str, place: str) -> list[str]:
    least, most = schema.get(f"min{what}"), schema.get(f"max{what}")
    if is_of_type(least, "integer") and count < least:  # type: ignore[operator]
        return [f"{_named(place)} must have at least {least} {unit}, not {count}"]
    if is_of_type(most, "integer") and count > most:  # type: ignore[operator]
        return [f"{_named(place)} must have at most {most} {unit}, not {count}"]
    return []


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type")
    return [one for one in (kind if isinstance(kind, list) else [kind]) if isinstance(one, str) and one in _WORDS]


def _wanted(schema: Any) -> str:
    """What a schema asks for, in a few words."""
    if not isinstance(schema, Mapping):
        return "given"
    allowed = [schema["const"]] if "const" in schema else _list(schema.get("enum"))
    return _listed(allowed) if allowed else " or ".join(_WORDS[kind] for kind in _kinds(schema)) or "given"


def _known(described: Mapping[str, Any], required: Sequence[str]) -> str:
    names = [f"`{name:.40}`{' (required)' if name in required else ''}" for name in described]
    return f"there are {', '.join(names[:_MOST_LISTED])}" if names else "it takes none"


def _listed(values: Sequence[Any]) -> str:
    shown = [_shown(value) for value in values[:_MOST_LISTED]]
    return f"one of {', '.join(shown)}" if len(shown) > 1 else "".join(shown)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _named(place: str) -> str:
    return f"`{place}`" if place else "the arguments"


def _joined(place: str, name: str) -> str:
    return f"{place}.{name:.60}" if place else f"{name:.60}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
