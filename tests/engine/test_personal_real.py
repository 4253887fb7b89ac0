"""Promotion and rollback on a real runtime: the next turn is answered under other weights, the base stays loaded."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.wiring import build_agent
from engine.adapters.catalogue import Catalogue
from engine.adapters.importing import import_adapter
from engine.adapters.records import AdapterRecord
from engine.agent import Agent
from engine.assets import asset_path
from engine.events import Notice, TurnClosed, TurnEvent
from engine.routing.profile import load_profile
from engine.runtime.identity import fingerprint
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import LoadPlan, ModelInfo, Sampling
from engine.store import Store
from tests.support.adapters import write_random_adapter
from tests.support.completing import complete

pytestmark = pytest.mark.model


class CountingRuntime(LlamaRuntime):
    loads = 0

    def load(self, plan: LoadPlan) -> ModelInfo:
        self.loads += 1
        return super().load(plan)


@dataclass(frozen=True)
class Table:
    agent: Agent
    store: Store
    runtime: CountingRuntime
    catalogue: Catalogue
    base: Path
    adapters: Path

    def say(self, text: str, conversation_id: str | None = None) -> tuple[TurnClosed, list[TurnEvent]]:
        events = list(self.agent.turn(text, expert="L0", conversation_id=conversation_id))
        closed = events[-1]
        assert isinstance(closed, TurnClosed)
        assert closed.state == "answered", closed.problem
        return closed, events

    def bring_in(self, folder: Path, seed: int) -> AdapterRecord:
        """A random adapter for L0, as `macaron adapters import` brings one in."""
        file = write_random_adapter(self.base, folder / f"{seed}.gguf", seed=seed)
        imported = import_adapter(file, self.base, self.adapters)
        return self.catalogue.add(
            AdapterRecord(
                content_hash=imported.adapter.content_hash,
                base_hash=fingerprint(self.base),
                profile="starter",
                expert="L0",
                kind="imported",
                file=Path(imported.adapter.path).name,
                size_bytes=imported.size_bytes,
                rank=imported.ranks[1],
            )
        )


@contextmanager
def seated(base: Path, folder: Path) -> Iterator[Table]:
    """The starter's profile on a tiny base, with one adapter of the factory, greedy and brief."""
    shutil.copytree(asset_path("profiles", "starter"), folder / "profile", ignore=shutil.ignore_patterns("adapters"))
    (folder / "profile" / "adapters").mkdir()
    write_random_adapter(base, folder / "profile" / "adapters" / "starter-chat.gguf", seed=99)
    profile = replace(
        load_profile(folder / "profile"), name="starter", sampling=Sampling(), context_tokens=2048, max_answer_tokens=12
    )
    runtime = CountingRuntime()
    try:
        with Store.open(folder / "macaron.db") as store:
            plan = LoadPlan(str(base), context_tokens=2048, pool_tokens=8192, threads=1)
            agent = build_agent(runtime, store, profile, plan, adapters=folder / "adapters").agent
            yield Table(agent, store, runtime, Catalogue(store.database), base, folder / "adapters")
    finally:
        runtime.close()


@pytest.fixture
def table(tiny_moe: Path, tmp_path: Path) -> Iterator[Table]:
    with seated(tiny_moe, tmp_path) as opened:
        yield opened


def repeated(table: Table, turn: TurnClosed) -> tuple[int, ...]:
    """What the same prompt gives under the same adapters on a runtime that has forgotten every view."""
    trace = next(trace for trace in table.store.traces(turn.turn_id) if trace.kind == "answer")
    table.runtime.drop("")
    return complete(table.runtime, trace.prompt, trace.adapters, max_tokens=12).tokens


def test_the_adapters_a_profile_came_with_are_in_the_catalogue(table: Table):
    (factory,) = table.catalogue.page()
    assert (factory.state, factory.expert, factory.file, factory.rank) == ("factory", "L0", "starter-chat.gguf", 8)


def test_a_promotion_and_a_rollback_change_the_next_answer_without_loading_the_base_again(table: Table, tmp_path: Path):
    before, _ = table.say("Tell me of the sea.")
    record = table.bring_in(tmp_path, seed=1)
    table.catalogue.promote(record.content_hash)
    under_it, _ = table.say("Tell me of the sea.")
    table.catalogue.rollback(record.content_hash)
    after, _ = table.say("Tell me of the sea.")
    traces = [table.store.traces(turn.turn_id)[-1] for turn in (before, under_it, after)]
    assert [len(trace.adapters) for trace in traces] == [1, 2, 1]
    assert traces[0].prompt == traces[1].prompt == traces[2].prompt
    assert traces[0].completion == traces[2].completion != traces[1].completion
    assert table.runtime.loads == 1


def test_a_conversation_goes_on_under_a_new_adapter_as_one_that_is_read_from_the_beginning(
    table: Table, tmp_path: Path
):
    first, _ = table.say("Tell me of the sea.")
    table.catalogue.promote(table.bring_in(tmp_path, seed=1).content_hash)
    second, _ = table.say("And of the hills?", first.conversation_id)
    assert repeated(table, second) == table.store.traces(second.turn_id)[-1].completion[:12]


def test_an_adapter_whose_file_was_damaged_is_left_out_and_told(table: Table, tmp_path: Path):
    record = table.bring_in(tmp_path, seed=1)
    table.catalogue.promote(record.content_hash)
    file = table.adapters / record.file
    file.write_bytes(file.read_bytes()[:-100])
    closed, events = table.say("Tell me of the sea.")
    assert len(table.store.traces(closed.turn_id)[-1].adapters) == 1
    assert [event.code for event in events if isinstance(event, Notice)].count("adapter_left_out") == 1
