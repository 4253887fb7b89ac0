"""The management calls of a Client, by name: their arguments and results as plain data, on both sides of the wire.

What a call takes and gives is read from `ui.client.Client` itself (from `ui.adapter_shelf.AdapterShelf` where it is of
adapters, from the shelves of jobs, memories, suggestions and tools and from `ui.forgetting.Forgetter` likewise), so the
two can never differ.
"""

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from engine.errors import UsageProblem
from engine.runtime import wire
from ui.adapter_shelf import AdapterShelf
from ui.client import Client
from ui.forgetting import Forgetter
from ui.interview_shelf import InterviewShelf
from ui.job_shelf import JobShelf
from ui.memory_shelf import MemoryShelf
from ui.suggestion_shelf import SuggestionShelf
from ui.tool_shelf import ToolShelf

NAMES: Final = (
    "conversations",
    "conversation",
    "path",
    "tree",
    "siblings",
    "select",
    "search",
    "rename",
    "rate",
    "correct",
    "pick",
    "signals",
    "corrections",
    "erase_signal",
    "confirm_signal",
    "export_conversation",
    "import_conversation",
    "merge_conversation",
    "read_for_memories",
    "idle",
    "about",
    "experts",
    "profiles",
    "use_profile",
)
ADAPTER_NAMES: Final = (
    "adapters",
    "adapter",
    "adapters_in_use",
    "adapter_verdicts",
    "unused_adapters",
    "add_adapter",
    "add_evaluation",
    "promote_adapter",
    "begin_canary",
    "roll_back_adapter",
    "remove_adapter",
)
"""Those of the shelf of adapters."""
JOB_NAMES: Final = (
    "jobs",
    "job",
    "job_runs",
    "add_job",
    "run_job",
    "enable_job",
    "disable_job",
    "remove_job",
)
"""Those of the shelf of jobs."""
INTERVIEW_NAMES: Final = ("interview_state", "settle_interview", "answer_interview")
"""Those of the interview of the first day."""
SUGGESTION_NAMES: Final = (
    "suggestions",
    "past_suggestions",
    "accept_suggestion",
    "dismiss_suggestion",
    "suggestion_switches",
    "switch_suggestions",
)
"""Those of the shelf of suggestions."""
TOOL_NAMES: Final = (
    "approvals",
    "reply",
    "mode",
    "set_mode",
    "permits",
    "forget_permit",
    "tools",
    "saved_tools",
    "saved_tool",
    "tool_versions",
    "save_tool",
    "approve_tool",
    "remove_tool",
    "run_tool",
    "servers",
    "start_server",
    "approve_server",
    "approve_server_tools",
    "revoke_server",
    "folders",
    "trust_folder",
    "distrust_folder",
)
"""Those of the shelf of tools."""
MEMORY_NAMES: Final = (
    "memories",
    "search_memories",
    "memory",
    "memory_standing",
    "memory_report",
    "add_memory",
    "edit_memory",
    "approve_memory",
    "forget_memory",
    "propose_memories",
    "set_memory_pause",
)
"""Those of the shelf of memories."""
FORGETTING_NAMES: Final = ("preview_forgetting", "forget")
"""Those of whoever forgets."""
_HOLDERS: Final[Mapping[type, tuple[str, ...]]] = {
    Client: NAMES,
    AdapterShelf: ADAPTER_NAMES,
    JobShelf: JOB_NAMES,
    InterviewShelf: INTERVIEW_NAMES,
    SuggestionShelf: SUGGESTION_NAMES,
    ToolShelf: TOOL_NAMES,
    MemoryShelf: MEMORY_NAMES,
    Forgetter: FORGETTING_NAMES,
}
CHANGING: Final = frozenset(
    {
        "select",
        "rename",
        "rate",
        "correct",
        "pick",
        "erase_signal",
        "confirm_signal",
        "import_conversation",
        "merge_conversation",
        "forget",
    }
)
"""Calls after which other faces should look again."""


@dataclass(frozen=True, slots=True)
class Call:
    """`parameters` by name: (type, whether it must be given)."""

    name: str
    parameters: Mapping[str, tuple[Any, bool]]
    result: Any


@cache
def call_named(name: str) -> Call:
    """Raises: UsageProblem when there is no such call."""
    holder = next((holder for holder, names in _HOLDERS.items() if name in names), None)
    if holder is None:
        known = [known for names in _HOLDERS.values() for known in names]
        raise UsageProblem(f"There is no call {name!r}.", f"Calls: {', '.join(known)}.")
    method = getattr(holder, name)
    hints = typing.get_type_hints(method)
    result = hints.pop("return")
    required = {
        parameter.name: parameter.default is inspect.Parameter.empty
        for parameter in inspect.signature(method).parameters.values()
        if parameter.name != "self"
    }
    return Call(name, {name: (hints[name], must) for name, must in required.items()}, result)


def arguments_from_plain(call: Call, data: Any) -> dict[str, Any]:
    """Raises: UsageProblem when the arguments are not those of the call."""
    if not isinstance(data, dict):
        raise UsageProblem(f"The arguments of {call.name} are no object.", "Give them by name.")
    unknown = set(data) - set(call.parameters)
    missing = {name for name, (_, must) in call.parameters.items() if must} - set(data)
    if unknown or missing:
        raise UsageProblem(
            f"{call.name} was given {', '.join(sorted(data)) or 'nothing'}.",
            f"It takes {', '.join(call.parameters) or 'nothing'}.",
        )
    try:
        return {name: wire.from_plain(call.parameters[name][0], value) for name, value in data.items()}
    except wire.WireError as error:
        raise UsageProblem(f"An argument of {call.name} is malformed: {error}.", "Send what it takes.") from error


def result_from_plain(call: Call, data: Any) -> Any:
    """Raises: WireError."""
    return None if call.result is type(None) else wire.from_plain(call.result, data)
