"""Grammars (GBNF) that hold an answer to a JSON Schema, and the pieces to build a larger grammar around one.

Pure: text in, text out. What may be asked for at all is decided in `engine.harness.schema_reading`.
"""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from engine.harness.integer_ranges import integers_between
from engine.harness.schema_nodes import (
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
    reachable,
)
from engine.harness.schema_reading import read_schema

MOST_GRAMMAR_CHARACTERS: Final = 400_000
_TRIE_DEPTH: Final = 8
"""Characters by which values are told apart early; further down they simply stand side by side."""

# Space is allowed where people put it, and bounded, so that a model cannot write it for ever.
_COMMON: Final = {
    "ws": '| " " | "\\n" " "{0,24}',
    "value": "object | array | string | number | boolean | null",
    "object": '"{" ws ( "}" | member ( "," ws member )* ws "}" )',
    "member": 'string ":" ws value',
    "array": '"[" ws ( "]" | value ( "," ws value )* ws "]" )',
    "string": '"\\"" char* "\\""',
    # Escapes of half a character (D800 to DFFF) are left out: no text may hold one.
    "char": '[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ( ["\\\\/bfnrt] | "u" whole )',
    "whole": "[0-9abcefABCEF] hex hex hex | [dD] [0-7] hex hex",
    "hex": "[0-9a-fA-F]",
    "integer": '"-"? ( "0" | [1-9] [0-9]{0,15} )',
    "number": 'integer ( "." [0-9]{1,16} )? ( [eE] [-+]? [0-9]{1,2} )?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "date": '[0-9]{4} "-" ( "0" [1-9] | "1" [0-2] ) "-" ( "0" [1-9] | "1" [0-9] | "2" [0-8] )',
    "time": '( [01] [0-9] | "2" [0-3] ) ":" [0-5] [0-9] ":" [0-5] [0-9] ( "." [0-9]{1,6} )? '
    '( "Z" | [-+] ( [01] [0-9] | "2" [0-3] ) ":" [0-5] [0-9] )',
    "date-time": 'date "T" time',
    "uuid": 'hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12}',
}


