"""What a signal is, and what teaching reads of signals. Values only; knows neither tables nor screens."""

from dataclasses import dataclass
from typing import Literal

SignalKind = Literal["thumb", "correction", "edit", "pick", "suggestion"]
"""What a person did: a thumb, a better answer in their words, the answer edited, one answer chosen out of two; accepted
or dismissed what was suggested after it, which says nothing of the answer and teaches nothing."""

SignalSource = Literal["user", "typed", "pasted", "attached", "imported", "tool", "api"]
"""Where the text of a signal came from; `user` is a click or a key, which has no text."""

CorrectionKind = Literal["correction", "edit"]
"""The signals that hold an answer to learn from."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Evidence about how good a turn was."""

    signal_id: int
    """Rises with time."""
    turn_id: str
    kind: SignalKind
    value: float
    """How good the answer was, from -1 to 1: of a thumb -1, 0 (taken back) or 1; of a better or an edited answer -1, as
    the one there was would not do; of a pick 1, or 0.5 where the user did not say so but went on from it. Of a
    suggestion 1 where it was accepted, -1 where it was dismissed."""
    text: str
    """The better answer of a correction or an edit; otherwise empty."""
    other_turn_id: str | None
    """The answer that was passed over, of a pick."""
    source: SignalSource
    is_tainted: bool
    """Its text is not known to be typed by the user: nothing learns from it until they confirm it."""
    created_at: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A question, the answer it got, and the answer the user wants instead: what an expert can be taught from."""

    signal_id: int
    turn_id: str
    conversation_id: str
    expert: str
    """The expert that answered; empty where the turn has no route."""
    prompt: str
    """What the user had asked."""
    before: str
    """What was answered."""
    after: str
    """What should have been answered."""
    kind: CorrectionKind
    created_at: str
    """ISO 8601, UTC."""
