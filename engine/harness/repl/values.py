"""What a block of Python may use, what comes of it, and what a saved tool is. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Literal

Ending = Literal["finished", "raised", "interrupted", "lost", "refused"]
"""How a block ended: to its end, with an exception, stopped by us with its namespace kept, with its process and all
variables gone, or not begun at all."""

MOST_CODE_CHARACTERS: Final = 200_000
"""Of one block. Far beyond what a model writes at once, and well below what the pipe takes."""
PYTHON: Final = "python"
"""The name of the tool that runs blocks."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one Python process and of the blocks in it."""

    wall_s: float = 30.0
    """Of one block, without the time that tools take which it calls."""
    grace_s: float = 0.7
    """Between the interrupt and the kill."""
    start_s: float = 10.0
    example_s: float = 10.0
    """Of the example of a tool that is saved."""
    cpu_s: int = 600
    """Processor time of the whole process, over all its blocks."""
    memory_bytes: int = 1 << 30
    """Address space of the process. Its scratch folder, 64 MiB, is held in memory beside that."""
    threads: int = 64
    scratch_files: int = 20_000
    """Files and folders in the scratch folder; each takes memory of the kernel. With more the process is ended."""
    output_characters: int = 6_000
    """Of what a block prints, of its value and of its error: so much of each is kept, in halves from both ends."""
    output_bytes: int = 8 << 20
    """A block that prints more is interrupted."""
    calls: int = 32
    """Of tools, by one block and whatever those tools run in turn."""


@dataclass(frozen=True, slots=True)
class SavedTool:
    """A function that may become a tool: its example has passed in a namespace that held nothing else."""

    name: str
    description: str
    """The docstring, as plain text."""
    parameters: Mapping[str, Any]
    """JSON Schema, from the signature."""
    source: str
    """Imports, constants, helpers and the function: all of it."""
    example: str
    """Its test: statements that call it and must neither raise nor end in something false."""
    content_hash: str
    """Of the source alone."""
    tools: tuple[str, ...]
    """Names of the tools it calls."""
    imports: tuple[str, ...]
    """Top-level names of the modules it imports."""
    hidden: tuple[str, ...]
    """Ways in it to run code that its text does not show, such as `eval`."""


@dataclass(frozen=True, slots=True)
class BlockResult:
    ending: Ending
    output: str = ""
    """What was printed, on either stream."""
    value: str | None = None
    """How the last expression represents itself; None where there is none or it is None."""
    error: str = ""
    """The traceback, where it raised."""
    why: str = ""
    """One sentence: why it was interrupted, lost or refused, and what to do."""
    saved: tuple[SavedTool, ...] = ()
    calls: int = 0
    """Calls of tools that were answered."""
    was_stopped: bool = False
    """The caller's stop was set."""


class CallBudget:
    """How many calls of tools are left: shared by a block and whatever its tools run in turn. Thread-safe."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self._used = 0
        self._lock = Lock()

    @property
    def used(self) -> int:
        return self._used

    def take(self) -> bool:
        """Whether one more call may be made; it then counts."""
        with self._lock:
            if self._used >= self.calls:
                return False
            self._used += 1
            return True
