"""The Client whose agent lives in this process."""

import threading
from collections.abc import Callable, Generator, Sequence

from app.library import StoreLibrary
from app.off_record import OffTheRecord
from engine.agent import Agent, Steps
from engine.asides import at_once
from engine.errors import UsageProblem
from engine.events import TurnEvent, TurnOpened
from engine.routing.profile import Profile
from engine.runtime.protocol import Runtime
from engine.store import Store
from engine.values import About, Attachment, Provenance
from ui.adapter_shelf import AdapterShelf
from ui.interview_shelf import InterviewShelf
from ui.memory_shelf import MemoryShelf
from ui.suggestion_shelf import SuggestionShelf
from ui.tool_shelf import ToolShelf


class LocalClient(StoreLibrary):
    """See `ui.client.Client`. A new turn interrupts idle work; it never waits for it."""

    def __init__(
        self,
        agent: Agent,
        store: Store,
        runtime: Runtime,
        profile: Profile,
        about: About,
        shelf: AdapterShelf,
        tools: ToolShelf,
        memories: MemoryShelf,
        suggestion_shelf: SuggestionShelf,
        interview_shelf: InterviewShelf,
        *,
        hidden: OffTheRecord | None = None,
        hidden_agent: Agent | None = None,
    ) -> None:
        """`hidden_agent` answers in the conversations that are off the record."""
        self._agent = agent
        self._hidden_agent = hidden_agent
        self.shelf = shelf
        self.tools = tools
        self.memories = memories
        self.suggestion_shelf = suggestion_shelf
        self.interview_shelf = interview_shelf
        super().__init__(store, hidden)
        self._runtime = runtime
        self._profile = profile
        self._about = about
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._stop_idle = threading.Event()
        self._turns = 0
        """Turns under way, those that still wait for idle work to end included."""
        self._conversation_id: str | None = None

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
        agent = self._agent_of(conversation_id=conversation_id, off_record=off_record)
        yield from self._run(
            lambda stop: agent.turn(
                text,
                conversation_id=conversation_id,
                parent_turn_id=parent_turn_id,
                expert=expert,
                provenance=provenance,
                attachments=attachments,
                stop=stop,
                attended=False,
            )
        )

    def regenerate(self, turn_id: str, *, expert: str | None = None) -> Generator[TurnEvent, None, None]:
        agent = self._agent_of(turn_id=turn_id)
        yield from self._run(lambda stop: agent.regenerate(turn_id, expert=expert, attended=False, stop=stop))

    def edit(
        self, turn_id: str, text: str, *, expert: str | None = None, provenance: Provenance = "typed"
    ) -> Generator[TurnEvent, None, None]:
        agent = self._agent_of(turn_id=turn_id)
        yield from self._run(
            lambda stop: agent.edit(turn_id, text, expert=expert, provenance=provenance, attended=False, stop=stop)
        )

    def stop(self, turn_id: str | None = None) -> None:
        # One turn runs at a time, so there is no other that could be meant.
        self._stop.set()
        self._stop_idle.set()

    def stop_idle(self) -> None:
        """Somebody waits: the agent's own work ends now."""
        self._stop_idle.set()

    def idle(self) -> None:
        with self._lock:
            if self._turns or self._conversation_id is None:
                return
            stop = self._stop_idle = threading.Event()
        self._agent_of(conversation_id=self._conversation_id).idle(self._conversation_id, stop)

    def about(self) -> About:
        return self._about

    def experts(self) -> Sequence[tuple[str, str]]:
        return tuple((expert.expert, expert.description) for expert in self._profile.experts)

    def profiles(self) -> Sequence[tuple[str, str]]:
        return ((self._profile.name, self._profile.title),)

    def use_profile(self, name: str) -> About:
        if name == self._profile.name:
            return self._about
        raise UsageProblem(
            "The profile cannot be changed while the agent runs in this program alone.",
            f"Start it again with --profile {name}.",
        )

    def close(self) -> None:
        """End what runs; who opened the store closes it."""
        self._stop_idle.set()
        self._stop.set()
        self._runtime.close()

    def _agent_of(
        self, *, conversation_id: str | None = None, turn_id: str | None = None, off_record: bool = False
    ) -> Agent:
        hidden = self._off_record
        if self._hidden_agent is None or hidden is None:
            return self._agent
        is_new = off_record and conversation_id is None
        is_hidden = is_new or hidden.holds(conversation_id=conversation_id, turn_id=turn_id)
        return self._hidden_agent if is_hidden else self._agent

    def _run(self, start: Callable[[threading.Event], Steps]) -> Generator[TurnEvent, None, None]:
        """The events of a turn that `start` begins, given its stop flag."""
        with self._lock:
            self._stop_idle.set()
            stop = self._stop = threading.Event()
            self._turns += 1
        events: Generator[TurnEvent, None, None] = at_once(start(stop))
        try:
            for event in events:
                if isinstance(event, TurnOpened):
                    self._conversation_id = event.conversation_id
                yield event
        finally:
            events.close()
            with self._lock:
                self._turns -= 1
