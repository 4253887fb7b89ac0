"""All a face may do with memories. Needs no model; what changes holds from the next turn on."""

from collections.abc import Sequence
from typing import Protocol

from engine.forgetting import Forgotten
from engine.memory.hygiene import HygieneReport
from engine.memory.values import Draft, Memory, MemoryDetails, MemoryKind, MemoryState, Standing, TrustTier


class MemoryShelf(Protocol):
    """Every call may raise `engine.AgentError`."""

    def memories(
        self,
        *,
        states: Sequence[MemoryState] = ("active",),
        kinds: Sequence[MemoryKind] = (),
        trusts: Sequence[TrustTier] = (),
        limit: int = 50,
        before: int | None = None,
    ) -> Sequence[Memory]:
        """The newest first; `before` is the `memory_id` of the last one of the page before. Without kinds or trusts of
        all of them."""
        ...

    def search_memories(self, query: str, *, limit: int = 20) -> Sequence[Memory]:
        """What would be recalled for it, the best first; then what holds its words, also of those that wait."""
        ...

    def memory(self, memory_id: int) -> MemoryDetails:
        """Raises: UnknownName."""
        ...

    def memory_standing(self) -> Standing:
        """How many there are, and whether more are made."""
        ...

    def memory_report(self) -> HygieneReport:
        """How they stand, and which want a person's eye."""
        ...

    def add_memory(self, text: str, kind: MemoryKind | None = None, due_on: str = "") -> Memory:
        """What the user says of themselves, as it stands, in the place of what cannot hold beside it. What is there
        word for word is confirmed instead. Without a kind, and for a plan a day, the rules find them.

        Raises: BadText.
        """
        ...

    def edit_memory(
        self, memory_id: int, text: str, kind: MemoryKind | None = None, due_on: str | None = None
    ) -> Memory:
        """Say it otherwise, which approves one that waits. It gets a new number; the old wording is its history.

        Raises: UnknownName, BadText; UsageProblem for one that something newer has taken the place of.
        """
        ...

    def approve_memory(self, memory_id: int) -> Memory:
        """The user has looked at one that waits: it may be recalled. Raises: UnknownName, UsageProblem."""
        ...

    def forget_memory(self, memory_id: int) -> Forgotten | None:
        """It and its history are gone, with the words that it was written from and all that was learned from them: what
        has gone, and what is left. One that waits and is not wanted goes alone: None.

        Raises: UnknownName, ConversationBusy, HomeBusy, DiskFull, StoreProblem.
        """
        ...

    def propose_memories(self, drafts: Sequence[Draft]) -> Sequence[Memory]:
        """Let them wait until the user has looked at them, tainted, whatever they say of themselves. What is there word
        for word is left out, so that proposing twice is the same as once. Those that wait now.

        Raises: BadText, UnknownName.
        """
        ...

    def set_memory_pause(self, is_paused: bool) -> Standing:
        """While it is paused nothing is remembered of what the user says; what is known is still recalled."""
        ...
