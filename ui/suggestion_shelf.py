"""All a face may do with suggestions. Needs no model, and waits for no turn."""

from collections.abc import Sequence
from typing import Protocol

from engine.suggestions.values import Suggestion, SuggestionKind, Switches


class SuggestionShelf(Protocol):
    """What the agent suggests by itself. Every call may raise `engine.AgentError`."""

    def suggestions(self) -> Sequence[Suggestion]:
        """What is suggested now: one at most. To be asked for at the start of a chat and after a turn, never within
        one."""
        ...

    def past_suggestions(self, *, limit: int = 20) -> Sequence[Suggestion]:
        """The newest first, with what became of them."""
        ...

    def accept_suggestion(self, suggestion_id: int) -> Suggestion:
        """Do what it suggests."""
        ...

    def dismiss_suggestion(self, suggestion_id: int) -> Suggestion:
        """Not that. Twice in a row, and its kind is quiet until it is switched on again."""
        ...

    def suggestion_switches(self) -> Switches: ...

    def switch_suggestions(self, is_on: bool, kind: SuggestionKind | None = None) -> Switches:
        """All of them, or one kind, on or off."""
        ...
