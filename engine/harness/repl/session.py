"""A Python namespace that lasts: blocks run in it one after another, in a sandboxed process of its own.

The process may die at any time and the namespace with it; the block that saw it happen says so, and the next one begins
in an empty one. Decides nothing about permission and keeps no tools: it hands calls to whoever runs a block, and saved
functions back to them.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Event, Lock
from typing import Any, Final

from engine.errors import RuntimeFailed, UsageProblem
from engine.harness.repl.output import cut
from engine.harness.repl.packing import pack
from engine.harness.repl.process import ProcessGone, SandboxedPython
from engine.harness.repl.running import BlockRun, Outside, no_tools
from engine.harness.repl.saving import call_of, checked_example, describe
from engine.harness.repl.values import MOST_CODE_CHARACTERS, BlockResult, CallBudget, Limits, SavedTool
from engine.harness.repl.wire import Done, Save
from engine.harness.sandbox import working_sandbox
from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import ToolResult, ToolSpec

_NO_SANDBOX: Final = "Python of a model runs in a sandbox only, and there is none that works here."
_INSTALL: Final = (
    "On Linux install bubblewrap 0.7 or newer, such as with `sudo apt install bubblewrap`; `macaron doctor` tells "
    "whether it works."
)
_GONE: Final = "All variables are gone; the next block begins with an empty namespace."
NOTHING: Final = Outside()
_KEPT_BLOCKS: Final = 200
"""From which functions can be saved; older ones are forgotten."""


class Repl:
    """A namespace. Blocks run one at a time; `interrupt` and `close` may come from any thread."""

    def __init__(
        self, limits: Limits | None = None, sandbox: Callable[[], Sequence[str] | None] = working_sandbox
    ) -> None:
        self._limits = limits or Limits()
        self._sandbox = sandbox
        self._process: SandboxedPython | None = None
        self._lock = Lock()
        self._interrupted = Event()
        self._blocks: dict[int, str] = {}
        self._number = 0

    def start(self) -> None:
        """Make sure that there is a process. Raises: RuntimeFailed, which says what to install where it is that."""
        with self._lock:
            self._started()

    @property
    def is_running(self) -> bool:
        """Whether there is a namespace; without one the next block begins in an empty one."""
        return self._process is not None and self._process.is_running

    def run(self, code: str, outside: Outside = NOTHING) -> BlockResult:
        """Run a block and wait for its end. Raises nothing of its own.

        What a tool outside raises beyond an AgentError ends the process and passes on.
        """
        if len(code) > MOST_CODE_CHARACTERS:
            return BlockResult(
                "refused", why=f"The block is longer than {MOST_CODE_CHARACTERS} characters: shorten it."
            )
        with self._lock:
            self._interrupted.clear()
            try:
                process = self._started()
            except RuntimeFailed as problem:
                return BlockResult("refused", why=f"{problem.problem} {problem.hint}".strip())
            outside = replace(outside, budget=outside.budget or CallBudget(self._limits.calls))
            return self._run(process, code, outside)

    def interrupt(self) -> None:
        """End the block that runs now, if any; its namespace stays unless it does not heed the interrupt."""
        self._interrupted.set()

    def restart(self) -> None:
        """An empty namespace. Raises: RuntimeFailed."""
        self.close()
        self.start()

    def close(self) -> None:
        """End the process; a block that runs is interrupted first. A later block starts a new one."""
        self._interrupted.set()
        with self._lock:
            self._drop()

    def _started(self) -> SandboxedPython:
        if self._process is not None and self._process.is_running:
            return self._process
        self._drop()
        sandbox = self._sandbox()
        if sandbox is None:
            raise RuntimeFailed(_NO_SANDBOX, _INSTALL)
        self._process = SandboxedPython(sandbox, self._limits)
        return self._process

    def _drop(self) -> None:
        process, self._process = self._process, None
        self._blocks.clear()
        if process is not None:
            process.close()

    def _run(self, process: SandboxedPython, code: str, outside: Outside) -> BlockResult:
        saved: list[SavedTool] = []

        def save(asked: Save) -> str:
            tool = self._save(asked, outside)
            saved.append(tool)
            return f"saved {tool.name}; its example passed"

        block = BlockRun(process, self._limits, outside, save, self._interrupted)
        ended: Done | ProcessGone | None = None
        try:
            ended = block.until_done(self._message(code, outside.tools))
            process.hold()
        except ProcessGone as gone:
            ended = gone
        finally:
            # Also where a tool raised: half a conversation cannot be taken up again.
            if not isinstance(ended, Done):
                self._drop()
        result = self._result(block, ended, process.printed.text())
        return replace(result, saved=tuple(saved), calls=block.calls, was_stopped=block.was_stopped)

    def _message(self, code: str, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        self._number += 1
        self._blocks[self._number] = code
        self._blocks.pop(self._number - _KEPT_BLOCKS, None)
        proxies = [
            {
                "name": spec.tool.name,
                "description": spec.tool.description,
                "parameters": list(spec.tool.parameters.get("properties", {})),
            }
            for spec in tools
        ]
        # A number that cannot be guessed: what was sent before the block began cannot be taken for its end.
        return {"run_id": secrets.token_hex(8), "block": self._number, "code": code, "tools": proxies}

    def _result(self, block: BlockRun, ended: Done | ProcessGone, output: str) -> BlockResult:
        most = self._limits.output_characters
        if isinstance(ended, ProcessGone):
            return BlockResult("lost", output, why=f"The Python process is gone: {ended}. {_GONE}")
        value = None if ended.value is None else cut(ended.value, most)
        error = "" if ended.error is None else cut(ended.error, most)
        if block.why:
            return BlockResult("interrupted", output, value, error, f"{block.why} The variables are kept.")
        return BlockResult("finished" if ended.error is None else "raised", output, value, error)

    def _save(self, asked: Save, outside: Outside) -> SavedTool:
        """Raises: UsageProblem when the function cannot be a tool or its example does not pass."""
        names = [spec.tool.name for spec in outside.tools]
        source = pack(asked.name, asked.block, asked.line, self._blocks, names)
        tool = describe(asked.name, source, asked.example, outside.tools)
        check_example(tool, outside, replace(self._limits, wall_s=self._limits.example_s))
        return tool


def check_example(tool: SavedTool, outside: Outside = NOTHING, limits: Limits | None = None) -> None:
    """Run its example in a fresh namespace. Raises: UsageProblem when it does not pass."""
    result = run_alone(tool, checked_example(tool.name, tool.example), outside, limits)
    if result.ending != "finished":
        words = "\n".join(part for part in (result.error, result.why) if part)
        raise UsageProblem(
            f"The example of `{tool.name}` does not pass.\n{words}", "Correct the function or the example."
        )


def run_saved(
    tool: SavedTool, arguments: Mapping[str, Any], outside: Outside = NOTHING, limits: Limits | None = None
) -> BlockResult:
    """Call a saved tool where nothing else is. Its value is what it returned, as Python writes it."""
    return run_alone(tool, call_of(tool, arguments), outside, limits)


def run_alone(tool: SavedTool, program: str, outside: Outside = NOTHING, limits: Limits | None = None) -> BlockResult:
    """Run its source and then `program` in a fresh namespace, with those tools that its source names and no other.

    Never all there are: what a person approved is what the source shows.
    """

    def only_reached(call: ToolCall) -> ToolResult:
        # Its process may send any name; what it may call does not depend on that.
        return outside.answer(call) if call.name in tool.tools else no_tools(call)

    reached = [spec for spec in outside.tools if spec.tool.name in tool.tools]
    repl = Repl(limits)
    try:
        defined = repl.run(tool.source, Outside(stop=outside.stop))
        if defined.ending != "finished":
            return defined
        return repl.run(program, replace(outside, tools=reached, answer=only_reached))
    finally:
        repl.close()
