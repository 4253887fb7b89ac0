"""The groups of one step of rl or rft: tasks drawn, answered by the policy, judged, and those kept that can teach.

Knows no loss and no torch.
"""

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from engine.runtime.protocol import Tokens
from local_training.losses.overlong import overlong_penalty
from local_training.losses.resampling import is_informative, plan_resampling
from local_training.losses.selection import rewarded
from local_training.rewards import Balance, balanced, score_outcome
from local_training.rollouts import Rollout, RolloutGroup, RolloutSettings
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
    """Those to learn from."""
    left_out: tuple[JudgedRollout, ...] = ()
    """Those that were cut off, where the recipe says that they teach nothing."""

    @property
    def rewards(self) -> tuple[float, ...]:
        return tuple(one.reward for one in self.rollouts)


@dataclass(frozen=True, slots=True)
class Drawn:
    kept: tuple[JudgedGroup, ...]
    """Groups that teach something."""
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
        wave, places = _wave(tasks, place, draw, recipe.seed, groups)
        place += places
        goal = len(groups) + len(wave)
        prompts = [inputs.prompt(name, sampler.adapters) for name in wave]
        for group in sampler.roll_out(prompts, settings, seed=recipe.seed, step=step):
            groups[group.task_id] = judge(wave[group.task_id], group, recipe, step)
            report(len(groups), goal)
        waves += 1
        rewards = [group.rewards for group in groups.values()]
        plan = plan_resampling(rewards, wanted, waves, recipe.rollouts.waves, partial(teaches, recipe=recipe))
        draw = plan.draw if len(groups) < len(tasks) else 0
    kept = [group for group in groups.values() if teaches(group.rewards, recipe)][:wanted]
    return Drawn(tuple(kept), tuple(groups.values()), place - start)


def teaches(rewards: Sequence[float], recipe: Recipe) -> bool:
    """Whether a group is of use: in rl its rewards differ, in rft one of its answers is good enough to be imitated."""
    return bool(rewarded(rewards, recipe.loss.at_least)) if recipe.kind == "rft" else is_informative(rewards)


def _wave(
    tasks: Sequence[Task], start: int, count: int, seed: int, asked: Collection[str]
) -> tuple[dict[str, Task], int]:
    """`count` tasks from place `start` on, or all that are left, by their ids, and how many places they take.

    One step never asks a task twice: its branches would be the same ones.
    """
    wave: dict[str, Task] = {}
    place = start
    while len(wave) < min(count, len(tasks) - len(asked)):
        (task,) = take(tasks, place, 1, seed)
        place += 1
        if task.task_id not in asked:
            wave[task.task_id] = task
    return wave, place - start


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
    is_masked = [table.unfinished == "mask" and one.rollout.finish == "length" for one in judged]
    return JudgedGroup(
        task.task_id,
        group.rollouts[0].segment.prompt,
        tuple(one for one, masked in zip(judged, is_masked, strict=True) if not masked),
        tuple(one for one, masked in zip(judged, is_masked, strict=True) if masked),
    )


def judged_rollouts(groups: Sequence[JudgedGroup]) -> tuple[JudgedRollout, ...]:
    """All that were drawn, those that are left out too."""
    return tuple(one for group in groups for one in (*group.rollouts, *group.left_out))
