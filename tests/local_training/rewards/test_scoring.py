"""What an outcome scores under all rewards of a task."""

import math
from typing import ClassVar

import pytest

from local_training.rewards import RewardProblem, score_outcome, scoring
from local_training.rewards.values import Judgement, Outcome
from local_training.tasks import RewardSpec
from tests.local_training.rewards.judging import outcome, task

RIGHT = RewardSpec("exact", {"expected": "Paris"}, 3.0)
SHORT = RewardSpec("length", {"most": 4}, 1.0)


def test_the_score_is_the_weighted_mean_and_keeps_its_parts():
    score = score_outcome(outcome("Paris", tokens=9), task(RIGHT, SHORT))
    assert (score.value, score.low, score.high) == (0.75, 0.0, 1.0)
    assert [(result.name, result.value) for result in score.results] == [("exact", 1.0), ("length", 0.0)]


def test_form_does_not_make_an_answer_right_or_wrong():
    assert score_outcome(outcome("Paris", tokens=9), task(RIGHT, SHORT)).is_correct
    assert not score_outcome(outcome("Rome", tokens=2), task(RIGHT, SHORT)).is_correct


def test_where_only_form_is_asked_for_form_is_what_is_right():
    assert score_outcome(outcome("Rome", tokens=2), task(SHORT)).is_correct
    assert not score_outcome(outcome("Rome", tokens=9), task(SHORT)).is_correct


def test_equal_outcomes_score_equally():
    assert score_outcome(outcome("Paris"), task(RIGHT, SHORT)) == score_outcome(outcome("Paris"), task(RIGHT, SHORT))


class Broken:
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = True

    def __init__(self, value: float) -> None:
        self._value = value

    def judge(self, outcome: Outcome) -> Judgement:
        return Judgement(self._value, "broken")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.0001, -0.0001])
def test_a_value_that_cannot_be_is_an_error_that_names_task_and_reward(monkeypatch, value):
    monkeypatch.setattr(scoring, "REWARDS", {**scoring.REWARDS, "broken": lambda parameters: Broken(value)})
    with pytest.raises(RewardProblem, match="Task `t-1`: reward `broken` gave"):
        score_outcome(outcome("x"), task(RIGHT, RewardSpec("broken", {})))
