"""Whole conversations with real models and real adapters: what is read again, and what is said after going back."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.wiring import build_agent
from engine.agent import Agent
from engine.assets import asset_path
from engine.events import Reading, TextDelta, TurnClosed, TurnEvent
from engine.routing.profile import load_profile
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import LoadPlan, Runtime, Sampling, ScoreRequest
from engine.store import Store
from tests.support.completing import complete, loaded

pytestmark = pytest.mark.model

LONG = "The weather station on the hill reports wind, rain and the height of the snow every hour of the day. "


ROUNDING_NATS = 0.2
"""Two tokens this close may change places between batches of different sizes on the starter's 8-bit activations."""


@dataclass(frozen=True)
class Table:
    """An agent with four experts of their own adapters, greedy and brief."""

    agent: Agent
    store: Store
    base: Path
    long_text: str
    """About 1,600 tokens."""

    def say(self, text: str, expert: str | None = None, conversation_id: str | None = None) -> TurnClosed:
        return last(self.agent.turn(text, expert=expert, conversation_id=conversation_id))


def last(events: Iterator[TurnEvent]) -> TurnClosed:
    closed = list(events)[-1]
    assert isinstance(closed, TurnClosed)
    assert closed.state == "answered", closed.problem
    return closed


@contextmanager
def seated(
    base: Path,
    adapters: tuple[Path, ...],
    folder: Path,
    *,
    context_tokens: int,
    answer: int,
    runtime: Runtime | None = None,
) -> Iterator[Table]:
    """The starter's profile on `base`, with `adapters` as files beside it; in this process unless a runtime is given.

    The runtime is closed at the end.
    """
    shutil.copytree(asset_path("profiles", "starter"), folder / "profile", ignore=shutil.ignore_patterns("adapters"))
    (folder / "profile" / "adapters").mkdir()
    for name, adapter in zip(("chat", "agent", "coding", "surface"), adapters, strict=True):
        shutil.copy(adapter, folder / "profile" / "adapters" / f"starter-{name}.gguf")
    profile = replace(
        load_profile(folder / "profile"),
        sampling=Sampling(),
        context_tokens=context_tokens,
        max_answer_tokens=answer,
        summary_tokens=12,
    )
    assert all(expert.adapter for expert in profile.experts)
    runtime = runtime or LlamaRuntime()
    try:
        with Store.open(folder / "store.db") as store:
            plan = LoadPlan(str(base), context_tokens=context_tokens, pool_tokens=3 * context_tokens)
            agent = build_agent(runtime, store, profile, plan).agent
            sentences = 1600 // len(runtime.encode(LONG))
            yield Table(agent, store, base, LONG * sentences)
    finally:
        runtime.close()


@pytest.fixture(scope="module")
def starter(
    starter_base: Path, starter_adapters: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Table]:
    folder = tmp_path_factory.mktemp("starter")
    with seated(starter_base, starter_adapters, folder, context_tokens=6144, answer=16) as table:
        yield table


@pytest.fixture(scope="module")
def hybrid(
    tiny_moe: Path, tiny_moe_adapters: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Table]:
    folder = tmp_path_factory.mktemp("hybrid")
    with seated(tiny_moe, tiny_moe_adapters, folder, context_tokens=4096, answer=16) as table:
        yield table


@pytest.fixture(params=["starter", "hybrid"])
def table(request: pytest.FixtureRequest) -> Table:
    result: Table = request.getfixturevalue(request.param)
    return result


def share(closed: TurnClosed) -> float:
    return closed.usage.reused_tokens / closed.usage.prompt_tokens


def test_a_long_view_is_never_read_again(table: Table) -> None:
    first = table.say(table.long_text, "L1")
    second = table.say("And now?", "L1", first.conversation_id)
    other = table.say("And elsewhere?", "L2", first.conversation_id)
    back = table.say("Good.", "L1", first.conversation_id)

    assert second.usage.prompt_tokens >= 1500
    assert share(second) >= 0.95, "the second turn on the same expert"
    assert other.usage.reused_tokens < 100, "another expert has a view of its own"
    assert back.usage.prompt_tokens >= 1500
    assert share(back) >= 0.95, "coming back after another expert's turn"


@pytest.mark.parametrize("change", ["regenerate", "edit"])
def test_going_back_continues_from_the_common_past_as_a_cold_run_would(table: Table, change: str) -> None:
    first = table.say("Please count the ships.", "L0")
    second = table.say("And the boats?", "L3", first.conversation_id)
    third = table.say("And the rafts?", "L0", first.conversation_id)
    table.say("And the canoes?", "L0", first.conversation_id)

    def changed() -> TurnClosed:
        if change == "regenerate":
            return last(table.agent.regenerate(third.turn_id))
        return last(table.agent.edit(third.turn_id, "And the sails?", expert="L0"))

    again = changed()

    trace = next(trace for trace in table.store.traces(again.turn_id) if trace.kind == "answer")
    with loaded(table.base, context_tokens=4096) as cold:
        best = complete(cold, trace.prompt, trace.adapters, max_tokens=1)
        chosen = cold.score(ScoreRequest(trace.prompt, (trace.completion[:1],), trace.adapters)).totals()[0]
    assert chosen >= best.logprobs[0] - ROUNDING_NATS
    assert again.usage.reused_tokens >= first.usage.prompt_tokens + first.usage.completion_tokens - 1
    assert [turn.turn_id for turn in table.store.path(again.turn_id)] == [
        first.turn_id,
        second.turn_id,
        again.turn_id,
    ]
    if change == "regenerate":
        old = next(trace for trace in table.store.traces(third.turn_id) if trace.kind == "answer")
        assert trace.prompt == old.prompt


def test_the_same_question_goes_to_the_same_expert_by_the_router(table: Table) -> None:
    first = table.say("Which way is the sea?")
    second = table.say("Which way is the sea?")
    assert first.route is not None
    assert second.route is not None
    assert (first.route.expert, first.route.reason) == (second.route.expert, second.route.reason)
    assert set(first.route.scores) == {"L0", "L1", "L2", "L3"}


@pytest.mark.parametrize("phase", ["reading", "writing"])
def test_a_turn_that_is_stopped_keeps_what_was_said_and_ends_at_once(starter: Table, phase: str) -> None:
    stop = threading.Event()
    text = LONG * 190 if phase == "reading" else "Tell me a long story."
    started: float | None = None
    events: list[TurnEvent] = []
    wanted: Callable[[TurnEvent], bool] = (
        (lambda event: isinstance(event, Reading) and event.phase == "answer" and event.done > 0)
        if phase == "reading"
        else (lambda event: isinstance(event, TextDelta))
    )
    for event in starter.agent.turn(text, expert="L0", stop=stop):
        events.append(event)
        if started is None and wanted(event):
            started = time.perf_counter()
            stop.set()
    assert started is not None
    assert time.perf_counter() - started < 1.0
    closed = events[-1]
    assert isinstance(closed, TurnClosed)
    assert closed.state == "stopped"
    stored = starter.store.turn(closed.turn_id)
    assert stored.state == "stopped"
    assert stored.answer_text == "".join(event.text for event in events if isinstance(event, TextDelta))
    assert bool(stored.answer_text) == (phase == "writing")
