"""Tools in the words of each model family: how they are shown, how calls are written, read back and enforced.

Runs no tool and knows no API. Three wire styles: JSON inside `<tool_call>` (ChatML and most others), the XML of
Qwen3.5 and 3.6, and the bare JSON object of Llama 3.
"""

from engine.harness.tool_calls.calls import Style, Tool, ToolCall, ToolChoice, offered, style_of
from engine.harness.tool_calls.constraint import call_grammar
from engine.harness.tool_calls.parsing import CallParser, parser_for
from engine.harness.tool_calls.rendering import assistant_content, results_content, system_content

__all__ = [
    "CallParser",
    "Style",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "assistant_content",
    "call_grammar",
    "offered",
    "parser_for",
    "results_content",
    "style_of",
    "system_content",
]
