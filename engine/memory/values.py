"""What a memory is, from its proposal to its end. Values only; knows neither tables, nor models, nor screens."""

from dataclasses import dataclass
from typing import Literal, Protocol

MemoryKind = Literal["preference", "fact", "relation", "plan", "instruction"]
"""What the user likes, what is so about them, who is who to them, what they mean to do or when, how they want things
done."""

TrustTier = Literal["confirmed", "typed", "inferred", "tainted"]
"""Who vouches for it: the user with a click or by saying so again; the user's typed words, read by a rule; the same,
read by a model; nobody, as the text is not the user's own."""

MemoryState = Literal["active", "superseded", "forgotten", "pending"]
"""active: it may be recalled. superseded: something newer took its place; kept as history. forgotten: its text is gone.
pending: waits until the user has looked at it; it is not recalled."""

MemorySource = Literal["turn", "user", "imported", "interview"]
"""Where it comes from: a turn; the user's own hand, in the list of memories; a file; the questions of the first day."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory that is to be written."""

    text: str
    kind: MemoryKind
    evidence: str
    """The user's own words that say so, verbatim but for control tokens, which are escaped."""
    turn_id: str | None
    """Where the user said it; None with a source that is no turn."""
    trust: TrustTier = "typed"
    r0: float = 0.5
    """What it was worth when it was written, 0 to 1."""
    slot: str = ""
    """What it is about where only one memory can hold at a time, such as `home`; empty where many can."""
    due_on: str = ""
    """The day a plan is for, ISO 8601; empty where none is known."""
    state: MemoryState = "active"
    source: MemorySource = "turn"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What may become a memory once the user has looked at it. It has neither trust nor state of its own: whoever keeps
    it, it is tainted and pending."""

    text: str
    kind: MemoryKind
    evidence: str
    slot: str = ""
    due_on: str = ""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What came of reading a conversation that was imported."""

    waiting: int = 0
    """Memories that wait for the user now and did not before."""
    known: int = 0
    """What is remembered already."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered fact, tied to where it comes from."""

    memory_id: int
    """Rises with time and is never given again."""
    text: str
    kind: MemoryKind
    evidence: str
    turn_id: str | None
    conversation_id: str | None
    trust: TrustTier
    r0: float
    validation: float
    """How far it is believed, 0 to 1: rises when it is said again, falls when something speaks against it."""
    slot: str
    due_on: str
    state: MemoryState
    supersedes: tuple[int, ...]
    """The memories whose place it took, oldest first."""
    created_at: str
    """ISO 8601, UTC, as all times."""
    used_at: str | None
    """When it was last recalled into a turn."""
    validated_at: str | None
    """When it was last said again or checked."""
    source: MemorySource = "turn"


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that a question brought up."""

    memory: Memory
    score: float
    """By which they are ordered; comparable within one question only."""
    relevance: float
    """How well it answers the question by itself, 0 to 1, whatever it is worth."""


@dataclass(frozen=True, slots=True)
class MemoryDetails:
    """All that is known of one memory."""

    memory: Memory
    weight: float
    """What it is worth now, 0 to 1; see `weighting`."""
    history: tuple[Memory, ...]
    """Those before it in its place, the newest first."""
    said: str
    """The whole message that it comes from; empty where it was not said in a turn."""
    said_at: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How many memories there are, and whether more are made."""

    active: int
    pending: int
    superseded: int
    paused_since: str | None


class Statement(Protocol):
    """What is said of the user, as far as two such can be held against each other: a memory or a line of a running
    memory."""

    @property
    def kind(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def slot(self) -> str: ...

    @property
    def due_on(self) -> str: ...
