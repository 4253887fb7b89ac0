"""The grammar of an answer that must be a call, in the style its family writes calls in."""

import json
from collections.abc import Sequence
from typing import Any, Final

from engine.harness.schema_grammar import GrammarBuilder, literal, one_of
from engine.harness.schema_nodes import (
    ChoiceNode,
    Node,
    ObjectNode,
    Property,
    SchemaProblem,
    TextNode,
    ValuesNode,
)
from engine.harness.schema_reading import read_schema
from engine.harness.tool_calls.calls import CALL_CLOSE, CALL_OPEN, Style, Tool

_VALUE_END: Final = "</parameter>"


def call_grammar(tools: Sequence[Tool], style: Style, most: int = 1) -> str:
    """One call of one of `tools`, or up to `most` calls.

    Raises: SchemaProblem when the parameters of a tool cannot be enforced.
    """
    builder = GrammarBuilder()
    for number, tool in enumerate(tools):
        builder.add(f"tool-{number}", _tool(builder, tool, style, number))
    names = " | ".join(f"tool-{number}" for number in range(len(tools)))
    opening, closing = {
        "json": (f'{CALL_OPEN}\n{{"name": "', f"}}\n{CALL_CLOSE}"),
        "xml": (f"{CALL_OPEN}\n<function=", f"</function>\n{CALL_CLOSE}"),
        "bare": ('{"name": "', "}"),
    }[style]
    builder.add("call", f"{literal(opening)} ( {names} ) {literal(closing)}")
    return builder.text(f'call ( "\\n" call ){{0,{most - 1}}}' if most > 1 else "call")


def _tool(builder: GrammarBuilder, tool: Tool, style: Style, number: int) -> str:
    """What follows the opening of a call of this tool, its name first."""
    node = _arguments(tool)
    if style != "xml":
        key = "parameters" if style == "bare" else "arguments"
        return literal(f'{tool.name}", "{key}": ') + " " + builder.node(node)
    parts = [literal(f"{tool.name}>\n")]
    for position, one in enumerate(node.properties):
        rule = builder.add(f"tool-{number}-p{position}", _parameter(builder, one))
        parts.append(rule if one.is_required else f"{rule}?")
    return " ".join(parts)


def _arguments(tool: Tool) -> ObjectNode:
    parameters: Any = {"type": "object", "additionalProperties": False, **tool.parameters}
    node = read_schema(parameters, strict=tool.strict)
    while isinstance(node, ChoiceNode) and len(node.options) == 1:
        node = node.options[0]
    if not isinstance(node, ObjectNode):
        raise SchemaProblem(f"The parameters of {tool.name} are no object.", 'Give them the type "object".')
    return node


def _parameter(builder: GrammarBuilder, one: Property) -> str:
    opening, closing = literal(f"<parameter={one.name}>\n"), literal(f"\n{_VALUE_END}\n")
    return f"{opening} ( {_value(builder, one.node)} ) {closing}"


def _value(builder: GrammarBuilder, node: Node) -> str:
    """Texts stand in XML as they are, everything else as JSON."""
    match node:
        case TextNode("any"):
            return builder.add("raw-text", _text_without_end())
        case TextNode(shape):
            return shape
        case ValuesNode(values):
            read = [json.loads(value) for value in values]
            return one_of([one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in read])
        case ChoiceNode([option]):
            return _value(builder, option)
        case ChoiceNode(options) if any(isinstance(option, TextNode) for option in options):
            return builder.add("raw-text", _text_without_end())
    return builder.node(node)


def _text_without_end() -> str:
    """Any text without `</parameter>`, which ends the value."""
    body = ""
    for seen in range(len(_VALUE_END) - 1, 0, -1):
        following = _VALUE_END[seen]
        body = f"[^<{following}]" + (f' | "{following}" ( {body} )' if body else "")
    return f'( [^<] | "<"+ ( {body} ) )*'
