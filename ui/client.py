"""All a face may do. One face, one Client; whether the agent is in this process or in a host is not its affair."""

from collections.abc import Generator, Sequence
from typing import Protocol

from engine.events import TurnEvent
from engine.values import About, Conversation, Provenance, SearchHit, TurnRecord


class Client(Protocol):
    """Turn events and management calls. Every call may raise `engine.AgentError`. Closing the events stops the turn."""

    def ask(
        self,
        text: str,
        *,
        conversation_id: str | None = None,
        parent_turn_id: str | None = None,
        expert: str | None = None,
        provenance: Provenance = "typed",
    ) -> Generator[TurnEvent, None, None]:
        """Say something. Without a conversation a new one begins; `parent_turn_id` branches from an earlier turn."""
        ...

    def regenerate(self, turn_id: str, *, expert: str | None = None) -> Generator[TurnEvent, None, None]:
        """Answer the same message once more, as a sibling. Also retries failed and interrupted turns."""
        ...

    def edit(
        self, turn_id: str, text: str, *, expert: str | None = None, provenance: Provenance = "typed"
    ) -> Generator[TurnEvent, None, None]:
        """Replace the user's message by another, as a sibling."""
        ...

    def stop(self) -> None:
        """End the turn that is running, in any phase; its partial text is kept."""
        ...

    def idle(self) -> None:
        """Tell the agent that nobody is waiting, so that it may write summaries it will need."""
        ...

    def about(self) -> About:
        """What answers, where it is computed and why, and what the user should know about it."""
        ...

    def experts(self) -> Sequence[tuple[str, str]]:
        """(expert, what it is for) of the profile in use."""
        ...

    def conversations(self, *, limit: int = 50, offset: int = 0) -> Sequence[Conversation]: ...

    def path(self, conversation_id: str) -> Sequence[TurnRecord]:
        """The turns of the branch in use, oldest first."""
        ...

    def siblings(self, turn_id: str) -> Sequence[TurnRecord]:
        """This turn and its edits and regenerations, oldest first."""
        ...

    def select(self, turn_id: str) -> None:
        """Make the branch through this turn the one in use, down to its newest leaf."""
        ...

    def search(self, query: str, *, limit: int = 20) -> Sequence[SearchHit]: ...

    def close(self) -> None: ...
