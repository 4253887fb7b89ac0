"""A server as people write them, with the SDK. Run as `python sdk_server.py stdio`, or `… http PORT` for loopback."""

import sys
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer

server = MCPServer("kitchen")


@server.tool()
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


@server.tool()
def draw() -> Image:
    """Draw a dot."""
    return Image(data=b"\x89PNG\r\n\x1a\n" + b"\0" * 2048, format="png")


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("the oven is cold")


@server.tool()
async def grow(context: Context[Any, Any]) -> str:
    """Learn another tool."""

    def multiply(first: int, second: int) -> int:
        """Multiply two numbers."""
        return first * second

    server.add_tool(multiply)
    await context.notify_tools_changed()
    return "grown"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
