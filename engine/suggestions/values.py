"""What a suggestion is, from the rule that sees it to the answer it gets. Values only; knows no table and no screen.

No words of the user are in it but for `text`, which is read where it was said whenever the suggestion is read. So what
is forgotten there is gone here as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

SuggestionKind = Literal["due", "habit", "stale", "break"]
"""Something is due soon and can be reminded of; the same was asked at the same time again and again, and could be a
job; a memory was not confirmed for long; the user has been at it for very long. The more pressing ones come first."""

SuggestionState = Literal["offered", "accepted", "dismissed", "expired"]
"""expired: its time passed, or what it is about is gone, before the user answered."""


@dataclass(frozen=True, slots=True)
class About:
    """Where the words of a suggestion are: at most one of these."""

    memory_id: int | None = None
    event_id: int | None = None
    turn_id: str | None = None
    """Of a habit: the last time that it was asked."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a rule sees."""

    kind: SuggestionKind
    key: str
    """The same for the same thing, which is suggested once only. Holds no words."""
    about: About = About()
    facts: Mapping[str, str] = field(default_factory=dict)
    """What its sentences and its consequence need: days as ISO 8601, times of day as HH:MM, numbers."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion as it is kept. Times are ISO 8601, UTC."""

    suggestion_id: int
    """Rises with time."""
    kind: SuggestionKind
    key: str
    text: str
    """The user's own words that it is about; empty for a break, and where they are gone."""
    facts: Mapping[str, str]
    state: SuggestionState
    made_at: str
    answered_at: str | None = None
    about: About = About()


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that the user typed."""

    turn_id: str
    text: str
    at: datetime
    """By the user's clocks."""


@dataclass(frozen=True, slots=True)
class Switches:
    """Whether suggestions are made."""

    is_on: bool = True
    off: tuple[SuggestionKind, ...] = ()
    """Kinds that are off by themselves."""
