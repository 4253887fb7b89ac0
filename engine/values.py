"""Values that cross the seams of the engine. Standard library only; no behaviour beyond their own shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.memory.folding.values import NOTHING, RunningMemory
from engine.runtime.protocol import AdapterStack, Tokens, Usage
from engine.signals.values import Signal

TurnState = Literal["running", "answered", "stopped", "failed", "interrupted"]
"""`running` becomes `interrupted` when the process died; both failed and interrupted turns can be retried."""

Provenance = Literal["typed", "pasted", "attached", "imported", "tool", "api"]
"""Where a text came from. Only what the user typed may write memory or teach."""

Rating = Literal[-1, 0, 1]
"""What the user thinks of an answer: thumb down, nothing, thumb up."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file that goes with a message. Never taken for something the user typed."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Route:
    """The expert of a turn and why: pinned, follow_up, surface, only_expert, best, current or default."""

    expert: str
    reason: str
    scores: Mapping[str, float] = field(default_factory=dict)
    """Log-probability of each label, in nats; empty when the router was not asked."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds from the start of the turn."""

    route: float = 0.0
    first_token: float | None = None
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Segment:
    """The tokens of one turn within one view."""

    turn_id: str
    epoch_id: str
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Epoch:
    """One stretch of a view whose past never changes: a head, then segments."""

    epoch_id: str
    conversation_id: str
    expert: str
    number: int
    """0 for the first of this view, then rising."""
    head: Tokens
    base_hash: str
    harness_version: str
    reason: str
    """Why it began: first, harness, base, folded, or forgotten."""
    folded_through: str | None = None
    """The last turn that is no longer read; None when the view begins with the conversation."""
    memory: RunningMemory = NOTHING
    """What stands for the turns up to that one, in the head."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What one step read and wrote. The raw material of learning."""

    turn_id: str
    kind: Literal["route", "answer", "summary", "delegate"]
    expert: str
    prompt: Tokens
    completion: Tokens
    adapters: AdapterStack
    base_hash: str
    harness_version: str
    seed: int = 0
    logprobs: tuple[float, ...] | None = None
    """One per completion token, in nats, when they were asked for."""


CallState = Literal["waiting", "running", "done", "failed", "refused", "rejected", "interrupted"]
"""Of a tool call. refused: by a rule, a limit or a fault of the call; rejected: by a person. Neither has run anything.
interrupted: the process was lost or the turn stopped, and whether it had an effect is not known if it was running."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call as it is stored with its turn."""

    position: int
    """From 1 within the turn."""
    tool: str
    source: str
    arguments: str
    """A JSON object as text."""
    state: CallState
    result: str = ""
    is_tainted: bool = False
    """Whether the result holds text of others."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """A memory as an expert read it in front of a message."""

    memory_id: int
    line: str
    """Such as "I prefer tea"."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a turn ended; written in one transaction."""

    turn_id: str
    state: TurnState
    text: str
    route: Route | None
    usage: Usage = Usage()
    """Of the answer alone."""
    usage_other: Usage = Usage()
    """Of the route and of summaries."""
    timing: Timing = Timing()
    segments: tuple[Segment, ...] = ()
    traces: tuple[Trace, ...] = ()
    problem: str = ""
    hint: str = ""
    recalled: tuple[MemoryLine, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn as it is stored. Edits and regenerations are siblings: same parent, another turn."""

    turn_id: str
    conversation_id: str
    parent_turn_id: str | None
    state: TurnState
    user_text: str
    answer_text: str
    """Empty while running; what was said before the stop when stopped."""
    provenance: Provenance
    created_at: str
    """ISO 8601, UTC."""
    route: Route | None = None
    usage: Usage = Usage()
    usage_other: Usage = Usage()
    timing: Timing = Timing()
    problem: str = ""
    hint: str = ""
    summary: str | None = None
    attachments: tuple[Attachment, ...] = ()
    rating: Rating = 0
    adapter: str = ""
    """Hash of the personal adapter that answered; empty where the expert answered as it came."""
    calls: tuple[CallRecord, ...] = ()
    recalled: tuple[MemoryLine, ...] = ()
    """What the expert was reminded of, in the order in which it read it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    conversation_id: str
    title: str
    profile: str
    created_at: str
    updated_at: str
    leaf_turn_id: str | None
    """The end of the branch that is shown and continued."""
    turn_count: int = 0
    is_off_record: bool = False
    """It is kept nowhere and ends with the host; nothing is remembered or learned of it."""


@dataclass(frozen=True, slots=True)
class ConversationCopy:
    """A conversation with all its branches, oldest turn first: what an export holds."""

    conversation: Conversation
    turns: tuple[TurnRecord, ...]
    signals: tuple[Signal, ...] = ()
    """Corrections, edits and picks, oldest first; thumbs are the turns' own."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of a conversation of another program that was imported, perhaps once more."""

    conversation_id: str
    is_new: bool
    """It was not here before."""
    added: int
    """Turns that were not here before."""
    differing: int
    """Turns that were here with other words, and stayed as they were."""


@dataclass(frozen=True, slots=True)
class About:
    """What answers, and where it is computed; `notices` are things the user should know, as sentences."""

    base: str
    backend: str
    backend_reason: str
    notices: tuple[str, ...] = ()
    profile: str = ""
    context_tokens: int = 0
    """Size of the context; 0 where it is not known."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One message that matches a search; `snippet` marks nothing, it is plain text around the first match."""

    conversation_id: str
    turn_id: str
    role: Literal["user", "assistant"]
    title: str
    snippet: str
    created_at: str
