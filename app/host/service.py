"""What the host holds: the store, the engine child, and the agent of the profile in use. All work passes its queue.

Knows no HTTP. `loaded` is called on the queue's thread only, so the base is loaded, and changed, between turns.
"""

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, TypeVar

from app.adapters.shelf import StoreShelf
from app.bases import find_base
from app.forgetting.forgetting import Forgetting
from app.harness.home_tools import HomeTools
from app.harness.tool_shelf import StoredTools
from app.host.feed import Feed
from app.host.queue import Job, WorkQueue
from app.interview.shelf import StoredInterview
from app.library import StoreLibrary
from app.memory.shelf import StoredMemories
from app.off_record import OffTheRecord
from app.paths import Paths
from app.profiles import list_profiles, load_chosen_profile
from app.settings import Settings
from app.suggestions.shelf import StoredSuggestions
from app.wiring import Built, build_agent, engine_child, load_plan, open_memories
from engine.adapters.catalogue import Catalogue
from engine.agent import Agent, Steps
from engine.errors import AgentError, RuntimeFailed, StoreProblem
from engine.events import TurnClosed
from engine.forgetting import Forgotten, Wanted
from engine.runtime.child import ChildRuntime
from engine.runtime.protocol import Stop
from engine.store import Store
from engine.values import About

T = TypeVar("T")

