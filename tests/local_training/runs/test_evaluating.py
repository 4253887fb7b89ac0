"""Held-out items: one greedy answer to every task, or the loss of every example, and what they come to."""

import pytest

from engine.runtime.protocol import AdapterRef
from local_training.runs.evaluations import EvaluatedItem
from local_training.runs.metrics import EvaluationMetrics
from local_training.runs.signals import Interrupted
from tests.local_training.runs.sampling import LOUD, RIGHT, Said, ScriptedSampler, inputs_of, recipe_of, task_of
from tests.support import requirements

requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.runs.evaluating import evaluate_examples, evaluate_tasks, summary  # noqa: E402
from local_training.runs.example_learner import Judged  # noqa: E402
from local_training.runs.inputs import TokenExample  # noqa: E402

RECIPE = recipe_of("rl", seed=4, evaluation={"max_tokens": 5}, rollouts={"together": 3})
HELD_OUT = tuple(task_of(f"h-{n}", RIGHT, LOUD) for n in range(4))
ADAPTED = (AdapterRef("000003.gguf", "content of step 3"),)
ANSWERS = {
    "h-0": Said("yes!", (1, 2, 3)),
    "h-1": Said("不 no", (1,)),
    "h-2": Said("yes", (1, 2, 3, 4, 5), "length"),
    "h-3": Said("no!", (9, 8)),
}


class Backwards(ScriptedSampler):
    """Has the groups done in another order than they were asked in."""

    def roll_out(self, prompts, settings, *, seed, step):
        yield from reversed(list(super().roll_out(prompts, settings, seed=seed, step=step)))


def evaluated(tell=lambda *_: None):
    sampler = Backwards(lambda name, _: ANSWERS[name], adapters=ADAPTED)
    return evaluate_tasks(inputs_of((task_of("t-0"),), HELD_OUT), sampler, RECIPE, tell), sampler


def test_every_held_out_task_gets_one_answer_in_the_order_of_the_tasks():
    items, sampler = evaluated()
    assert items == (
        EvaluatedItem("h-0", "yes!", 3, "eos", 1.0, True),
        EvaluatedItem("h-1", "不 no", 1, "eos", 0.0, False),
        EvaluatedItem("h-2", "yes", 5, "length", 0.5, True),
        EvaluatedItem("h-3", "no!", 2, "eos", 0.5, False),
    )
    assert sampler.asked == [["h-0", "h-1", "h-2", "h-3"]]


def test_answers_are_greedy_and_by_what_was_handed_over_last():
    _, sampler = evaluated()
    ((prompts, settings, seed, _),) = sampler.calls
    assert (settings.branches, settings.temperature, settings.max_tokens, settings.together) == (1, 0.0, 5, 3)
    assert {prompt.adapters for prompt in prompts} == {ADAPTED}
    assert seed == 4


def test_progress_is_told_answer_by_answer():
    told: list[tuple[object, ...]] = []
    evaluated(lambda *progress: told.append(progress))
    assert told == [("evaluating", done, 4) for done in (1, 2, 3, 4)]


class Learner:
    """Judges examples by their ids."""

    def judge(self, example: TokenExample) -> Judged:
        number = int(example.example_id)
        return Judged(number / 2, None if number == 0 else number == 1)


EXAMPLES = [TokenExample(str(number), (1,), (2,), (), True) for number in range(3)]


def test_every_example_gets_its_loss_and_its_side():
    told: list[tuple[object, ...]] = []
    items = evaluate_examples(EXAMPLES, Learner(), lambda: None, lambda *progress: told.append(progress))
    assert items == (
        EvaluatedItem("0", loss=0.0),
        EvaluatedItem("1", loss=0.5, correct=True),
        EvaluatedItem("2", loss=1.0, correct=False),
    )
    assert told == [("evaluating", done, 3) for done in (1, 2, 3)]


def test_an_evaluation_can_be_left_between_two_examples():
    judged: list[str] = []

    class Counting(Learner):
        def judge(self, example: TokenExample) -> Judged:
            judged.append(example.example_id)
            return super().judge(example)

    def check() -> None:
        if len(judged) == 2:
            raise Interrupted("Enough.")

    with pytest.raises(Interrupted):
        evaluate_examples(EXAMPLES, Counting(), check, lambda *_: None)
    assert judged == ["0", "1"]


def test_the_summary_of_tasks_is_means_over_all_of_them():
    items, _ = evaluated()
    assert summary(7, 2.5, items) == EvaluationMetrics(
        7, 2.5, 4, accuracy=0.5, reward=0.5, length_tokens=2.75, unfinished_share=0.25, loss=None
    )


def test_the_summary_of_examples_has_what_they_have():
    items = [EvaluatedItem("0", loss=1.0), EvaluatedItem("1", loss=2.0)]
    assert summary(0, 1.0, items) == EvaluationMetrics(0, 1.0, 2, loss=1.5)
    sides = [EvaluatedItem("0", loss=1.0, correct=True), EvaluatedItem("1", loss=2.0, correct=False)]
    assert summary(0, 1.0, sides) == EvaluationMetrics(0, 1.0, 2, accuracy=0.5, loss=1.5)


def test_of_nothing_there_is_no_mean():
    assert summary(0, 1.0, ()) == EvaluationMetrics(0, 1.0, 0)