class GrammarBuilder:
    """Collects rules. Ask for the name of the rule of a schema, add rules of your own, then take the text."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = dict(_COMMON)
        self._schemas = 0

    def add(self, name: str, body: str) -> str:
        """A rule of your own; names are lower-case letters, digits and dashes. Returns the name."""
        self._rules[name] = body
        return name

    def schema(self, schema: Any, *, strict: bool = True) -> str:
        """The name of a rule that matches what `schema` allows. Raises: SchemaProblem."""
        return self.node(read_schema(schema, strict=strict))

    def node(self, root: Node) -> str:
        prefix, self._schemas = f"s{self._schemas}", self._schemas + 1
        nodes = list(reachable(root))
        names = {id(node): f"{prefix}-{number}" for number, node in enumerate(nodes)}
        for node in nodes:
            self._add_node(names[id(node)], node, names)
        return names[id(root)]

    def text(self, root: str) -> str:
        """The whole grammar, beginning with the rule of this name or with this expression."""
        text = "\n".join(f"{name} ::= {body}" for name, body in {"root": root, **self._rules}.items()) + "\n"
        if len(text) > MOST_GRAMMAR_CHARACTERS:
            raise SchemaProblem("The schema makes too large a grammar.", "Make it smaller.")
        return text

    def _add_node(self, name: str, node: Node, names: dict[int, str]) -> None:
        match node:
            case AnyNode():
                body = "value"
            case ScalarNode("integer", least, most) if least is not None or most is not None:
                body = integers_between(least, most)
            case ScalarNode(kind):
                body = kind
            case TextNode():
                body = _text(node)
            case ValuesNode(values):
                body = one_of(values)
            case ChoiceNode(options):
                body = " | ".join(names[id(option)] for option in options)
            case ArrayNode():
                body = _array(node, names)
            case ObjectNode([], others):
                body = _map(None if others is None else names[id(others)])
            case ObjectNode(properties):
                body = self._object(name, properties, names)
        self._rules[name] = body

    def _object(self, name: str, properties: Sequence[Property], names: dict[int, str]) -> str:
        """Properties come in the order of the schema; rule `NAME-rI` is what may follow from number I on."""
        members = [f"{literal(_json(one.name) + ':')} ws {names[id(one.node)]}" for one in properties]
        for start in range(1, len(properties)):
            self._rules[f"{name}-r{start}"] = _next_members(name, properties, members, start, '"," ws ')
        first = _next_members(name, properties, members, 0, "")
        if not any(one.is_required for one in properties):
            return f'"{{" ws ( "}}" | ( {first.removeprefix("| ")} ) ws "}}" )'
        return f'"{{" ws ( {first} ) ws "}}"'


def json_object_grammar() -> str:
    """Any JSON object, and nothing around it."""
    return GrammarBuilder().text("object")


def schema_grammar(schema: Any, *, strict: bool = True) -> str:
    """Exactly one JSON value that the schema allows. Raises: SchemaProblem."""
    builder = GrammarBuilder()
    return builder.text(builder.schema(schema, strict=strict))


def literal(text: str) -> str:
    """A text as it stands in a grammar."""
    escaped = "".join(_escaped(character) for character in text)
    return f'"{escaped}"'


def one_of(texts: Sequence[str]) -> str:
    """One of these texts. Those that begin alike share their beginning: every alternative is looked at per token."""
    return _trie(sorted(set(texts)), _TRIE_DEPTH)


def _trie(texts: Sequence[str], depth: int) -> str:
    if len(texts) < 2 or depth == 0:
        return " | ".join(map(literal, texts))
    alternatives = []
    for _, group in groupby(texts, key=lambda text: text[:1]):
        same = list(group)
        shared = _shared_beginning(same[0], same[-1])
        rest = [text[len(shared) :] for text in same]
        if len(rest) == 1:
            alternatives.append(literal(same[0]))
        elif not shared:
            alternatives += map(literal, rest)
        else:
            alternatives.append(f"{literal(shared)} ( {_trie(rest, depth - 1)} )")
    return " | ".join(alternatives)


def _shared_beginning(first: str, last: str) -> str:
    """Of sorted texts, the first and the last differ earliest."""
    for position, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return first[:position]
    return first


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character < " " or character == "\x7f":
        return f"\\x{ord(character):02X}"
    return character


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _text(node: TextNode) -> str:
    if node.shape != "any":
        return f'"\\"" {node.shape} "\\""'
    if node.least == 0 and node.most is None:
        return "string"
    return f'"\\"" {_repeated("char", node.least, node.most)} "\\""'


def _repeated(what: str, least: int, most: int | None) -> str:
    return f"{what}{{{least},{'' if most is None else most}}}"


def _map(others: str | None) -> str:
    if others is None:
        return '"{" ws "}"'
    member = f'string ":" ws {others}'
    return f'"{{" ws ( "}}" | {member} ( "," ws {member} )* ws "}}" )'


def _array(node: ArrayNode, names: dict[int, str]) -> str:
    prefix = ' "," ws '.join(names[id(item)] for item in node.prefix)
    if node.items is None or node.most == 0:
        return f'"[" ws {prefix} ws "]"' if prefix else '"[" ws "]"'
    item = names[id(node.items)]
    if prefix:
        return f'"[" ws {prefix} {_repeated(f"""( "," ws {item} )""", node.least, node.most)} ws "]"'
    more = _repeated(f'( "," ws {item} )', max(0, node.least - 1), None if node.most is None else node.most - 1)
    filled = f'{item} {more} ws "]"'
    return f'"[" ws {filled}' if node.least else f'"[" ws ( "]" | {filled} )'


def _next_members(name: str, properties: Sequence[Property], members: Sequence[str], start: int, comma: str) -> str:
    """One of the members from `start` on up to the next required one, and what may follow; or nothing more."""
    alternatives = []
    for position in range(start, len(properties)):
        rest = f" {name}-r{position + 1}" if position + 1 < len(properties) else ""
        alternatives.append(f"{comma}{members[position]}{rest}")
        if properties[position].is_required:
            return " | ".join(alternatives)
    return " | ".join(["", *alternatives]).strip()
