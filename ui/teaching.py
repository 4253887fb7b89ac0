"""Teaching as a face sees it: a lesson proposed, worked on, and what came of it. Values and a seam, no process.

Sentences in here are already in the user's language.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal, Protocol

from engine.adapters.records import Swap

TeachPhase = Literal["loading", "answering", "training", "testing", "saving"]
"""The engine is loaded; the model answers practice prompts as it is; an adapter learns; it is tested; it is put in
place."""

TeachDecision = Literal["passed", "rejected", "stopped", "failed"]
"""What the gate said, or why it said nothing."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """One correction, as an example of what the lesson is about."""

    prompt: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What would be learned. Nothing is learned before the user agrees."""

    lesson_id: str
    expert: str
    corrections: int
    changes: tuple[str, ...]
    """What should change, a sentence each."""
    corrected: tuple[Corrected, ...]
    """A few of the corrections."""
    minutes: float
    """Longest time it may take."""


@dataclass(frozen=True, slots=True)
class TeachProgress:
    phase: TeachPhase
    done: int = 0
    total: int = 0
    """0: not known."""
    seconds_left: float | None = None
    """Of the whole lesson."""
    kind: Literal["progress"] = "progress"


@dataclass(frozen=True, slots=True)
class Compared:
    """One held-out prompt, answered before and after."""

    prompt: str
    before: str
    after: str
    follows_before: bool
    follows_after: bool


@dataclass(frozen=True, slots=True)
class Taught:
    """What came of a lesson, on prompts that were not trained on."""

    lesson_id: str
    expert: str
    decision: TeachDecision
    adapter_hash: str = ""
    """Empty where none was made."""
    items: int = 0
    """Held-out prompts."""
    right_before: int = 0
    """How many answers followed the lesson; likewise the next."""
    right_after: int = 0
    low: float = 0.0
    """95 % interval of the share after; likewise the next."""
    high: float = 0.0
    p_value: float = 1.0
    """Of McNemar's exact test that it became better."""
    reasons: tuple[str, ...] = ()
    """The gate's, or why it came to no verdict."""
    compared: tuple[Compared, ...] = ()
    """A few, drawn by lot."""
    minutes: float = 0.0
    is_in_use: bool = False
    """It answers from the next turn on."""
    kind: Literal["taught"] = "taught"


class Teacher(Protocol):
    """Every call may raise `engine.AgentError`. `language`: of the sentences, "en" or "zh"; None is the user's."""

    def propose(self, expert: str | None = None, *, minutes: float = 10.0, language: str | None = None) -> Proposal:
        """What the corrections have in common. Raises: UsageProblem that says what is missing."""
        ...

    def teach(
        self, lesson_id: str, *, use: bool, language: str | None = None
    ) -> Generator[TeachProgress | Taught, None, None]:
        """Work through a lesson; `Taught` comes last. Closing the generator stops it and keeps nothing in use.

        Where it is is told every second or so, also when nothing is new, so that whoever listens can close it.
        use: let the adapter answer, on trial, where the gate passes it.
        """
        ...

    def use(self, lesson_id: str) -> Swap:
        """Let a lesson's adapter answer, on trial, that the gate passed. Raises: UsageProblem for any other."""
        ...

    def undo(self, lesson_id: str) -> Swap:
        """Take it back. Nothing changes where it does not answer."""
        ...
