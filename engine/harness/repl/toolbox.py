"""The tool `python`: a namespace for each conversation, in which the other tools are functions.

Holds the namespaces and nothing else: which tools there are, what is permitted and what becomes of a saved function is
answered by the functions it is given.
"""

import json
import threading
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.errors import ScoringStopped, UsageProblem
from engine.harness.repl.running import Outside
from engine.harness.repl.session import Repl
from engine.harness.repl.values import MOST_CODE_CHARACTERS, PYTHON, BlockResult, CallBudget, Limits, SavedTool
from engine.harness.repl.wording import as_text
from engine.harness.tool_calls import Tool, ToolCall
from engine.harness.tools.values import Invocation, Preview, ToolResult, ToolSpec
from engine.runtime.protocol import Stop

_DESCRIPTION: Final = (
    "Run Python. Variables last for the whole conversation. Returns what is printed and the value of the last "
    "expression. The standard library only, no network, no files of the user; /tmp can be written. The other tools are "
    "functions here, name(argument=...) or tools.name(...): each returns a text or raises ToolError, and one block may "
    "call several. save_tool(function, example) keeps a function with type hints and a docstring as a tool; the "
    'example is a text such as "assert double(2) == 4".'
)
_SPEC: Final = ToolSpec(
    tool=Tool(
        PYTHON,
        _DESCRIPTION,
        {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "the Python to run"}},
            "required": ["code"],
            "additionalProperties": False,
        },
    ),
    reach="program",
    # What a block computes stays in its sandbox; the tools that it calls answer for themselves.
    changes=False,
)
_WAIT_S: Final = 0.05
_FRESH: Final = "This block began in an empty namespace: nothing of earlier blocks is left."


@dataclass
class _Conversation:
    """One conversation's namespace. Its lock is held while a block runs."""

    repl: Repl
    lock: threading.Lock = field(default_factory=threading.Lock)
    thread: int = 0
    """Which thread runs a block; 0 for none."""
    budget: CallBudget | None = None
    is_tainted: bool = False
    """Whether text of others has come into the namespace."""


