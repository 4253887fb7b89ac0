"""The groups of one step of rl or rft: tasks drawn, answered by the policy, judged, and those kept that can teach.

Knows no loss and no torch.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.runtime.protocol import Tokens
from local_training.losses.overlong import overlong_penalty
from local_training.losses.resampling import is_informative, plan_resampling
from local_training.rewards import Balance, balanced, score_outcome
from local_training.rollouts import Rollout, RolloutGroup, RolloutSettings, TaskPrompt
from local_training.runs.inputs import Inputs
from local_training.runs.order import take
from local_training.runs.recipe import Recipe
from local_training.runs.sampler import Sampler
from local_training.tasks import Task


@dataclass(frozen=True, slots=True)
class JudgedRollout:
    rollout: Rollout
    value: float
    """What the task's rewards gave, before any length penalty."""
    reward: float
    """What is learned from."""
    is_correct: bool


@dataclass(frozen=True, slots=True)
class JudgedGroup:
    task_id: str
    prompt: Tokens
    rollouts: tuple[JudgedRollout, ...]

    @property
    def rewards(self) -> tuple[float, ...]:
        return tuple(one.reward for one in self.rollouts)


@dataclass(frozen=True, slots=True)
class Drawn:
    kept: tuple[JudgedGroup, ...]
    """Groups whose rewards differ."""
    all_groups: tuple[JudgedGroup, ...]
    taken: int
    """Places of the order that are used up."""


Report = Callable[[int, int], None]
"""Told how many groups are done, and of how many."""


def draw_groups(
    inputs: Inputs, sampler: Sampler, recipe: Recipe, *, step: int, start: int, report: Report = lambda _, __: None
) -> Drawn:
    """Draw tasks from place `start` of the run's order on, until enough groups teach or the waves are used up.

    Raises: Interrupted, RewardProblem, RuntimeFailed, UsageProblem.
    """
    tasks = inputs.tasks.training
    wanted = min(recipe.batch.prompts, len(tasks))
    settings = RolloutSettings(
        recipe.rollouts.branches, recipe.rollouts.max_tokens, recipe.rollouts.temperature, recipe.rollouts.together
    )
    groups: dict[str, JudgedGroup] = {}
    place, draw, waves = start, wanted, 0
    while draw:
        # One step never asks a task twice: its branches would be the same ones.
        wave = {task.task_id: task for task in take(tasks, place, draw, recipe.seed) if task.task_id not in groups}
        place += draw
        goal = len(groups) + len(wave)
        prompts = [TaskPrompt(name, inputs.prompts[name], sampler.adapters) for name in wave]
        for group in sampler.roll_out(prompts, settings, seed=recipe.seed, step=step):
            groups[group.task_id] = judge(wave[group.task_id], group, recipe, step)
            report(len(groups), goal)
        waves += 1
        rewards = [group.rewards for group in groups.values()]
        draw = plan_resampling(rewards, wanted, waves, recipe.rollouts.waves).draw if len(groups) < len(tasks) else 0
    kept = [group for group in groups.values() if is_informative(group.rewards)][:wanted]
    return Drawn(tuple(kept), tuple(groups.values()), place - start)


def judge(task: Task, group: RolloutGroup, recipe: Recipe, step: int) -> JudgedGroup:
    """Rewards of one group, after overlong shaping, length penalty and, for the control, shuffling.

    Raises: RewardProblem, RuntimeFailed when a program cannot be run.
    """
    table, limit = recipe.reward, recipe.rollouts.max_tokens
    scores = [score_outcome(rollout.outcome(), task) for rollout in group.rollouts]
    lengths = [len(rollout.segment.completion) for rollout in group.rollouts]
    is_right = [score.is_correct for score in scores]
    balance = Balance(table.length_strength, table.longest_tokens or limit)
    rewards = list(balanced([score.value for score in scores], is_right, lengths, balance))
    if table.overlong_tokens:
        rewards = [
            reward + overlong_penalty(length, limit, table.overlong_tokens)
            for reward, length in zip(rewards, lengths, strict=True)
        ]
    if table.shuffled:
        random.Random(f"{recipe.seed} {step} {task.task_id}").shuffle(rewards)
    rows = zip(group.rollouts, scores, rewards, strict=True)
    judged = [JudgedRollout(rollout, score.value, reward, score.is_correct) for rollout, score, reward in rows]
    if table.unfinished == "mask":
        judged = [one for one in judged if one.rollout.finish == "eos"]
    return JudgedGroup(task.task_id, group.rollouts[0].segment.prompt, tuple(judged))


def judged_rollouts(groups: Sequence[JudgedGroup]) -> tuple[JudgedRollout, ...]:
    return tuple(one for group in groups for one in group.rollouts)
