"""Recorded turns: what training would read of them is to the token what was served, by the real runtime."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.harness.home_tools import HomeTools
from app.opening import open_store
from app.paths import Paths, make_home
from app.settings import Settings
from app.wiring import Built, build_agent, embedder_file, open_memories
from engine.asides import at_once
from engine.assets import asset_path
from engine.errors import UsageProblem
from engine.events import ToolReturned, TurnClosed
from engine.harness.prompt import Harness
from engine.routing.profile import load_profile
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import NEVER, Finished, LoadPlan, ModelInfo, Piece, Request, Stop, Token, Tokens, Usage
from engine.store import Store
from engine.views import shared_views
from local_training.recorded import RecordedStep, recorded_steps
from tests.support.hands import call_text

pytestmark = pytest.mark.model
SKILL = "---\nname: tea\ndescription: {0}\n---\nWarm the pot first.\n"


class Recording(LlamaRuntime):
    """The real runtime, which keeps what it was asked; now and then it writes what a test wants instead of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.answered: list[Tokens] = []
        """Prompts of answers, in the order in which they were served."""
        self.loads = 0
        self.says: list[str] = []
        self._rest: Tokens = ()
        self._read: Tokens = ()
        """What whoever leaves where a call begins comes back with, to get its rest."""

    def load(self, plan: LoadPlan) -> ModelInfo:
        self.loads += 1
        return super().load(plan)

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Generator[Piece, None, None]:
        (request,) = requests
        goes_on = bool(self._rest) and request.tokens == self._read
        if request.cache_key and not goes_on:
            self.answered.append(request.tokens)
        if not request.cache_key or not (goes_on or self.says):
            yield from super().generate(requests, stop)
            return
        self._rest = self._rest if goes_on else self.encode(self.says.pop(0))
        self._read, count = request.tokens, 0
        while self._rest:
            token, *rest = self._rest
            self._rest, self._read, count = tuple(rest), (*self._read, token), count + 1
            yield Token(0, token, self.decode([token]))
        yield Finished(0, "stop", Usage(len(request.tokens), 0, count))


class Table:
    def __init__(self, runtime: Recording, store: Store, built: Built, paths: Paths) -> None:
        self.runtime, self.store, self.paths = runtime, store, paths
        self.agent = built.agent
        self.turns: list[str] = []
        self.results: list[ToolReturned] = []

    def say(self, text: str, expert: str, conversation_id: str | None = None, says: Sequence[str] = ()) -> TurnClosed:
        self.runtime.says = list(says)
        events = list(at_once(self.agent.turn(text, expert=expert, conversation_id=conversation_id)))
        self.results += [event for event in events if isinstance(event, ToolReturned)]
        closed = events[-1]
        assert isinstance(closed, TurnClosed) and closed.state == "answered", closed
        self.turns.append(closed.turn_id)
        return closed

    @property
    def harness(self) -> Harness:
        return self.agent.current_mixture().harness

    def steps(self, turn_id: str) -> tuple[RecordedStep, ...]:
        mixture = self.agent.current_mixture()
        heads = {expert: mixture.harness.reads(expert) for expert in mixture.harness.systems}
        views = shared_views(heads, mixture.answering_stacks)
        return recorded_steps(self.store, turn_id, mixture.harness, self.runtime, views)


@pytest.fixture(scope="module")
def table(starter_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    folder = tmp_path_factory.mktemp("recorded")
    paths = Paths(folder / "home")
    make_home(paths)
    table = '[offers]\nL1 = ["add_note", "search_notes", "read_skill"]\n'
    table += '[[permissions]]\ntool = "add_note"\ndecision = "allow"\n'
    (paths.home / "harness.toml").write_text(table, encoding="utf-8")
    write_skill(paths, "How tea is made.")
    profile = replace(
        load_profile(asset_path("profiles", "starter")), context_tokens=2048, max_answer_tokens=12, summary_tokens=8
    )
    runtime = Recording()
    with open_store(paths) as store, closing(HomeTools(paths, store.database)) as tools:
        try:
            plan = LoadPlan(
                str(starter_base), context_tokens=2048, pool_tokens=6144, embedder=str(embedder_file(Settings()))
            )
            memories = open_memories(store, runtime, Settings())
            built = build_agent(runtime, store, profile, plan, tools=tools, memories=memories)
            yield Table(runtime, store, built, paths)
        finally:
            runtime.close()


def write_skill(paths: Paths, description: str) -> None:
    file = paths.home / "skills" / "tea" / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SKILL.format(description), encoding="utf-8")


