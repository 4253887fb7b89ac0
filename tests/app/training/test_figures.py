"""Figures in words, and how long a run will take."""

import pytest

from app.training.figures import change_line, evaluation_line, seconds_left, step_figures, step_line
from local_training.runs.metrics import EvaluationMetrics, StepMetrics
from tests.app.training.scripted_trainer import evaluation, step


def test_a_step_shows_every_figure_a_run_with_rollouts_has():
    assert step_line(step(3), 20, "en") == (
        "step 3/20: reward 0.250 · accuracy 50.0 % · length 120 tokens · KL on target 0.2500 · KL off target 0.0125 · "
        "mismatch 0.0075 · sampling 1,500 tok/s · training 4,000 tok/s · idle 8.0 %"
    )


def test_a_step_shows_the_same_figures_in_chinese():
    assert step_figures(step(3), "zh") == (
        "奖励 0.250 · 正确率 50.0 % · 长度 120 词元 · 目标 KL 0.2500 · 非目标 KL 0.0125 · 偏差 0.0075 · "
        "采样 1,500 词元/秒 · 训练 4,000 词元/秒 · 空闲 8.0 %"
    )


def test_a_kind_without_rollouts_shows_its_loss_and_leaves_out_what_it_does_not_have():
    sft = StepMetrics(step=1, seconds=2.0, loss=1.5, grad_norm=1.0, rate=1e-4, trained_tokens=100, train_seconds=2.0)
    assert step_figures(sft, "en") == "loss 1.500 · training 50 tok/s"


def test_an_evaluation_of_examples_shows_its_loss():
    assert (
        evaluation_line(EvaluationMetrics(4, 1.0, 32, loss=0.75), "en")
        == "held-out after step 4 (items: 32): loss 0.750"
    )


def test_the_change_is_from_the_first_evaluation_to_the_last():
    assert change_line([evaluation(0), evaluation(2), evaluation(5)], "en") == (
        "Held-out, before → after (items: 200): accuracy 40.0 % → 45.0 % · length 150 → 145 tokens"
    )


@pytest.mark.parametrize("evaluations", [[], [evaluation(0)]], ids=["none", "one"])
def test_there_is_no_change_without_two_evaluations(evaluations: list[EvaluationMetrics]):
    assert change_line(evaluations, "en") == ""


def test_the_time_left_follows_the_median_of_the_recent_steps_less_what_is_over_of_this_one():
    assert seconds_left([10.0, 12.0, 500.0], 4, 5.0) == 43.0
    assert seconds_left([1000.0, *[2.0] * 20], 3, 0.0) == 6.0


def test_the_time_left_is_unknown_before_the_first_step_and_never_below_nothing():
    assert seconds_left([], 4, 5.0) is None
    assert seconds_left([1.0], 1, 60.0) == 0.0
