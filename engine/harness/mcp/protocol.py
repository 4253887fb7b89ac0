"""The few things said to a server besides calls: greeting it, and reading its tools in a way that survives them.

Knows the SDK's session and no life of a server. The SDK refuses a whole list because of one malformed tool, and checks
results with whatever patterns a server's own schemas hold, which may never end; hence the dispatcher in between.
"""

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types
from mcp import ClientSession, MCPError
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import ValidationError

from engine.harness.mcp.cleaning import line
from engine.harness.mcp.entries import Entry, StdioEntry, prefix_of
from engine.harness.mcp.listing import MOST_LISTED, Listing, read_listing
from engine.harness.tools.values import Reach

MOST_PAGES: Final = 100
MOST_PROBLEM_CHARACTERS: Final = 500


class ForgivingDispatcher(JSONRPCDispatcher):
    """Keeps the tools of a list as they were sent and hands the SDK only what it needs of the well-formed ones."""

    listed: tuple[Any, ...] = ()
    left_out: int = 0

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: types.RequestId | None = None,
    ) -> dict[str, Any]:
        raw = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        if method == "tools/list" and isinstance(raw.get("tools"), list):
            self.listed = tuple(raw["tools"][:MOST_LISTED])
            self.left_out = len(raw["tools"]) - len(self.listed)
            raw["tools"] = [_reduced(tool) for tool in self.listed if _is_formed(tool)]
        return raw


def _is_formed(tool: Any) -> bool:
    return (
        isinstance(tool, dict) and isinstance(tool.get("name"), str) and isinstance(tool.get("inputSchema", {}), dict)
    )


def _reduced(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Its name, and its arguments, which may have to be repeated in HTTP headers."""
    properties = tool.get("inputSchema", {}).get("properties", {})
    described = properties if isinstance(properties, dict) else {}
    kept = {name: value for name, value in described.items() if isinstance(value, dict)}
    return {"name": tool["name"], "inputSchema": {"type": "object", "properties": kept}}


async def shake_hands(session: ClientSession) -> None:
    """Agree on a version of the protocol: the newest first, else as servers did before it.

    Raises: MCPError, ValidationError, RuntimeError.
    """
    try:
        await session.discover()
    except (MCPError, ValidationError, RuntimeError):
        await _shake_hands_as_before(session)


async def _shake_hands_as_before(session: ClientSession) -> None:
    try:
        await session.initialize()
    except MCPError as error:
        if error.code != types.UNSUPPORTED_PROTOCOL_VERSION:
            raise
        # It was only slow to start, has read both by now, and took the first.
        await session.discover()


async def list_tools(session: ClientSession, dispatcher: ForgivingDispatcher, entry: Entry) -> Listing:
    """All pages, up to a limit. Raises: MCPError, ValidationError."""
    found: list[Any] = []
    left_out = 0
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        # The SDK drops what a newer protocol forbids; what it would not even understand is refused with a reason.
        kept = {tool.name for tool in page.tools}
        found += [tool for tool in dispatcher.listed if not _is_formed(tool) or tool["name"] in kept]
        left_out += dispatcher.left_out
        cursor = page.next_cursor
        if not cursor or len(found) >= MOST_LISTED:
            break
    reach: Reach = "program" if isinstance(entry, StdioEntry) else "network"
    return read_listing(entry.name, prefix_of(entry.name), reach, found, more_count=left_out + bool(cursor))


def told(error: Exception) -> str:
    """What a server or the SDK says is wrong, on one short line."""
    return line(str(error)[:5_000], MOST_PROBLEM_CHARACTERS)
