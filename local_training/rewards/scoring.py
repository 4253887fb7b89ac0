"""Which rewards there are, and what an outcome scores under all of a task's.

The score is the weighted mean, so that it stays within the ranges of its parts. Pure but for what `program` runs.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from local_training.rewards.answers import Exact, Numeric, SetMatch
from local_training.rewards.form import Format, Language, LengthBand
from local_training.rewards.parameters import Parameters
from local_training.rewards.program import ProgramTest
from local_training.rewards.structure import JsonSchema, ValidToolCall
from local_training.rewards.values import Judgement, Outcome, Reward, RewardProblem, RewardResult
from local_training.tasks import RewardSpec, Task

REWARDS: Final[Mapping[str, Callable[[Parameters], Reward]]] = {
    "exact": Exact.read,
    "numeric": Numeric.read,
    "set": SetMatch.read,
    "json_schema": JsonSchema.read,
    "tool_call": ValidToolCall.read,
    "program": ProgramTest.read,
    "language": Language.read,
    "length": LengthBand.read,
    "format": Format.read,
}
"""By the name that tasks use."""


@dataclass(frozen=True, slots=True)
class Score:
    """`results` in the order of the task's rewards; `value` is their weighted mean, between `low` and `high`."""

    value: float
    low: float
    high: float
    results: tuple[RewardResult, ...]
    is_correct: bool
    """Every reward that decides is at its top; where none decides, every one is."""


def build_reward(spec: RewardSpec) -> Reward:
    """Raises: RewardProblem when there is no such reward, or its parameters are wrong."""
    if spec.name not in REWARDS:
        raise RewardProblem(f"there is no reward `{spec.name:.40}`", f"There are {', '.join(REWARDS)}.")
    parameters = Parameters(spec.name, spec.parameters)
    reward = REWARDS[spec.name](parameters)
    parameters.finish()
    return reward


def score_outcome(outcome: Outcome, task: Task, *, may_be_unconfined: bool = False) -> Score:
    """What `outcome` is worth as an answer to `task`.

    `may_be_unconfined` lets program tests run where there is no sandbox; only the user may say so.

    Raises: RewardProblem when a reward gives a value it cannot give, RuntimeFailed when a program cannot be run.
    """
    rewards = [build_reward(spec) for spec in task.rewards]
    results: list[RewardResult] = []
    for spec, reward in zip(task.rewards, rewards, strict=True):
        if isinstance(reward, ProgramTest):
            reward = replace(reward, may_be_unconfined=may_be_unconfined)
        results.append(checked(task.task_id, spec.name, reward, reward.judge(outcome)))
    weights = [spec.weight for spec in task.rewards]
    deciding = [result for result, reward in zip(results, rewards, strict=True) if reward.decides] or results
    return Score(
        _mean([result.value for result in results], weights),
        _mean([result.low for result in results], weights),
        _mean([result.high for result in results], weights),
        tuple(results),
        all(result.value == result.high for result in deciding),
    )


def checked(task_id: str, name: str, reward: Reward, judgement: Judgement) -> RewardResult:
    """The judgement as a result.

    Raises: RewardProblem when its value is no number or outside the reward's range.
    """
    value = judgement.value
    if not (math.isfinite(value) and reward.low <= value <= reward.high):
        raise RewardProblem(
            f"Task `{task_id}`: reward `{name}` gave {value}, outside of {reward.low:g} to {reward.high:g}.",
            "This is a fault of the reward; leave the task out until it is mended.",
        )
    return RewardResult(name, value, reward.low, reward.high, judgement.reason)


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = math.fsum(weights)
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / total
