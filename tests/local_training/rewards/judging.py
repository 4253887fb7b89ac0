"""Judge one text by one reward in a line, for the tests of rewards."""

from typing import Any

from engine.harness.tool_calls import ToolCall
from engine.runtime.protocol import FinishReason
from local_training.rewards import Outcome, RewardResult, score_outcome
from local_training.tasks import RewardSpec, Task, TaskMessage


def outcome(
    text: str, *, tokens: int = 5, finish: FinishReason = "eos", calls: tuple[ToolCall, ...] | None = None
) -> Outcome:
    return Outcome(text, tuple(range(tokens)), finish, calls)


def task(*rewards: RewardSpec) -> Task:
    return Task("t-1", (TaskMessage("user", "?"),), "L0", rewards)


def judge(reward: str, said: str | Outcome, **parameters: Any) -> RewardResult:
    """What `reward` with these parameters says of a text or an outcome."""
    whole = outcome(said) if isinstance(said, str) else said
    (result,) = score_outcome(whole, task(RewardSpec(reward, parameters))).results
    return result
