"""The seam between a turn and what is remembered of its user: what comes to mind before it, what is kept after it.

Knows no table, no embedder and no rule of what is worth remembering.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from engine.memory.writing.proposing import Proposer
from engine.values import MemoryLine, TurnRecord

RECALL_ITEMS: Final = 8
RECALL_TOKENS: Final = 600


@dataclass(frozen=True, slots=True)
class RecallLimits:
    """How much of what is remembered stands in front of a message."""

    is_on: bool = True
    """Otherwise nothing is recalled, and nothing is kept either."""
    items: int = RECALL_ITEMS
    tokens: int = RECALL_TOKENS


DEFAULT_LIMITS: Final = RecallLimits()


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that is over, with all that its facts are held against."""

    turn: TurnRecord
    earlier: Sequence[str]
    """The user's messages before it in its conversation, oldest first."""
    system: str
    """The system text of the expert that answered."""
    recalled: Sequence[MemoryLine]
    """What the expert was reminded of."""
    answer: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What a turn has changed in memory, as (number, text) each."""

    written: tuple[tuple[int, str], ...] = ()
    confirmed: tuple[tuple[int, str], ...] = ()
    """Known already, and said again."""
    doubted: tuple[tuple[int, str], ...] = ()
    """Known so far, and said to be over."""
    unkept_claim: str = ""
    """What the answer says of having remembered something, where nothing was written or confirmed."""

    def __bool__(self) -> bool:
        return bool(self.written or self.confirmed or self.doubted or self.unkept_claim)


class Remembering(Protocol):
    """Thread-safe."""

    def recall(self, turn: TurnRecord, path: Sequence[TurnRecord], *, items: int, tokens: int) -> Sequence[MemoryLine]:
        """What is known that bears on the message of `turn`, the most useful first; `tokens` is about what it may take.

        Raises: StoreProblem.
        """
        ...

    def used(self, recalled: Sequence[MemoryLine], tool_successes: int) -> None:
        """They went into a turn that is stored, in which so many tools did what they were called for.

        Raises: StoreProblem.
        """
        ...

    def learn(self, heard: Heard) -> Kept:
        """Keep what the user said of themselves. Raises: StoreProblem."""
        ...

    def reflect(self, heard: Heard, proposer: Proposer) -> None:
        """Once more, with what a model makes of it. Raises: StoreProblem and what the proposer raises."""
        ...


class NoMemory:
    """Of an agent that forgets."""

    def recall(self, turn: TurnRecord, path: Sequence[TurnRecord], *, items: int, tokens: int) -> Sequence[MemoryLine]:
        return ()

    def used(self, recalled: Sequence[MemoryLine], tool_successes: int) -> None:
        """Nothing ever is."""

    def learn(self, heard: Heard) -> Kept:
        return Kept()

    def reflect(self, heard: Heard, proposer: Proposer) -> None:
        """There is nothing to think about."""
