"""The figures of a run in words: steps, evaluations, what changed, how long it will take. Pure; prints nothing.

KL and mismatch are nats a token, as the metrics have them.
"""

import statistics
from collections.abc import Callable, Sequence
from typing import Final

from local_training.runs.metrics import EvaluationMetrics, StepMetrics
from ui.strings import say

_RECENT_STEPS: Final = 20
"""Steps whose times foretell the next ones."""


def seconds_left(step_seconds: Sequence[float], steps_left: int, current_seconds: float) -> float | None:
    """From the median of the recent steps; `current_seconds` of the one under way are over. None before the first."""
    if not step_seconds:
        return None
    return max(0.0, statistics.median(step_seconds[-_RECENT_STEPS:]) * steps_left - current_seconds)


def step_figures(step: StepMetrics, language: str) -> str:
    """Those that this kind of run has, with a dot between them."""
    found = [
        ("reward", _number(step.reward, _plain)),
        ("accuracy", _number(step.accuracy, _percent)),
        ("length", _number(step.length_tokens, _whole)),
        ("loss", _plain(step.loss) if step.reward is None else ""),
        ("kl_target", _number(step.kl_target_nats, _small)),
        ("kl_general", _number(step.kl_general_nats, _small)),
        ("mismatch", _number(step.mismatch_nats, _small)),
        ("sampling", _speed(step.rollout_tokens, step.rollout_seconds)),
        ("training", _speed(step.trained_tokens, step.train_seconds)),
        ("idle", _number(step.idle_share, _percent)),
    ]
    return " · ".join(say(f"train.figure.{name}", language, value=value) for name, value in found if value)


def step_line(step: StepMetrics, steps: int, language: str) -> str:
    """`steps` of 0 is unknown."""
    place = f"{step.step}/{steps}" if steps else f"{step.step}"
    return say("train.step", language, place=place, figures=step_figures(step, language))


def evaluation_line(evaluation: EvaluationMetrics, language: str) -> str:
    found = [
        ("accuracy", _number(evaluation.accuracy, _percent)),
        ("reward", _number(evaluation.reward, _plain)),
        ("length", _number(evaluation.length_tokens, _whole)),
        ("loss", _number(evaluation.loss, _plain)),
    ]
    figures = " · ".join(say(f"train.figure.{name}", language, value=value) for name, value in found if value)
    return say("train.evaluation", language, step=evaluation.step, items=evaluation.items, figures=figures)


def change_line(evaluations: Sequence[EvaluationMetrics], language: str) -> str:
    """Held-out before and after; empty where there are not two evaluations to compare."""
    if len(evaluations) < 2:
        return ""
    before, after = evaluations[0], evaluations[-1]
    found = [
        ("accuracy", _change(before.accuracy, after.accuracy, _percent)),
        ("length", _change(before.length_tokens, after.length_tokens, _whole)),
        ("loss", _change(before.loss, after.loss, _plain)),
    ]
    figures = " · ".join(say(f"train.figure.{name}", language, value=value) for name, value in found if value)
    return say("train.change", language, items=after.items, figures=figures) if figures else ""


def accuracy_text(accuracy: float | None) -> str:
    return _number(accuracy, _percent) or "-"


def length_text(length_tokens: float | None) -> str:
    return _number(length_tokens, _whole) or "-"


def _number(value: float | None, form: Callable[[float], str]) -> str:
    return "" if value is None else form(value)


def _change(before: float | None, after: float | None, form: Callable[[float], str]) -> str:
    return "" if before is None or after is None else f"{form(before)} → {form(after)}"


def _speed(tokens: int, seconds: float) -> str:
    return _whole(tokens / seconds) if tokens and seconds > 0 else ""


def _plain(value: float) -> str:
    return f"{value:.3f}"


def _small(value: float) -> str:
    return f"{value:.4f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{value * 100:.1f} %"
