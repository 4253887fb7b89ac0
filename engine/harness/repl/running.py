"""One block in a process: serve what it asks for, and end it where a limit is reached.

An interrupt comes first and leaves the namespace as it is; a block that does not heed it takes its process along. Knows
neither how a process is made nor what a tool is: it is given two functions that answer.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, Final

from engine.errors import AgentError, ScoringStopped
from engine.harness.repl.process import ProcessGone, SandboxedPython
from engine.harness.repl.values import CallBudget, Limits
from engine.harness.repl.wire import Call, Done, Message, Save
from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import ToolResult, ToolSpec
from engine.runtime.protocol import NEVER, Stop

Answer = Callable[[ToolCall], ToolResult]
"""Runs a tool, or refuses to: whoever gives this decides what is permitted."""

_POLL_S: Final = 0.05
_MOST_REFUSED: Final = 100
"""Calls beyond the budget; a block that makes more has lost its way."""
_MOST_REPLY_CHARACTERS: Final = 200_000


def no_tools(call: ToolCall) -> ToolResult:
    """The answer where nothing may be called."""
    return ToolResult(f"there is no tool `{call.name}` here", is_error=True)


@dataclass(frozen=True, slots=True)
class Outside:
    """What a block reaches beyond its sandbox, and what ends it from there."""

    tools: Sequence[ToolSpec] = ()
    """Those with proxies; `answer` is asked for others too, since a process may name any."""
    answer: Answer = no_tools
    budget: CallBudget | None = None
    """That of the block which called the tool in which this one runs; None begins a new one."""
    stop: Stop = NEVER


def reason_to_end(*, ran_s: float, printed_bytes: int, refused: int, was_stopped: bool, limits: Limits) -> str:
    """Why a block must not go on, as a sentence; empty when it may."""
    if was_stopped:
        return "It was stopped."
    if ran_s > limits.wall_s:
        return f"It ran for longer than {limits.wall_s:g} s."
    if printed_bytes > limits.output_bytes:
        return f"It printed more than {limits.output_bytes >> 10} KiB."
    if refused > _MOST_REFUSED:
        return f"It went on calling tools after its {limits.calls} calls."
    return ""


class BlockRun:
    """A block while it runs."""

    def __init__(
        self,
        process: SandboxedPython,
        limits: Limits,
        outside: Outside,
        save: Callable[[Save], str],
        interrupted: Event,
    ) -> None:
        self.calls = 0
        self.why = ""
        """Why it was interrupted; empty when it was not."""
        self.was_stopped = False
        self._process = process
        self._limits = limits
        self._outside = outside
        self._budget = outside.budget or CallBudget(limits.calls)
        self._save = save
        self._interrupted = interrupted
        self._ran_s = 0.0
        self._refused = 0
        self._killed_after_s = 0.0

    def until_done(self, message: Mapping[str, Any]) -> Done:
        """Send the block and wait for its end. Raises: ProcessGone."""
        run_id = message["run_id"]
        self._process.send(message)
        self._process.begin()
        while True:
            # Time counts only while it is the block that is waited for.
            waited_from = time.monotonic()
            said = self._process.receive(_POLL_S)
            self._ran_s += time.monotonic() - waited_from
            if said is not None:
                _check_run(said, run_id)
            if isinstance(said, Done):
                self._process.finish()
                return said
            if isinstance(said, Call | Save):
                self._reply(said)
            self._end_where_due()

    def _reply(self, said: Call | Save) -> None:
        try:
            text, is_error = self._served(said)
        except ScoringStopped:
            text, is_error, self.was_stopped = "stopped", True, True
        except AgentError as problem:
            gap = "\n" if "\n" in problem.problem else " "
            text, is_error = f"{problem.problem}{gap}{problem.hint}".strip(), True
        if len(text) > _MOST_REPLY_CHARACTERS:
            text, is_error = f"The result is too long: {len(text)} characters. Ask for less.", True
        self._process.send({"text": text, "is_error": is_error})

    def _served(self, said: Call | Save) -> tuple[str, bool]:
        """(text, whether it is an error)."""
        if self.why:
            return self.why, True
        if not self._budget.take():
            self._refused += 1
            return f"all {self._budget.calls} calls of this block are used up; go on in the next one", True
        self.calls += 1
        if isinstance(said, Save):
            return self._save(said), False
        result = self._outside.answer(ToolCall(said.name, said.arguments))
        return result.text, result.is_error

    def _end_where_due(self) -> None:
        """Interrupt it once; after the time of grace give its process up. Raises: ProcessGone."""
        if self._process.scratch_files() > self._limits.scratch_files:
            # An interrupt would leave them there.
            raise ProcessGone(f"it made more than {self._limits.scratch_files} files")
        if self.why:
            if self._ran_s > self._killed_after_s:
                raise ProcessGone(f"{self.why[0].lower()}{self.why[1:-1]} and did not heed the interrupt")
            return
        self.was_stopped = self.was_stopped or self._outside.stop.is_set() or self._interrupted.is_set()
        self.why = reason_to_end(
            ran_s=self._ran_s,
            printed_bytes=self._process.printed.total_bytes,
            refused=self._refused,
            was_stopped=self.was_stopped,
            limits=self._limits,
        )
        if self.why:
            self._killed_after_s = self._ran_s + self._limits.grace_s
            self._process.interrupt()


def _check_run(said: Message, run_id: str) -> None:
    """Only the block that runs may speak; its name is not known before it runs."""
    if not isinstance(said, Call | Save | Done) or said.run_id != run_id:
        raise ProcessGone("it sent a message that belongs to no running block, which breaks the rules, and was ended")
