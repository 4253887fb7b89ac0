"""What a rule or a model proposes to remember. Values only."""

from dataclasses import dataclass
from typing import Literal

from engine.memory.values import MemoryKind

Author = Literal["rule", "model"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A memory that somebody suggests, which is verified before it is written."""

    text: str
    kind: MemoryKind
    evidence: str
    """The user's words it is taken from, verbatim."""
    slot: str = ""
    """As of a memory."""
    takes_over: tuple[str, ...] = ()
    """Further slots in which nothing older holds any more."""
    ends: frozenset[str] = frozenset()
    """The terms of what holds no longer: memories about all of them are superseded."""
    due_on: str = ""
    is_asked_for: bool = False
    """The user asked that it be remembered."""
    author: Author = "rule"


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule sees in a clause."""

    kind: MemoryKind
    slot: str = ""
    takes_over: tuple[str, ...] = ()
    ended: str = ""
    """What holds no longer, in the words of the clause."""
    needs_day: bool = False
    """Only with a day that is to come it is worth keeping."""
