"""Which charts a run's report has, made from its metrics. A chart without a value is left out. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from local_training.runs.charts import Mark, Series, line_chart
from local_training.runs.comparison import rate
from local_training.runs.metrics import EvaluationMetrics, History, StepMetrics
from local_training.runs.recipe import Recipe
from local_training.runs.report_texts import Language, say

_WIDTH: Final = 400
_HEIGHT: Final = 250
_GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class ChartSection:
    title: str
    charts: tuple[str, ...]
    """SVG elements."""


def chart_sections(recipe: Recipe, history: History, language: Language) -> tuple[ChartSection, ...]:
    """Sections that have at least one chart, in the order in which they are read."""
    pen = _Pen(history, language)
    made = (
        ("charts.learning", _learning(pen)),
        ("charts.distance", _distance(pen, recipe)),
        ("charts.agreement", _agreement(pen, recipe)),
        ("charts.optimizer", _optimizer(pen, recipe)),
        ("charts.work", _work(pen)),
    )
    sections = (ChartSection(say(title, language), tuple(filter(None, charts))) for title, charts in made)
    return tuple(section for section in sections if section.charts)


@dataclass(frozen=True, slots=True)
class _Pen:
    history: History
    language: Language

    def line(self, name: str, value: Callable[[StepMetrics], float | None]) -> Series:
        """A series of the steps; `name` is empty where the title says it."""
        return Series(say(name, self.language) if name else "", [(one.step, value(one)) for one in self.history.steps])

    def dots(self, value: Callable[[EvaluationMetrics], float | None]) -> Series:
        points = [(one.step, value(one)) for one in self.history.evaluations]
        return Series(say("held_out", self.language), points, "dots")

    def mark(self, label: str, at: float | None) -> list[Mark]:
        return [] if at is None else [Mark(at, say(label, self.language), "y")]

    def draw(self, title: str, unit: str, series: Iterable[Series], marks: Sequence[Mark] = ()) -> str:
        """Empty where no series has a value."""
        shown = [one for one in series if any(y is not None for _, y in one.points)]
        if not shown:
            return ""
        return line_chart(
            say(title, self.language),
            say("step", self.language),
            say(unit, self.language),
            shown,
            width=_WIDTH,
            height=_HEIGHT,
            y_from_zero=title not in ("reward", "loss"),
            marks=marks,
            empty=say("no_values", self.language),
        )


def _learning(pen: _Pen) -> Sequence[str]:
    return (
        pen.draw("reward", "unit.reward", [pen.line("training", lambda s: s.reward), pen.dots(lambda e: e.reward)]),
        pen.draw("accuracy", "unit.share", [pen.line("training", lambda s: _percent(s.accuracy)), _held_out(pen)]),
        pen.draw(
            "length",
            "unit.tokens",
            [pen.line("training", lambda s: s.length_tokens), pen.dots(lambda e: e.length_tokens)],
        ),
        pen.draw(
            "unfinished",
            "unit.share",
            [
                pen.line("training", lambda s: _percent(s.unfinished_share)),
                pen.dots(lambda e: _percent(e.unfinished_share)),
            ],
        ),
    )


def _held_out(pen: _Pen) -> Series:
    """Accuracy of the evaluations in percent, with its intervals."""
    known = [one for one in pen.history.evaluations if one.accuracy is not None and one.items > 0]
    rates = [rate(round((one.accuracy or 0.0) * one.items), one.items) for one in known]
    return Series(
        say("held_out.spread", pen.language),
        [(one.step, _percent(one.accuracy)) for one in known],
        "dots",
        [(100 * one.low, 100 * one.high) for one in rates],
    )


def _distance(pen: _Pen, recipe: Recipe) -> Sequence[str]:
    limits = pen.mark("kl.target.limit", recipe.stop.kl_target_nats)
    limits += pen.mark("kl.general.limit", recipe.stop.kl_general_nats)
    return (
        pen.draw(
            "kl",
            "unit.nats",
            [pen.line("kl.target", lambda s: s.kl_target_nats), pen.line("kl.general", lambda s: s.kl_general_nats)],
            limits,
        ),
        pen.draw("entropy", "unit.nats", [pen.line("", lambda s: s.entropy_nats)]),
    )


def _agreement(pen: _Pen, recipe: Recipe) -> Sequence[str]:
    return (
        pen.draw(
            "mismatch",
            "unit.nats",
            [
                pen.line("mismatch.mean", lambda s: s.mismatch_nats),
                pen.line("mismatch.kl", lambda s: s.mismatch_kl_nats),
            ],
            pen.mark("limit", recipe.stop.mismatch_nats),
        ),
        pen.draw(
            "weights",
            "unit.share",
            [
                pen.line("weights.masked", lambda s: _percent(s.masked_share)),
                pen.line("weights.cap", lambda s: _percent(s.above_cap_share)),
            ],
            pen.mark("weights.limit", _percent(recipe.stop.masked_share)),
        ),
    )


def _optimizer(pen: _Pen, recipe: Recipe) -> Sequence[str]:
    return (
        pen.draw("loss", "unit.loss", [pen.line("training", lambda s: s.loss), pen.dots(lambda e: e.loss)]),
        pen.draw(
            "norm",
            "unit.norm",
            [pen.line("", lambda s: s.grad_norm)],
            pen.mark("norm.clip", recipe.optimizer.clip_norm),
        ),
        pen.draw("rate.chart", "unit.rate", [pen.line("", lambda s: s.rate)]),
    )


def _work(pen: _Pen) -> Sequence[str]:
    return (
        pen.draw(
            "speed",
            "unit.speed",
            [
                pen.line("speed.sampling", lambda s: _speed(s.rollout_tokens, s.rollout_seconds)),
                pen.line("speed.training", lambda s: _speed(s.trained_tokens, s.train_seconds)),
            ],
        ),
        pen.draw("memory", "unit.gib", [pen.line("", lambda s: s.memory_bytes / _GIB if s.memory_bytes else None)]),
        pen.draw(
            "groups",
            "unit.groups",
            [pen.line("groups.drawn", lambda s: s.groups_drawn), pen.line("groups.kept", lambda s: s.groups_kept)],
        ),
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _speed(tokens: int, seconds: float) -> float | None:
    return tokens / seconds if tokens and seconds > 0 else None
