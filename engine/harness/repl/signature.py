"""The JSON Schema of a tool from the signature of its function. Pure: reads the text, evaluates nothing."""

import ast
import json
from collections.abc import Sequence
from typing import Any, Final

from engine.errors import UsageProblem

_MOST_PARAMETERS: Final = 20
_MOST_DEPTH: Final = 8
_HINT: Final = "Use str, int, float, bool, list[...], dict[str, ...], Literal[...], ... | None, or Any."
_PLAIN: Final[dict[str, dict[str, Any]]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "list": {"type": "array"},
    "dict": {"type": "object"},
    "None": {"type": "null"},
    "Any": {},
    "object": {},
}


def parameters_schema(function: ast.FunctionDef) -> dict[str, Any]:
    """An object with one property for each parameter. Raises: UsageProblem."""
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
        raise UsageProblem(
            f"`{function.name}` takes arguments without names of their own.",
            "Name every parameter, without *, ** and /.",
        )
    parameters = [*arguments.args, *arguments.kwonlyargs]
    if len(parameters) > _MOST_PARAMETERS:
        raise UsageProblem(f"`{function.name}` has more than {_MOST_PARAMETERS} parameters.", "Leave some out.")
    defaults: Sequence[ast.expr | None] = [
        *[None] * (len(arguments.args) - len(arguments.defaults)),
        *arguments.defaults,
        *arguments.kw_defaults,
    ]
    properties = {}
    for parameter, default in zip(parameters, defaults, strict=True):
        properties[parameter.arg] = _parameter(parameter, default)
    required = [each.arg for each, default in zip(parameters, defaults, strict=True) if default is None]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _parameter(parameter: ast.arg, default: ast.expr | None) -> dict[str, Any]:
    if not parameter.arg.isascii():
        raise UsageProblem(f"The parameter `{parameter.arg}` has letters beyond a to z.", "Rename it.")
    if parameter.annotation is None:
        raise UsageProblem(f"The parameter `{parameter.arg}` has no type hint.", _HINT)
    schema = dict(_schema(parameter.annotation, _MOST_DEPTH))
    if default is not None:
        schema["default"] = _default(parameter.arg, default)
    return schema


def _default(name: str, node: ast.expr) -> Any:
    problem = UsageProblem(
        f"The default of `{name}` is not a plain value.", "Use a text, a number, True, False, None, or lists of them."
    )
    try:
        value = ast.literal_eval(node)
        written = json.dumps(value, allow_nan=False)
    except (ValueError, TypeError):
        raise problem from None
    # What JSON has no word for, such as a tuple, would come back as something else.
    if json.loads(written) != value:
        raise problem
    return value


def _schema(node: ast.expr, depth: int) -> dict[str, Any]:
    if depth == 0:
        raise UsageProblem("A type hint is nested too deeply.", _HINT)
    match node:
        case ast.Constant(value=None):
            return _PLAIN["None"]
        case ast.Constant(value=str(text)):
            return _schema(_quoted(text), depth - 1)
        case ast.Name() | ast.Attribute() if (name := _name(node)) in _PLAIN:
            return _PLAIN[name]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _any_of([_schema(left, depth - 1), _schema(right, depth - 1)])
        case ast.Subscript(value=value, slice=inner):
            return _generic(_name(value), _items(inner), depth - 1)
    raise UsageProblem(f"The type hint `{ast.unparse(node)[:80]}` has no counterpart in JSON.", _HINT)


def _generic(name: str, inner: list[ast.expr], depth: int) -> dict[str, Any]:
    match name.lower(), inner:
        case ("list" | "sequence" | "iterable", [item]):
            return {"type": "array", "items": _schema(item, depth)}
        case ("dict" | "mapping", [key, value]) if _name(key) == "str":
            return {"type": "object", "additionalProperties": _schema(value, depth)}
        case ("optional", [item]):
            return _any_of([_schema(item, depth), _PLAIN["None"]])
        case ("union", [_, *_]):
            return _any_of([_schema(item, depth) for item in inner])
        case ("literal", [_, *_]):
            return {"enum": [_literal(item) for item in inner]}
    raise UsageProblem(f"A type hint `{name}[...]` like this one has no counterpart in JSON.", _HINT)


def _any_of(options: list[dict[str, Any]]) -> dict[str, Any]:
    flat: list[dict[str, Any]] = []
    for option in options:
        flat += option["anyOf"] if set(option) == {"anyOf"} else [option]
    return {"anyOf": flat}


def _literal(node: ast.expr) -> str | int | bool | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | bool | None):
        return node.value
    raise UsageProblem(f"`{ast.unparse(node)[:80]}` cannot stand in Literal.", _HINT)


def _quoted(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise UsageProblem(f"The type hint '{text[:80]}' is not Python.", _HINT) from None


def _items(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _name(node: ast.expr) -> str:
    """The last part of a name such as `typing.Any`; empty for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return name
    return ""