_MANAGEMENT: Final = "management"
"""The lane of calls that change what runs."""
_PATIENCE_S: Final = 2.0
"""How long a turn may take to stop in order when the host ends."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """One profile with its base in the engine child."""

    profile_name: str
    """As it was asked for: a name or a folder."""
    built: Built


class Service(StoreLibrary):
    """The management calls of `ui.client.Client`, and what turns and other work need."""

    def __init__(self, paths: Paths, store: Store, settings: Settings, profile_name: str | None = None) -> None:
        self.off_record = OffTheRecord()
        super().__init__(store, self.off_record)
        self.paths = paths
        self.store = store
        self.shelf = StoreShelf(Catalogue(store.database), paths.adapters)
        self._forgetting = Forgetting(paths, store)
        self._home_tools = HomeTools(paths, store.database)
        self.tools = StoredTools(self._home_tools)
        self.settings = settings
        self.queue = WorkQueue()
        self.suggestion_shelf = StoredSuggestions(paths, store)
        self.feed = Feed()
        self.runtime: ChildRuntime = engine_child(paths)
        self.kept_memories = open_memories(store, self.runtime, settings, paths.models)
        self.memories = StoredMemories(self.kept_memories, store, self)
        self.interview_shelf = StoredInterview(store, self.kept_memories)
        self._wanted = profile_name or settings.profile
        self._loaded: Loaded | None = None
        self._stop_idle = threading.Event()
        self._checked_on: date | None = None
        """The day on which memories were held against the world last."""
        self._last_turn: tuple[str, float] | None = None
        """Conversation and time of the last turn that closed, until idle work has been done for it."""

    # Work, on the queue's thread

    def loaded(self) -> Loaded:
        """The profile in use, its base loaded. May take minutes the first time; tried again after an error.

        Raises: UnknownName, ModelProblem, RuntimeFailed.
        """
        self._stop_idle.set()
        if self._loaded is None:
            self._loaded = self._load(self._wanted)
        return self._loaded

    def turn(self, start: Callable[[Agent, Stop], Steps], *, is_off_record: bool = False) -> Callable[[Stop], Steps]:
        """Work for the queue: one turn of the agent in use, or of the one for conversations that are off the record."""

        def work(stop: Stop) -> Steps:
            built = self.loaded().built
            agent = built.off_record if is_off_record and built.off_record is not None else built.agent
            with closing(start(agent, stop)) as steps:
                for step in steps:
                    if isinstance(step, TurnClosed) and not is_off_record:
                        self._last_turn = step.conversation_id, time.monotonic()
                    yield step

        return work

    # Management, from any thread

    @property
    def current(self) -> Loaded | None:
        """The profile in use, if its base has been loaded."""
        return self._loaded

    def about(self) -> About:
        current = self._loaded or self._managed(self.loaded)
        return current.built.about

    def experts(self) -> Sequence[tuple[str, str]]:
        current = self._loaded or self._managed(self.loaded)
        return tuple((expert.expert, expert.description) for expert in current.built.mixture.profile.experts)

    def profiles(self) -> Sequence[tuple[str, str]]:
        return list_profiles(self.paths)

    def use_profile(self, name: str) -> About:
        def change() -> Loaded:
            old = self._loaded
            if old is not None and old.built.mixture.profile == load_chosen_profile(self.paths, name):
                return old
            try:
                self._loaded = self._load(name)
            except AgentError:
                # The runtime may hold half of the other base: the old one is loaded anew when it is next needed.
                self._loaded, self._wanted = None, old.profile_name if old else self._wanted
                raise
            self._wanted = name
            return self._loaded

        about = self._managed(change).built.about
        self.feed.publish("profile", profile=about.profile)
        return about

    def preview_forgetting(self, wanted: Wanted) -> Forgotten:
        return self._managed(lambda: self._forgetting.preview_forgetting(wanted))

    def forget(self, wanted: Wanted) -> Forgotten:
        """Between turns; the engine keeps no view, and conversations no namespace, that may hold it."""
        return self._managed(lambda: self._forget(wanted))

    def preload(self) -> Job[Loaded]:
        """Load the base before anyone asks; errors are told to who asks."""

        def work(stop: Stop) -> Generator[Loaded, None, None]:
            yield self.loaded()
            self.feed.publish("engine", state="loaded")

        return self.queue.submit(_MANAGEMENT, work)

    def idle(self) -> None:
        """Write the summaries that a next turn would wait for, then the vectors that memories lack, and check these;
        ends as soon as anybody wants something."""
        last, current = self._last_turn, self._loaded
        if last is None or current is None or self.queue.is_busy:
            return
        stop = self._stop_idle = threading.Event()
        self._last_turn = None
        current.built.agent.idle(last[0], stop)
        with suppress(RuntimeFailed, StoreProblem):  # tried again after the next turn
            while not stop.is_set() and self.kept_memories.embed_some():
                pass
            self._check_memories()

    def is_quiet(self, seconds: float) -> bool:
        """Whether a turn has closed, nothing has happened for so long since, and idle work is due."""
        last = self._last_turn
        return last is not None and not self.queue.is_busy and time.monotonic() - last[1] >= seconds

    def release(self) -> None:
        """Free the memory of the engine, between turns; the next one starts it again."""
        if self.runtime.process_id is not None:
            self._managed(self.runtime.release)
            self.feed.publish("engine", state="released")

    def close(self) -> None:
        """Stop what runs, with its partial text kept, and end the engine. Who opened the store closes it."""
        self._stop_idle.set()
        self.queue.stop_all()
        self.queue.wait(_PATIENCE_S)
        self._home_tools.close()
        self.runtime.close()  # a base that is still being loaded takes no notice of a stop
        self.queue.wait()
        self.off_record.close()

    def _check_memories(self) -> None:
        """Once a day: a plan whose day is over is believed no more. Raises: StoreProblem."""
        now = datetime.now().astimezone()
        if now.date() != self._checked_on:
            self.kept_memories.check(now.astimezone(UTC), now.date())
            self._checked_on = now.date()

    def _forget(self, wanted: Wanted) -> Forgotten:
        self._stop_idle.set()
        with self._loaded.built.agent.at_rest() if self._loaded else nullcontext():
            # Whatever views hold: what is forgotten may have been recalled anywhere, and reading anew costs seconds.
            if self.runtime.process_id is not None:
                self.runtime.drop("")
            forgotten = self._forgetting.forget(wanted)
            self.kept_memories.are_gone(forgotten.memory_ids)
            for conversation_id in forgotten.conversations:
                self._home_tools.forget(conversation_id)
        return forgotten

    def _managed(self, change: Callable[[], T]) -> T:
        """Run between turns, and wait for it. Raises: the error it ends with."""

        def work(stop: Stop) -> Generator[T, None, None]:
            yield change()

        (result,) = self.queue.submit(_MANAGEMENT, work).result()
        return result

    def _load(self, name: str) -> Loaded:
        profile = load_chosen_profile(self.paths, name)
        base = find_base(profile, self.paths)
        plan = load_plan(profile, base, self.settings, self.paths.models)
        built = build_agent(
            self.runtime,
            self.store,
            profile,
            plan,
            adapters=self.paths.adapters,
            tools=self._home_tools,
            memories=self.kept_memories,
            off_record=self.off_record.store,
        )
        return Loaded(name, built)
