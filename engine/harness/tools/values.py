"""What passes between a model, the tools it may use and whoever permits their use. Values and one protocol only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from engine.harness.tool_calls import Tool, ToolCall
from engine.runtime.protocol import Stop

Reach = Literal["nothing", "own_data", "files", "program", "network"]
"""What a tool touches beyond its arguments: the user's notes and dates, granted folders, a sandboxed program, or
others."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that may be offered to a model."""

    tool: Tool
    """Name, description and JSON Schema: all that the model sees."""
    reach: Reach
    changes: bool
    """Whether a call may change anything that outlives it."""
    source: str = ""
    """Who brought it: empty for what the program itself comes with, else an MCP server or "saved"."""
    must_ask: bool = False
    """A person decides each time, whatever they permitted for good and whatever the mode."""


class Others(Protocol):
    """The other tools, for one that calls them on behalf of the model."""

    @property
    def specs(self) -> Sequence[ToolSpec]: ...

    def call(self, call: ToolCall) -> "ToolResult":
        """Run one, permission included. Raises: ScoringStopped."""
        ...

    def consult(self, expert: str, task: str) -> str:
        """What another expert answers to the task alone. Raises: UnknownName, ContextOverflow, ScoringStopped."""
        ...


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call that a model wants to make, and where."""

    call: ToolCall
    conversation_id: str
    turn_id: str
    stop: Stop
    others: Others | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a person is shown before permitting a call."""

    title: str
    """One line that names what happens."""
    detail: str
    """The exact command, code, address or diff, whole."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What comes back, as the model reads it."""

    text: str
    is_error: bool = False
    is_tainted: bool = True
    """Whether it holds text of others, which may not write memory, make tools or schedules, or teach."""


class Toolbox(Protocol):
    """Some tools of one kind. Thread-safe; a call may take seconds and is run without holding the engine."""

    def specs(self) -> Sequence[ToolSpec]:
        """Those it has now; cheap, and asked before every turn."""
        ...

    def preview(self, invocation: Invocation) -> Preview:
        """What the call would do; does nothing itself. Raises: UsageProblem where the arguments are wrong."""
        ...

    def run(self, invocation: Invocation) -> ToolResult:
        """Do it. What goes wrong is a result with `is_error`, worded so that a model can correct itself.

        Raises: ScoringStopped once `invocation.stop` is set.
        """
        ...