def test_training_reads_what_was_served_for_fifty_turns_and_an_edited_skill_needs_no_weights(table: Table) -> None:
    talked: list[str] = []
    table.say("I prefer long sums.", "L0")
    for number in range(10):
        text = f"What is {number} and {number + 3}?" if number % 2 else f"{number} 加 {number + 3} 是多少？"
        first = table.say(text, ("L0", "L1", "L2", "L3")[number % 4])
        talked.append(first.conversation_id)
        table.say("And twice that? 好吗？", "L0", first.conversation_id)
        note = call_text("add_note", title=f"Sum {number}", text="A number 数字")
        find = call_text("search_notes", words="number")
        table.say("Note it.", "L1", first.conversation_id, ("I will. " + note, find, "It is noted."))
        table.say("Which sums do I prefer? 好吗？", "L1", first.conversation_id)
        table.say("Write it as Python.", "L2", first.conversation_id)
    assert len(table.turns) == 51
    reminded = [turn_id for turn_id in table.turns if table.store.turn(turn_id).recalled]
    assert 0 < len(reminded) < len(table.turns)
    assert [result.tool for result in table.results[:2]] == ["add_note", "search_notes"]
    steps = [step for turn_id in table.turns for step in table.steps(turn_id)]
    assert [step.prompt for step in steps] == table.runtime.answered
    assert len(steps) >= 51 + 2 * 10

    version, before = table.harness.version, table.steps(table.turns[-1])
    write_skill(table.paths, "How tea is made in Kyoto.")
    changed = table.say("Hello.", "L1", talked[-1])
    assert table.harness.version != version and table.runtime.loads == 1
    (served,) = table.store.traces(changed.turn_id)
    assert served.harness_version == table.harness.version
    (step,) = table.steps(changed.turn_id)
    assert step.prompt == table.runtime.answered[-1]
    assert "in Kyoto" in table.runtime.decode(step.prompt)
    # A turn of before as it would be asked today: other texts before the same words.
    today = table.steps(table.turns[3])
    assert "in Kyoto" in table.runtime.decode(today[0].prompt)
    assert [one.completion for one in today] == [trace.completion for trace in answers(table, table.turns[3])]
    assert before[0].completion == table.steps(table.turns[50])[0].completion
    with pytest.raises(UsageProblem, match="its view is not there"):
        recorded_steps(table.store, table.turns[0], table.harness, table.runtime, {})


def test_training_reads_the_running_memory_that_was_served(table: Table) -> None:
    start, turns = len(table.runtime.answered), len(table.turns)
    first = table.say("Remember that my seat is 12F. 记住我的鞋码是42码。", "L0")
    epoch = None
    while epoch is None or epoch.reason != "folded":
        last = table.say("And what else? " * 110, "L0", first.conversation_id)
        epoch = table.store.epoch_of_turn(last.turn_id, "L0")
        assert len(table.turns) - turns < 12
    after = table.say("And now?", "L0", first.conversation_id)
    read = table.runtime.decode(table.runtime.answered[-1])
    assert "- [fact] My seat is 12F\n- [fact] 我的鞋码是42码\n" in read and "Remember that" not in read
    steps = [step for turn_id in table.turns[turns:] for step in table.steps(turn_id)]
    assert [step.prompt for step in steps] == table.runtime.answered[start:]
    # Under texts that were edited since it is today's head, with the same lines in it.
    write_skill(table.paths, "How tea is made in Uji.")
    table.say("Hello.", "L1")
    (today,) = table.steps(after.turn_id)
    assert "- [fact] My seat is 12F\n" in table.runtime.decode(today.prompt)


def answers(table: Table, turn_id: str) -> list[object]:
    return [trace for trace in table.store.traces(turn_id) if trace.kind == "answer"]
