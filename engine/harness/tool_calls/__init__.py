"""Tools in the words of each model family: how they are shown, how calls are written, read back and enforced.

Also what is wrong with a call, what a model is told of that, and when it repeats itself. Runs no tool and knows no
API. Three wire styles: JSON inside `<tool_call>` (ChatML and most others), the XML of Qwen3.5 and 3.6, and the bare
JSON object of Llama 3.
"""

from engine.harness.tool_calls.calls import Style, Tool, ToolCall, ToolChoice, offered, style_of
from engine.harness.tool_calls.checking import CallFault, check_call, fault_of_text
from engine.harness.tool_calls.constraint import call_grammar
from engine.harness.tool_calls.looping import EndTools, Refuse, judge_call
from engine.harness.tool_calls.parsing import CallParser, parser_for
from engine.harness.tool_calls.rendering import assistant_content, results_content, system_content
from engine.harness.tool_calls.repairing import GiveUp, Repair, after_faults

__all__ = [
    "CallFault",
    "CallParser",
    "EndTools",
    "GiveUp",
    "Refuse",
    "Repair",
    "Style",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "after_faults",
    "assistant_content",
    "call_grammar",
    "check_call",
    "fault_of_text",
    "judge_call",
    "offered",
    "parser_for",
    "results_content",
    "style_of",
    "system_content",
]
