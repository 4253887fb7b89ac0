"""What a tool of a server gave back, as the model reads it: bounded text that counts as the words of others.

Pure. Pictures and sound are named and left out: the models here read text.
"""

import json
from typing import TYPE_CHECKING, Final

from engine.harness.mcp.cleaning import line, output
from engine.harness.tools.values import ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

MOST_RESULT_CHARACTERS: Final = 20_000
MOST_BLOCKS: Final = 200
"""Parts of one result that are looked at."""
_MOST_LINK_CHARACTERS: Final = 500


def read_result(result: "CallToolResult") -> ToolResult:
    """Text as it is, everything else by name; structured content only where no text says the same."""
    blocks = [text for block in result.content[:MOST_BLOCKS] if (text := _shown(block)).strip()]
    if len(result.content) > MOST_BLOCKS:
        blocks.append(f"[{len(result.content) - MOST_BLOCKS} further parts left out]")
    has_text = any(block.type in ("text", "resource") for block in result.content[:MOST_BLOCKS])
    if result.structured_content is not None and not has_text:
        blocks.append(json.dumps(result.structured_content, ensure_ascii=False))
    text = output("\n".join(blocks), MOST_RESULT_CHARACTERS)
    return ToolResult(text or "(The tool gave nothing back.)", is_error=result.is_error)


def failure(text: str) -> ToolResult:
    """A call that gave no result. The words may be the server's own."""
    return ToolResult(output(text, MOST_RESULT_CHARACTERS), is_error=True)


def _shown(block: "ContentBlock") -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            size_kib = max(1, len(block.data) * 3 // 4 // 1024)  # base64
            return f"[{block.type}, {line(block.mime_type, 60)}, {size_kib} KiB: left out]"
        case "resource_link":
            return f"[link: {line(block.name, 200)} {line(str(block.uri), _MOST_LINK_CHARACTERS)}]"
        case "resource":
            address = line(str(block.resource.uri), _MOST_LINK_CHARACTERS)
            text = getattr(block.resource, "text", None)
            return f"[{address}: left out, because it is no text]" if text is None else f"[{address}]\n{text}"
