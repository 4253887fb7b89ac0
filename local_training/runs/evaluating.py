"""Held-out items, answered greedily by the engine, or scored by the trainer where answers are given."""

import math
from collections.abc import Callable, Sequence

from local_training.rewards import score_outcome
from local_training.rollouts import RolloutSettings
from local_training.runs.evaluations import EvaluatedItem
from local_training.runs.example_learner import ExampleLearner
from local_training.runs.inputs import Inputs, TokenExample
from local_training.runs.learning import Tell
from local_training.runs.metrics import EvaluationMetrics
from local_training.runs.recipe import Recipe
from local_training.runs.sampler import Sampler


def evaluate_tasks(inputs: Inputs, sampler: Sampler, recipe: Recipe, tell: Tell) -> tuple[EvaluatedItem, ...]:
    """One greedy answer to every held-out task, from what the sampler was handed last, in the order of the tasks.

    Raises: Interrupted, RewardProblem, RuntimeFailed.
    """
    tasks = {task.task_id: task for task in inputs.tasks.held_out}
    prompts = [inputs.prompt(name, sampler.adapters) for name in tasks]
    settings = RolloutSettings(1, recipe.evaluation.max_tokens, 0.0, recipe.rollouts.together)
    found: dict[str, EvaluatedItem] = {}
    for group in sampler.roll_out(prompts, settings, seed=recipe.seed, step=0):
        (rollout,) = group.rollouts
        judged = score_outcome(rollout.outcome(), tasks[group.task_id])
        found[group.task_id] = EvaluatedItem(
            group.task_id,
            rollout.text,
            len(rollout.segment.completion),
            "length" if rollout.finish == "length" else "eos",
            judged.value,
            judged.is_correct,
        )
        tell("evaluating", len(found), len(tasks))
    return tuple(found[name] for name in tasks)


def evaluate_examples(
    examples: Sequence[TokenExample], learner: ExampleLearner, check: Callable[[], None], tell: Tell
) -> tuple[EvaluatedItem, ...]:
    """The loss of every held-out example. Raises: Interrupted, RuntimeFailed."""
    found: list[EvaluatedItem] = []
    for example in examples:
        check()
        judged = learner.judge(example)
        found.append(EvaluatedItem(example.example_id, loss=judged.loss, correct=judged.is_right))
        tell("evaluating", len(found), len(examples))
    return tuple(found)


def summary(step: int, seconds: float, items: Sequence[EvaluatedItem]) -> EvaluationMetrics:
    """What the items come to; means over those that have the value."""
    return EvaluationMetrics(
        step,
        seconds,
        len(items),
        accuracy=_mean([float(item.correct) for item in items if item.correct is not None]),
        reward=_mean([item.reward for item in items if item.reward is not None]),
        length_tokens=_mean([float(item.tokens) for item in items if item.tokens is not None]),
        unfinished_share=_mean([float(item.finish == "length") for item in items if item.finish is not None]),
        loss=_mean([item.loss for item in items if item.loss is not None]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
