"""kill -9 of the engine child at random moments under a running conversation: no turn fails and none is lost."""

import os
import random
import signal
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.events import TurnClosed
from engine.runtime.child import ChildRuntime
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import ScoreRequest
from engine.values import Trace
from tests.engine.test_real_conversation import ROUNDING_NATS, Table, seated
from tests.support.adapters import write_random_adapter
from tests.support.completing import complete, loaded

pytestmark = pytest.mark.model

SCRIPT: tuple[tuple[str, str | None], ...] = (
    ("Hello! Who are you?", None),
    ("Write a function that adds two numbers.", "L2"),
    ("And one that multiplies them, please.", None),
    ("What is the capital of France?", "L0"),
    ("再用中文说一遍。", "L0"),
    ("Draw me a button that says so.", "L3"),
    ("Look up the weather there.", "L1"),
    ("Thank you. Anything to add?", None),
)
ANSWER_TOKENS = 16
KILLS_PER_TURN = 2
"""A call gives up when it loses its third child."""
STOP_EVERY = 5
LONGEST_PAUSE_S = 1.2


@dataclass
class Killer:
    """Kills the child at random moments of running turns, from a thread of its own."""

    runtime: ChildRuntime
    kills: int
    source: random.Random
    done: int = 0
    left_in_turn: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while self.done < self.kills and not self.over.wait(self.source.uniform(0.0, LONGEST_PAUSE_S)):
            process_id = self.runtime.process_id
            if self.left_in_turn > 0 and process_id is not None:
                self.left_in_turn -= 1
                self.done += 1
                os.kill(process_id, signal.SIGKILL)
        self.over.set()


def talk(table: Table, killer: Killer) -> list[TurnClosed]:
    """The script again and again, each time as a new conversation, until all kills are done; some turns are stopped."""
    ends: list[TurnClosed] = []
    while not killer.over.is_set():
        conversation_id: str | None = None
        for text, expert in SCRIPT:
            killer.left_in_turn = KILLS_PER_TURN
            stop = threading.Event()
            if len(ends) % STOP_EVERY == STOP_EVERY - 1:
                threading.Timer(killer.source.uniform(0.0, 1.0), stop.set).start()
            events = list(table.agent.turn(text, conversation_id=conversation_id, expert=expert, stop=stop))
            killer.left_in_turn = 0
            closed = events[-1]
            assert isinstance(closed, TurnClosed)
            assert [event.number for event in events] == list(range(len(events)))
            ends.append(closed)
            conversation_id = closed.conversation_id
            if len(ends) % 3 == 0:
                table.agent.idle(conversation_id)
    return ends


def is_what_an_undisturbed_engine_says(control: LlamaRuntime, trace: Trace) -> bool:
    """Whether the tokens are the same. Where they are not, both must have been about as likely: rounding.

    A resumed answer reads back what the first child wrote, by other kernels; so the control is asked both after tokens
    it wrote itself and after the same tokens read anew.
    """
    control.drop("")
    expected = complete(
        control, trace.prompt, trace.adapters, max_tokens=len(trace.completion), cache_key="written"
    ).tokens
    if expected == trace.completion:
        return True
    common = next(n for n, (a, b) in enumerate(zip(expected, trace.completion, strict=False)) if a != b)
    choices = (expected[common : common + 1], trace.completion[common : common + 1])
    question = ScoreRequest((*trace.prompt, *expected[:common]), choices, trace.adapters, cache_key="written")
    gaps = []
    for _ in ("written", "read anew"):
        best, chosen = control.score(question).totals()
        gaps.append(best - chosen)
        control.drop("")
    assert min(gaps) < ROUNDING_NATS
    return False


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [8, pytest.param(50, marks=pytest.mark.slow)])
def test_every_turn_ends_well_however_often_the_child_is_killed(
    kills: int,
    starter_base: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runtime = ChildRuntime()
    # As strong as trained ones; under much stronger ones rounding alone decides what the starter says.
    adapters = tuple(
        write_random_adapter(starter_base, tmp_path / f"{seed}.gguf", seed=seed, strength=0.05) for seed in range(4)
    )
    with seated(starter_base, adapters, tmp_path, context_tokens=2048, answer=ANSWER_TOKENS, runtime=runtime) as table:
        killer = Killer(runtime, kills, random.Random(kills))
        try:
            ends = talk(table, killer)
        finally:
            killer.over.set()

        states = Counter(end.state for end in ends)
        assert set(states) <= {"answered", "stopped"}, [(end.problem, end.hint) for end in ends if end.problem]
        assert states["answered"] > states["stopped"]
        assert killer.done == kills
        for end in ends:
            stored = table.store.turn(end.turn_id)
            assert (stored.state, stored.answer_text) == (end.state, end.text)
        stored_turns = [
            turn.turn_id
            for conversation in table.store.conversations()
            for turn in table.store.path(conversation.leaf_turn_id or "")
        ]
        assert sorted(stored_turns) == sorted(end.turn_id for end in ends)
        assert table.store.integrity() == "ok"
        answers = [
            trace
            for end in ends
            if end.state == "answered"
            for trace in table.store.traces(end.turn_id)
            if trace.kind == "answer"
        ]
    with loaded(starter_base) as control:
        same = sum(is_what_an_undisturbed_engine_says(control, trace) for trace in answers)
    assert len(answers) == states["answered"]
    assert same >= len(answers) / 2
    with capsys.disabled():
        print(
            f"\n{killer.done} kills under {len(ends)} turns: {dict(states)}, none failed or lost; "
            f"{same} of {len(answers)} answers token for token those of an undisturbed engine, the rest within rounding"
        )
