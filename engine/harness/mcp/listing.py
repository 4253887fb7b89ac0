"""The tools a server lists, read one by one: which of them may be offered, under which name, and which are refused.

Pure. Everything here comes from a program of others and was only parsed as JSON. Nothing that a server says of its own
harmlessness is believed: every tool counts as changing something.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from engine.errors import UsageProblem
from engine.harness.mcp.cleaning import hidden_count, is_plain, line, prose
from engine.harness.mcp.tool_schemas import clean_schema
from engine.harness.tool_calls import Tool
from engine.harness.tools.values import Reach, ToolSpec

MOST_TOOLS: Final = 128
"""Offered of one server."""
MOST_LISTED: Final = 1_000
"""Looked at; what a server lists beyond is only counted."""
MOST_LIST_CHARACTERS: Final = 200_000
"""Names, descriptions and schemas of one server together."""
MOST_DESCRIPTION_CHARACTERS: Final = 1_000
MOST_NAME_CHARACTERS: Final = 64
"""As offered, with the server before it; what common APIs allow."""
MOST_OWN_NAME_CHARACTERS: Final = 200
"""As the server calls it."""
MOST_REFUSALS: Final = 50
"""Kept to be shown."""

_MARK_CHARACTERS: Final = 8
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class ListedTool:
    own_name: str
    """What the server calls it."""
    spec: ToolSpec
    hidden_count: int = 0
    """Characters that nobody would have seen, taken out of its descriptions. A person should be told."""


@dataclass(frozen=True, slots=True)
class Refusal:
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    tools: tuple[ListedTool, ...]
    refused: tuple[Refusal, ...]
    """The first `MOST_REFUSALS` that cannot be offered, with the reason."""
    refused_count: int
    """All that are not offered, those not even looked at included."""
    fingerprint: str
    """Of what is offered, as the server wrote it. A person approves this and nothing else."""


def read_listing(server: str, prefix: str, reach: Reach, listed: Sequence[Any], *, more_count: int = 0) -> Listing:
    """What of `listed` may be offered; `more_count` further tools were not even read.

    `prefix` stands before every name, so that no tool can be called like one of the program or of another server.
    """
    tools: dict[str, ListedTool] = {}
    raw: list[Mapping[str, Any]] = []
    refused: list[Refusal] = []
    room = MOST_LIST_CHARACTERS
    for one in listed[:MOST_LISTED]:
        try:
            tool = _read_tool(server, prefix, reach, one)
            size = _size(tool)
            _check_place(tool, tools, size, room)
        except UsageProblem as problem:
            refused.append(Refusal(_shown_name(one), problem.problem))
            continue
        room -= size
        tools[tool.spec.tool.name] = tool
        raw.append(one)
    more_count += max(0, len(listed) - MOST_LISTED)
    shown = refused[:MOST_REFUSALS]
    if more_count:
        shown.append(Refusal("…", f"It lists {more_count} more, and only {MOST_LISTED} are looked at."))
    return Listing(tuple(tools.values()), tuple(shown), len(refused) + more_count, fingerprint_of(raw))


def fingerprint_of(tools: Iterable[Mapping[str, Any]]) -> str:
    """Of names, titles, descriptions and schemas; the order in which a server lists them does not matter."""
    told = sorted(
        json.dumps([tool.get(key) for key in ("name", "title", "description", "inputSchema")], sort_keys=True)
        for tool in tools
    )
    return "sha256:" + sha256("\n".join(told).encode()).hexdigest()


def offered_name(prefix: str, name: str) -> str:
    """The name under which a model sees a tool; one that had to be changed ends in a mark of the original."""
    room = MOST_NAME_CHARACTERS - len(prefix) - 2
    plain = _UNSAFE.sub("_", name)
    if plain == name and len(name) <= room:
        return f"{prefix}__{name}"
    mark = sha256(name.encode()).hexdigest()[:_MARK_CHARACTERS]
    return f"{prefix}__{plain[: room - _MARK_CHARACTERS - 1]}_{mark}"


def _read_tool(server: str, prefix: str, reach: Reach, one: Any) -> ListedTool:
    """Raises: UsageProblem with the reason why it cannot be offered."""
    if not isinstance(one, dict):
        raise UsageProblem("It is no object.")
    name, title, described = one.get("name"), one.get("title") or "", one.get("description") or ""
    if not isinstance(name, str) or not name.strip() or not isinstance(title, str) or not isinstance(described, str):
        raise UsageProblem("Its name or its description is no text.")
    if len(name) > MOST_OWN_NAME_CHARACTERS or not is_plain(name) or not name.isprintable():
        raise UsageProblem("Its name is too long or holds characters that cannot be seen.")
    # Written by the server, which the model should know.
    description = f"(MCP server {line(server, 60)}) " + prose(described or title, MOST_DESCRIPTION_CHARACTERS)
    tool = Tool(offered_name(prefix, name), description.strip(), clean_schema(one.get("inputSchema")))
    hidden = hidden_count(title + described) + hidden_count(json.dumps(one.get("inputSchema"), ensure_ascii=False))
    return ListedTool(name, ToolSpec(tool, reach, changes=True, source=server), hidden)


def _check_place(tool: ListedTool, taken: Mapping[str, ListedTool], size: int, room: int) -> None:
    """Raises: UsageProblem."""
    if tool.spec.tool.name in taken:
        raise UsageProblem("Another tool has this name.")
    if len(taken) >= MOST_TOOLS:
        raise UsageProblem(f"Only {MOST_TOOLS} tools of a server are offered.")
    if size > room:
        raise UsageProblem(f"The list would hold more than {MOST_LIST_CHARACTERS} characters.")


def _size(tool: ListedTool) -> int:
    shown = tool.spec.tool
    return len(shown.name) + len(shown.description) + len(json.dumps(shown.parameters, ensure_ascii=False))


def _shown_name(one: Any) -> str:
    name = one.get("name") if isinstance(one, dict) else None
    return line(name[:MOST_OWN_NAME_CHARACTERS], 80) if isinstance(name, str) and name.strip() else "(no name)"
