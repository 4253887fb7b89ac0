"""One conversation with a real agent, on a real store and a scripted runtime, in the few words that tests share."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine import mixture
from engine.agent import Agent
from engine.asides import at_once
from engine.events import Notice, TextDelta, TurnClosed, TurnEvent
from engine.hands import Hands
from engine.harness.formats import ChatFormat
from engine.harness.prompt import Harness
from engine.mixture import Mixture
from engine.remembering import Remembering
from engine.routing.profile import BaseSource, Expert, Profile, RouteSettings, Texts
from engine.runtime.protocol import NEVER, AdapterRef, AdapterStack, Sampling, Stop, Tokens
from engine.store import Store
from engine.values import Attachment, Trace, TurnRecord
from tests.support.scripted_runtime import MARKUP, ScriptedRuntime, model_info

SYSTEMS = {"L0": "I chat.", "L1": "I act.", "L2": "I code."}
SUMMARY_QUESTION = "Sum up."
SUMMARY_TOKENS = 20
SHORT = 30
"""Characters of the longest answer that is its own summary: one and a half summaries."""
ROUTE_TEXT = "Choose an expert."


def make_profile(systems: Mapping[str, str] = SYSTEMS, **changes: Any) -> Profile:
    values: dict[str, Any] = {
        "name": "test",
        "folder": Path(),
        "title": "Test",
        "model_name": "Test",
        "base_model": "Scripted",
        "base": BaseSource(""),
        "family": "chatml",
        "experts": tuple(Expert(label, label.lower(), label, None, system) for label, system in systems.items()),
        "texts": Texts("", ROUTE_TEXT, SUMMARY_QUESTION),
        "sampling": Sampling(),
        "context_tokens": 1 << 16,
        "max_answer_tokens": 400,
        "summary_tokens": SUMMARY_TOKENS,
        "route": RouteSettings("starter", 1.0, "L0", 40),
        "thinking": False,
    }
    return Profile(**values | changes)


def stack_of(expert: str) -> AdapterStack:
    return (AdapterRef(f"{expert}.gguf", f"content of {expert}"),)


def harness_of(profile: Profile, chat_format: ChatFormat | None = None) -> Harness:
    return mixture.harness_of(profile, chat_format or ChatFormat("chatml"), MARKUP)


@dataclass
class Talk:
    """`say` continues the conversation; `events` are the last turn's."""

    store: Store
    profile: Profile = field(default_factory=make_profile)
    runtime: ScriptedRuntime = field(default_factory=ScriptedRuntime)
    stacks: Mapping[str, AdapterStack] | None = None
    """Every expert has an adapter of its own when None."""
    base_hash: str = "base-1"
    chat_format: ChatFormat | None = None
    hands: Hands | None = None
    memory: Remembering | None = None
    conversation_id: str | None = None
    events: list[TurnEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self, **changes: Any) -> None:
        """Go on as the next process would: another agent, the same store. `changes` are new values of fields."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.runtime.context_tokens = self.profile.context_tokens
        self.harness = harness_of(self.profile, self.chat_format)
        stacks = self.stacks or {expert: stack_of(expert) for expert in self.profile.expert_ids}
        mixture = Mixture(self.profile, self.harness, model_info(self.base_hash), stacks)
        self.agent = Agent(self.runtime, self.store, mixture, hands=self.hands, memory=self.memory)

    def say(
        self,
        text: str = "Hi.",
        expert: str | None = None,
        *,
        answer: str | None = None,
        parent: str | None = None,
        attachments: Sequence[Attachment] = (),
        stop: Stop = NEVER,
    ) -> TurnClosed:
        if answer is not None:
            self.runtime.will_say(answer)
        return self._hear(
            at_once(
                self.agent.turn(
                    text,
                    conversation_id=self.conversation_id,
                    parent_turn_id=parent,
                    expert=expert,
                    attachments=attachments,
                    stop=stop,
                )
            )
        )

    def stop_at(
        self, kind: type[TurnEvent], text: str = "Go on.", expert: str | None = None, *, phase: str = ""
    ) -> TurnClosed:
        """Say something, and set the stop flag as soon as an event of this kind (and phase) comes."""
        stop = threading.Event()
        events = at_once(self.agent.turn(text, conversation_id=self.conversation_id, expert=expert, stop=stop))

        def watched() -> Iterator[TurnEvent]:
            for event in events:
                if isinstance(event, kind) and getattr(event, "phase", "") == phase:
                    stop.set()
                yield event

        closed = self._hear(watched())
        assert stop.is_set(), "no such event came"
        return closed

    def regenerate(self, turn_id: str, **options: Any) -> TurnClosed:
        return self._hear(at_once(self.agent.regenerate(turn_id, **options)))

    def edit(self, turn_id: str, text: str, **options: Any) -> TurnClosed:
        return self._hear(at_once(self.agent.edit(turn_id, text, **options)))

    def idle(self, stop: Stop = NEVER) -> None:
        assert self.conversation_id is not None
        self.agent.idle(self.conversation_id, stop)

    def _hear(self, events: Iterator[TurnEvent]) -> TurnClosed:
        self.events = list(events)
        closed = self.events[-1]
        assert isinstance(closed, TurnClosed)
        self.conversation_id = closed.conversation_id
        return closed

    # What was seen and stored

    def shown(self) -> str:
        """What the last turn's face has been told to show."""
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    def notices(self) -> dict[str, Mapping[str, Any]]:
        return {event.code: event.values for event in self.events if isinstance(event, Notice)}

    def path(self, turn: TurnClosed) -> tuple[TurnRecord, ...]:
        return self.store.path(turn.turn_id)

    def turns(self) -> tuple[TurnRecord, ...]:
        """The branch in use of every conversation there is."""
        leaves = (conversation.leaf_turn_id for conversation in self.store.conversations())
        return tuple(turn for leaf in leaves if leaf for turn in self.store.path(leaf))

    def turn(self, turn: TurnClosed) -> TurnRecord:
        return self.store.turn(turn.turn_id)

    def trace(self, turn: TurnClosed | TurnRecord, kind: str = "answer") -> Trace:
        (trace,) = (trace for trace in self.store.traces(turn.turn_id) if trace.kind == kind)
        return trace

    def read(self, turn: TurnClosed) -> str:
        """The prompt of a turn's answer, as text."""
        return self.runtime.decode(self.trace(turn).prompt)

    def left(self, turn: TurnClosed | TurnRecord) -> Tokens:
        """What a turn left behind in its view: prompt, the sampled tokens without their end, and the closing."""
        trace = self.trace(turn)
        own = trace.completion[:-1] if trace.completion[-1] == MARKUP["<|im_end|>"] else trace.completion
        return (*trace.prompt, *own, MARKUP["<|im_end|>"], *self.runtime.encode("\n"))


@contextmanager
def open_talk(folder: Path, **options: Any) -> Iterator[Talk]:
    with Store.open(folder / "macaron.db") as store:
        yield Talk(store, **options)
