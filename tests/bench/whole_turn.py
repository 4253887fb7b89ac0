"""What a user waits for when the conversation goes to another expert: a turn through the whole agent, summary included.

Two experts answer in turn in one long conversation, so that every turn comes back to a view, first has the other
expert sum up its own answer, and then reads that and the new message. Compares nothing.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from app.wiring import build_agent
from engine.agent import Agent
from engine.assets import asset_path
from engine.events import Reading, RouteChosen, TextDelta, TurnClosed
from engine.routing.profile import load_profile
from engine.runtime.child import ChildRuntime
from engine.runtime.protocol import LoadPlan, Sampling
from engine.store import Store
from tests.bench.report import progress

_ADAPTER_FILES = ("chat", "agent", "coding", "surface")
_EXPERTS = ("L1", "L2")
_ANSWER_TOKENS = 96
"""More than a summary and a half, so that the answer is not its own summary."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One turn that went to the other expert. Milliseconds from the user's message."""

    summary_ms: float
    """Of them, for the other expert's summary."""
    first_text_ms: float
    total_ms: float
    prompt_tokens: int
    reused_tokens: int
    summary_tokens: int
    answer_tokens: int


def measure(
    plan: LoadPlan, adapters: Sequence[Path], folder: Path, *, long_text: str, repeats: int
) -> tuple[Switch, ...]:
    """`long_text` is the first message; both experts have read it before the first switch that counts."""
    with _agent(plan, adapters, folder) as agent:
        conversation_id = _say(agent, long_text, _EXPERTS[0], None)[0]
        _say(agent, "And what would you do?", _EXPERTS[1], conversation_id)
        switches = []
        for repeat in range(repeats):
            message = f"Please say more about point {repeat + 1}."
            switches.append(_say(agent, message, _EXPERTS[repeat % 2], conversation_id)[1])
            progress(f"  switch {repeat + 1} of {repeats}: {switches[-1].first_text_ms:.0f} ms")
    return tuple(switches)


@contextmanager
def _agent(plan: LoadPlan, adapters: Sequence[Path], folder: Path) -> Iterator[Agent]:
    """The starter's profile with other adapters, greedy, over an engine child."""
    shutil.copytree(asset_path("profiles", "starter"), folder / "profile")
    (folder / "profile" / "adapters").mkdir(exist_ok=True)
    for name, adapter in zip(_ADAPTER_FILES, adapters, strict=True):
        shutil.copy(adapter, folder / "profile" / "adapters" / f"starter-{name}.gguf")
    profile = replace(
        load_profile(folder / "profile"),
        sampling=Sampling(),
        context_tokens=plan.context_tokens,
        max_answer_tokens=_ANSWER_TOKENS,
    )
    runtime = ChildRuntime()
    try:
        with Store.open(folder / "store.db") as store:
            yield build_agent(runtime, store, profile, plan).agent
    finally:
        runtime.close()


def _say(agent: Agent, text: str, expert: str, conversation_id: str | None) -> tuple[str, Switch]:
    """(conversation, the turn's timing)."""
    started = time.perf_counter()
    routed = summed_up = first_text = started
    for event in agent.turn(text, expert=expert, conversation_id=conversation_id):
        now = time.perf_counter()
        match event:
            case RouteChosen():
                routed = summed_up = now
            case Reading(phase="answer") if summed_up == routed:
                summed_up = now
            case TextDelta() if first_text == started:
                first_text = now
            case TurnClosed() as closed:
                pass
    return closed.conversation_id, Switch(
        summary_ms=1000 * (summed_up - routed),
        first_text_ms=1000 * (first_text - started),
        total_ms=1000 * (time.perf_counter() - started),
        prompt_tokens=closed.usage.prompt_tokens,
        reused_tokens=closed.usage.reused_tokens,
        summary_tokens=closed.usage_other.completion_tokens,
        answer_tokens=closed.usage.completion_tokens,
    )
