"""What an answer may be, as a graph of nodes that a grammar can hold it to, and how dear such a graph is to follow.

Pure. Knows neither JSON Schema, whose reader is `engine.harness.schema_reading`, nor the syntax of grammars.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, Literal

from engine.errors import UsageProblem

MOST_WAYS: Final = 64
"""Ways of reading the same text at once. A grammar follows all of them with every token, so they cost time."""

Text = Literal["any", "date", "time", "date-time", "uuid"]
Scalar = Literal["integer", "number", "boolean", "null"]

_FIRST: Final[Mapping[str, frozenset[str]]] = {
    "integer": frozenset("0"),
    "number": frozenset("0"),
    "boolean": frozenset("tf"),
    "null": frozenset("n"),
}


class SchemaProblem(UsageProblem):
    """The schema cannot be used, with the place where and the reason."""


@dataclass(slots=True, eq=False)
class AnyNode:
    """Any JSON value."""


@dataclass(slots=True, eq=False)
class ScalarNode:
    kind: Scalar
    least: int | None = None
    """Bounds of a whole number, both included."""
    most: int | None = None


@dataclass(slots=True, eq=False)
class TextNode:
    shape: Text = "any"
    least: int = 0
    most: int | None = None
    """Characters."""


@dataclass(slots=True, eq=False)
class ValuesNode:
    """One of these JSON texts."""

    values: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Property:
    name: str
    node: "Node"
    is_required: bool


@dataclass(slots=True, eq=False)
class ObjectNode:
    """An object with these properties in this order; or, without any, with whatever names and `others` as values."""

    properties: list[Property] = field(default_factory=list)
    others: "Node | None" = None


@dataclass(slots=True, eq=False)
class ArrayNode:
    prefix: list["Node"] = field(default_factory=list)
    items: "Node | None" = None
    least: int = 0
    """Items after the prefix."""
    most: int | None = None


@dataclass(slots=True, eq=False)
class ChoiceNode:
    options: list["Node"] = field(default_factory=list)


Node = AnyNode | ScalarNode | TextNode | ValuesNode | ObjectNode | ArrayNode | ChoiceNode


def ways(root: Node) -> float:
    """The most ways in which one text can be read at the same time; infinite where that grows with the text.

    A choice whose options tell themselves apart by their beginning costs as much as its dearest option, any other the
    sum of all. Where a choice leads back to itself, only the first kind has an end.
    """
    nodes = list(reachable(root))
    apart = {id(node): are_apart(node.options) for node in nodes if isinstance(node, ChoiceNode)}
    counts: dict[int, float] = {id(node): 1 for node in nodes}
    while True:
        changed = False
        for node in nodes:
            below = [counts[id(child)] for child in children(node)]
            count = sum(below) if isinstance(node, ChoiceNode) and not apart[id(node)] else max(below, default=1)
            if count > counts[id(node)]:
                counts[id(node)], changed = count, True
            if count > MOST_WAYS:
                return math.inf
        if not changed:
            return counts[id(root)]


def children(node: Node) -> Sequence[Node]:
    match node:
        case ObjectNode(properties, others):
            return [*(one.node for one in properties), *([others] if others else [])]
        case ArrayNode(prefix, items):
            return [*prefix, *([items] if items else [])]
        case ChoiceNode(options):
            return options
    return ()


def reachable(root: Node) -> Iterator[Node]:
    """Every node once, the deepest of each branch first where there is no cycle."""
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(child, False) for child in children(node)]


def are_apart(options: Sequence[Node]) -> bool:
    return all(_is_apart(left, right) for left, right in combinations(options, 2))


def _is_apart(left: Node, right: Node) -> bool:
    """Whether the first characters, or the first property, say which of the two it is."""
    if not _first(left) & _first(right):
        return True
    left, right = _unwrapped(left), _unwrapped(right)
    if isinstance(left, ValuesNode) and isinstance(right, ValuesNode):
        return not set(left.values) & set(right.values)
    if not isinstance(left, ObjectNode) or not isinstance(right, ObjectNode):
        return False
    if not left.properties or not right.properties:
        return False
    one, other = left.properties[0], right.properties[0]
    if not one.is_required or not other.is_required:
        return False
    if one.name != other.name:
        return True
    if isinstance(one.node, ValuesNode) and isinstance(other.node, ValuesNode):
        return not set(one.node.values) & set(other.node.values)
    return False


def _unwrapped(node: Node) -> Node:
    while isinstance(node, ChoiceNode) and len(node.options) == 1:
        node = node.options[0]
    return node


def _first(node: Node) -> frozenset[str]:
    """First characters, digits and the minus sign as "0". Ends: no choice leads to itself without a bracket."""
    match node:
        case AnyNode():
            return frozenset('{["0tfn')
        case ScalarNode(kind):
            return _FIRST[kind]
        case TextNode():
            return frozenset('"')
        case ValuesNode(values):
            return frozenset("0" if value[0] in "-0123456789" else value[0] for value in values)
        case ObjectNode():
            return frozenset("{")
        case ArrayNode():
            return frozenset("[")
        case ChoiceNode(options):
            return frozenset().union(*map(_first, options))
