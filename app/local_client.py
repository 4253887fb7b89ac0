"""The Client whose agent lives in this process."""

import threading
from collections.abc import Callable, Generator, Sequence

from engine.agent import Agent
from engine.events import TurnEvent, TurnOpened
from engine.routing.profile import Profile
from engine.runtime.protocol import Runtime
from engine.store import Store
from engine.values import About, Conversation, Provenance, SearchHit, TurnRecord


class LocalClient:
    """See `ui.client.Client`. A new turn interrupts idle work; it never waits for it."""

    def __init__(self, agent: Agent, store: Store, runtime: Runtime, profile: Profile, about: About) -> None:
        self._agent = agent
        self._store = store
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
    ) -> Generator[TurnEvent, None, None]:
        yield from self._run(
            lambda stop: self._agent.turn(
                text,
                conversation_id=conversation_id,
                parent_turn_id=parent_turn_id,
                expert=expert,
                provenance=provenance,
                stop=stop,
            )
        )

    def regenerate(self, turn_id: str, *, expert: str | None = None) -> Generator[TurnEvent, None, None]:
        yield from self._run(lambda stop: self._agent.regenerate(turn_id, expert=expert, stop=stop))

    def edit(
        self, turn_id: str, text: str, *, expert: str | None = None, provenance: Provenance = "typed"
    ) -> Generator[TurnEvent, None, None]:
        yield from self._run(
            lambda stop: self._agent.edit(turn_id, text, expert=expert, provenance=provenance, stop=stop)
        )

    def stop(self) -> None:
        self._stop.set()
        self._stop_idle.set()

    def idle(self) -> None:
        with self._lock:
            if self._turns or self._conversation_id is None:
                return
            stop = self._stop_idle = threading.Event()
        self._agent.idle(self._conversation_id, stop)

    def about(self) -> About:
        return self._about

    def experts(self) -> Sequence[tuple[str, str]]:
        return tuple((expert.expert, expert.description) for expert in self._profile.experts)

    def conversations(self, *, limit: int = 50, offset: int = 0) -> Sequence[Conversation]:
        return self._store.conversations(limit, offset)

    def path(self, conversation_id: str) -> Sequence[TurnRecord]:
        leaf = self._store.conversation(conversation_id).leaf_turn_id
        return self._store.path(leaf) if leaf else ()

    def siblings(self, turn_id: str) -> Sequence[TurnRecord]:
        return self._store.siblings(turn_id)

    def select(self, turn_id: str) -> None:
        self._store.select(turn_id)

    def search(self, query: str, *, limit: int = 20) -> Sequence[SearchHit]:
        return self._store.search(query, limit)

    def close(self) -> None:
        """End what runs; who opened the store closes it."""
        self._stop_idle.set()
        self._stop.set()
        self._runtime.close()

    def _run(
        self, start: Callable[[threading.Event], Generator[TurnEvent, None, None]]
    ) -> Generator[TurnEvent, None, None]:
        """The events of a turn that `start` begins, given its stop flag."""
        with self._lock:
            self._stop_idle.set()
            stop = self._stop = threading.Event()
            self._turns += 1
        events = start(stop)
        try:
            for event in events:
                if isinstance(event, TurnOpened):
                    self._conversation_id = event.conversation_id
                yield event
        finally:
            events.close()
            with self._lock:
                self._turns -= 1
