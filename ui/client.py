"""All a face may do. One face, one Client; whether the agent is in this process or in a host is not its affair."""

from collections.abc import Generator, Sequence
from typing import Protocol

from engine.events import TurnEvent
from engine.memory.values import Proposed
from engine.signals.values import Correction, CorrectionKind, Signal, SignalKind
from engine.values import (
    About,
    Attachment,
    Conversation,
    ConversationCopy,
    Merged,
    Provenance,
    Rating,
    SearchHit,
    TurnRecord,
)
from ui.adapter_shelf import AdapterShelf
from ui.interview_shelf import InterviewShelf
from ui.memory_shelf import MemoryShelf
from ui.suggestion_shelf import SuggestionShelf
from ui.tool_shelf import ToolShelf


class Library(Protocol):
    """What was said. Needs no model. Every call may raise `engine.AgentError`."""

    def conversations(self, *, limit: int = 50, offset: int = 0) -> Sequence[Conversation]:
        """Those last spoken in come first."""
        ...

    def conversation(self, conversation_id: str) -> Conversation: ...

    def path(self, conversation_id: str) -> Sequence[TurnRecord]:
        """The turns of the branch in use, oldest first."""
        ...

    def tree(self, conversation_id: str) -> Sequence[TurnRecord]:
        """The turns of all branches, oldest first; each names its parent."""
        ...

    def siblings(self, turn_id: str) -> Sequence[TurnRecord]:
        """This turn and its edits and regenerations, oldest first."""
        ...

    def select(self, turn_id: str) -> None:
        """Make the branch through this turn the one in use, down to its newest leaf."""
        ...

    def search(self, query: str, *, limit: int = 20) -> Sequence[SearchHit]: ...

    def rename(self, conversation_id: str, title: str) -> None: ...

    def rate(self, turn_id: str, rating: Rating) -> None:
        """What the user thinks of an answer: 1 thumb up, -1 thumb down, 0 taken back."""
        ...

    def correct(
        self, turn_id: str, text: str, kind: CorrectionKind = "correction", provenance: Provenance = "typed"
    ) -> Signal:
        """What should have been answered, word for word. What was answered, and is read on, stays as it is.

        What the user did not type waits, tainted, until it is confirmed.
        """
        ...

    def pick(self, turn_id: str) -> None:
        """Of several answers to the same message this one is the best."""
        ...

    def signals(
        self,
        *,
        limit: int = 50,
        before: int | None = None,
        kinds: Sequence[SignalKind] = (),
        expert: str | None = None,
        conversation_id: str | None = None,
    ) -> Sequence[Signal]:
        """What the user gave as evidence, the newest first: numbered below `before`, of these kinds, of this expert and
        conversation."""
        ...

    def corrections(self, expert: str | None = None) -> Sequence[Correction]:
        """What may be learned: the last better answer to every turn that is not tainted, the newest last."""
        ...

    def erase_signal(self, signal_id: int) -> None:
        """Its text is gone, and it counts no more; neither does what it had replaced."""
        ...

    def confirm_signal(self, signal_id: int) -> Signal:
        """The user has looked at it: it is tainted no more."""
        ...

    def export_conversation(self, conversation_id: str) -> ConversationCopy:
        """The conversation with all its branches, to be written to a file."""
        ...

    def import_conversation(self, copy: ConversationCopy) -> bool:
        """Add a conversation that was exported; its texts are `imported` from now on.

        False when it is here already: nothing that is stored is ever overwritten.
        """
        ...

    def merge_conversation(self, copy: ConversationCopy) -> Merged:
        """Add a conversation of another program, or what is new in it since it was last added.

        Nothing that is stored is ever overwritten; its texts are `imported`.
        """
        ...

    def read_for_memories(self, conversation_id: str) -> Proposed:
        """Let what the user said of themselves in the imported turns of a conversation wait for their review; none of
        it is remembered before. A second time changes nothing."""
        ...

    def close(self) -> None: ...


class Client(Library, Protocol):
    """Turn events and management calls. Every call may raise `engine.AgentError`. Closing the events stops the turn."""

    @property
    def shelf(self) -> AdapterShelf:
        """The adapters; it needs no closing beside the client."""
        ...

    @property
    def tools(self) -> ToolShelf:
        """Permissions, likewise."""
        ...

    @property
    def memories(self) -> MemoryShelf:
        """What is remembered of the user, likewise."""
        ...

    @property
    def suggestion_shelf(self) -> SuggestionShelf:
        """What the agent suggests by itself, likewise."""
        ...

    @property
    def interview_shelf(self) -> InterviewShelf:
        """The questions of the first day, likewise."""
        ...

    def ask(
        self,
        text: str,
        *,
        conversation_id: str | None = None,
        parent_turn_id: str | None = None,
        expert: str | None = None,
        provenance: Provenance = "typed",
        attachments: Sequence[Attachment] = (),
        off_record: bool = False,
    ) -> Generator[TurnEvent, None, None]:
        """Say something. Without a conversation a new one begins; `parent_turn_id` branches from an earlier turn.

        `provenance` is that of `text`; attachments are never taken for something the user typed. `off_record`: the
        conversation that begins is kept nowhere and ends with the agent's process.
        """
        ...

    def regenerate(self, turn_id: str, *, expert: str | None = None) -> Generator[TurnEvent, None, None]:
        """Answer the same message once more, as a sibling. Also retries failed and interrupted turns."""
        ...

    def edit(
        self,
        turn_id: str,
        text: str,
        *,
        expert: str | None = None,
        provenance: Provenance = "typed",
    ) -> Generator[TurnEvent, None, None]:
        """Replace the user's message by another, as a sibling; its attachments stay."""
        ...

    def stop(self, turn_id: str | None = None) -> None:
        """End a turn of this client, or whichever it has running, in any phase; the partial text is kept."""
        ...

    def idle(self) -> None:
        """Tell the agent that nobody is waiting, so that it may write summaries it will need."""
        ...

    def about(self) -> About:
        """What answers, where it is computed and why, and what the user should know about it. Waits for the base."""
        ...

    def experts(self) -> Sequence[tuple[str, str]]:
        """(expert, what it is for) of the profile in use."""
        ...

    def profiles(self) -> Sequence[tuple[str, str]]:
        """(name, title) of every profile there is on this machine."""
        ...

    def use_profile(self, name: str) -> About:
        """Answer with another profile from the next turn on. Blocks while its base is loaded.

        When that fails the error is raised and the old profile answers on.
        """
        ...