class ReplToolbox:
    """A Toolbox with one tool. At most `most_open` namespaces live; the one unused for longest gives way."""

    def __init__(
        self,
        offered: Callable[[Invocation], Sequence[ToolSpec]],
        call: Callable[[Invocation], ToolResult],
        propose: Callable[[Invocation, SavedTool, bool], None],
        *,
        new_repl: Callable[[Limits], Repl] = Repl,
        limits: Limits | None = None,
        most_open: int = 4,
    ) -> None:
        """`offered` are the tools a block may call and `call` runs one, permission included. `propose` gets a saved
        function, and whether text of others was in the namespace that it came from."""
        self._offered = offered
        self._call = call
        self._propose = propose
        self._limits = limits or Limits()
        self._new_repl = new_repl
        self._most_open = most_open
        self._lock = threading.Lock()
        self._conversations: dict[str, _Conversation] = {}
        """By id, the one used last at the end."""

    def specs(self) -> Sequence[ToolSpec]:
        return (_SPEC,)

    def preview(self, invocation: Invocation) -> Preview:
        """Raises: UsageProblem."""
        code = code_of(invocation.call)
        lines = code.count("\n") + 1
        title = f"Run {lines} line{'s' * (lines > 1)} of Python"
        return Preview(f"{title} with characters that do not show" if has_hidden_characters(code) else title, code)

    def run(self, invocation: Invocation) -> ToolResult:
        """Raises: ScoringStopped."""
        try:
            code = code_of(invocation.call)
        except UsageProblem as problem:
            return ToolResult(f"{problem.problem} {problem.hint}", is_error=True, is_tainted=False)
        conversation = self._conversation(invocation.conversation_id)
        if conversation.thread == threading.get_ident():
            return ToolResult("A block cannot run another block.", is_error=True, is_tainted=False)
        _wait_for(conversation.lock, invocation.stop)
        try:
            conversation.thread = threading.get_ident()
            conversation.budget = CallBudget(self._limits.calls)
            return self._run(conversation, code, invocation)
        finally:
            conversation.thread, conversation.budget = 0, None
            conversation.lock.release()
            self._close_unwanted(invocation.conversation_id, conversation)

    def budget_of(self, conversation_id: str) -> CallBudget | None:
        """That of the block which runs there now, for a tool that runs blocks of its own on its behalf."""
        with self._lock:
            conversation = self._conversations.get(conversation_id)
        return None if conversation is None else conversation.budget

    def forget(self, conversation_id: str) -> None:
        """End a conversation's namespace; a block that runs is interrupted."""
        with self._lock:
            conversation = self._conversations.pop(conversation_id, None)
        if conversation is not None:
            conversation.repl.close()

    def close(self) -> None:
        """End all namespaces."""
        with self._lock:
            conversations = list(self._conversations.values())
            self._conversations.clear()
        for conversation in conversations:
            conversation.repl.close()

    def _run(self, conversation: _Conversation, code: str, invocation: Invocation) -> ToolResult:
        is_fresh = not conversation.repl.is_running
        if is_fresh:
            conversation.is_tainted = False

        def answer(call: ToolCall) -> ToolResult:
            if call.name == PYTHON:
                return ToolResult("a block cannot run another block", is_error=True)
            result = self._call(replace(invocation, call=call))
            conversation.is_tainted = conversation.is_tainted or result.is_tainted
            return result

        tools = [spec for spec in self._offered(invocation) if spec.tool.name != PYTHON]
        result = conversation.repl.run(code, Outside(tools, answer, conversation.budget, invocation.stop))
        for tool in result.saved:
            self._propose(invocation, tool, conversation.is_tainted)
        if result.was_stopped and invocation.stop.is_set():
            raise ScoringStopped("Python was stopped.", "Ask again.")
        text = as_text(result)
        if is_fresh and _misses_a_name(result):
            text = f"{text}\n{_FRESH}"
        return ToolResult(text, is_error=result.ending != "finished", is_tainted=conversation.is_tainted)

    def _conversation(self, conversation_id: str) -> _Conversation:
        with self._lock:
            found = self._conversations.pop(conversation_id, None)
            conversation = found or _Conversation(self._new_repl(self._limits))
            self._conversations[conversation_id] = conversation
            return conversation

    def _close_unwanted(self, conversation_id: str, used: _Conversation) -> None:
        """Close what was forgotten while its block ran or waited, and those unused for longest beyond the most."""
        with self._lock:
            is_forgotten = self._conversations.get(conversation_id) is not used
            running = [each for each in self._conversations.values() if each.repl.is_running]
        if is_forgotten:
            used.repl.close()
        for conversation in running[: max(0, len(running) - self._most_open)]:
            # None that runs a block.
            if conversation.lock.acquire(blocking=False):
                try:
                    conversation.repl.close()
                finally:
                    conversation.lock.release()


def code_of(call: ToolCall) -> str:
    """Raises: UsageProblem."""
    hint = 'Call it with one argument: {"code": "..."}.'
    try:
        arguments: Any = json.loads(call.arguments, strict=False)
    except (ValueError, RecursionError):
        raise UsageProblem("The arguments are not JSON.", hint) from None
    if not isinstance(arguments, dict) or set(arguments) != {"code"} or not isinstance(arguments["code"], str):
        raise UsageProblem("The arguments are not those of `python`.", hint)
    code: str = arguments["code"]
    if not code.strip():
        raise UsageProblem("The code is empty.", hint)
    if len(code) > MOST_CODE_CHARACTERS:
        raise UsageProblem(f"The code is longer than {MOST_CODE_CHARACTERS} characters.", "Run it in parts.")
    return code


def has_hidden_characters(text: str) -> bool:
    """Whether a person who reads it on a screen would see something else than what runs."""
    return any(
        each not in "\n\t" and (unicodedata.category(each) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
        for each in text.replace("\r\n", "\n")
    )


def _misses_a_name(result: BlockResult) -> bool:
    return result.error.rpartition("\n")[2].startswith("NameError")


def _wait_for(lock: threading.Lock, stop: Stop) -> None:
    while not lock.acquire(timeout=_WAIT_S):
        if stop.is_set():
            raise ScoringStopped("Stopped before Python ran.", "Ask again.")
