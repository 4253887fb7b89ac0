"""Labelled outputs of models: what each says, the texts and calls in it, and what a check of the calls gives.

One per line in `corpus.jsonl`:
    {"id": …, "style": "json" | "xml" | "bare", "says": …, "expect": [text or {"call": …, "arguments": {…}}, …]}
and where it applies `runs` (per call: its arguments as they go to the tool, or a part of what is wrong with it),
`rejected` (a part of what is wrong with what only looks like a call) and `begins_in_thought`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.harness.tool_calls import Style, Tool, ToolCall, parser_for

TOOLS = (
    Tool(
        "get_weather",
        "The weather of a city.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "metric": {"type": "boolean"},
                "unit": {"enum": ["celsius", "fahrenheit"]},
                "spots": {"anyOf": [{"type": "array"}, {"type": "null"}]},
            },
            "required": ["city"],
        },
    ),
    Tool("get_time"),
    Tool(
        "search_notes",
        "",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["query"],
        },
    ),
    Tool(
        "write_file",
        "",
        {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    ),
    Tool(
        "set_reminder",
        "",
        {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "at": {"type": "string", "format": "date-time"},
                "repeat": {"enum": ["daily", "weekly"]},
            },
            "required": ["text", "at"],
        },
    ),
)


@dataclass(frozen=True, slots=True)
class Output:
    output_id: str
    style: Style
    says: str
    expect: tuple[Any, ...]
    runs: tuple[dict[str, Any], ...] | None
    rejected: str
    begins_in_thought: bool


def outputs() -> Iterator[Output]:
    for line in (Path(__file__).parent / "corpus.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        runs = one.get("runs")
        yield Output(
            one["id"],
            one["style"],
            one["says"],
            tuple(one["expect"]),
            None if runs is None else tuple(runs),
            one.get("rejected", ""),
            one.get("begins_in_thought", False),
        )


def parsed(
    style: Style, pieces: list[str], *, begins_in_thought: bool = False, tools: tuple[Tool, ...] = TOOLS
) -> tuple[list[str | ToolCall], list[str]]:
    """(what a parser says of text that comes in `pieces`, neighbouring texts joined; what it rejected)."""
    parser = parser_for(style, tools, begins_in_thought=begins_in_thought)
    found = [item for piece in pieces for item in parser.feed(piece)]
    found += parser.finish()
    joined: list[str | ToolCall] = []
    for item in found:
        if isinstance(item, str) and joined and isinstance(joined[-1], str):
            joined[-1] += item
        else:
            joined.append(item)
    return joined, list(parser.rejected)


def cut(text: str, lengths: Iterator[int]) -> list[str]:
    """`text` in pieces of these lengths."""
    pieces = []
    while text:
        length = next(lengths)
        pieces.append(text[:length])
        text = text[length:]
    return pieces
