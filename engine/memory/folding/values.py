"""The running memory of a conversation: bounded lines that stand for turns a view does not read any more.

Values only; knows neither tables, nor models, nor screens.
"""

from dataclasses import dataclass
from typing import Final, Literal

LineKind = Literal[
    "instruction",
    "fact",
    "preference",
    "relation",
    "plan",
    "decision",
    "given",
    "question",
    "asked",
    "answered",
    "attached",
    "pasted",
]
"""The first five are what the user says of themselves, as of memories. Then what was decided, what is given for the
task at hand, what is still open; what was asked for and what was answered, in short; and that there was a text that is
not the user's own, without its words."""

STATEMENTS: Final = frozenset(("instruction", "fact", "preference", "relation", "plan"))
"""Kinds that can be said again, or hold no longer."""


@dataclass(frozen=True, slots=True)
class FoldedLine:
    kind: LineKind
    text: str
    """On one line, with control tokens escaped."""
    turn_id: str
    """The turn it was taken from."""
    is_pinned: bool = False
    """It stays, or is told to have been moved out: what was to be remembered, instructions, names, dates, numbers."""
    slot: str = ""
    """As of a memory: what it is about where only one can hold at a time."""
    due_on: str = ""

    @property
    def shown(self) -> str:
        """As an expert reads it, such as "[fact] I am allergic to peanuts"."""
        due = f" (on {self.due_on})" if self.due_on else ""
        return f"[{self.kind}] {self.text}{due}"


@dataclass(frozen=True, slots=True)
class RunningMemory:
    """The lines, oldest turn first."""

    lines: tuple[FoldedLine, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(line.shown for line in self.lines)


NOTHING: Final = RunningMemory()


@dataclass(frozen=True, slots=True)
class Written:
    """A running memory, and the pinned lines that found no room in it: those must be found by recall or search."""

    memory: RunningMemory
    moved_out: tuple[FoldedLine, ...] = ()
