"""The figures of a run's report in words: held-out items before and after, and what the run took. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from local_training.runs.axes import number
from local_training.runs.comparison import Accuracy, Comparison, Loss, Means, Paired, Rate
from local_training.runs.folder import RunState
from local_training.runs.metrics import StepMetrics
from local_training.runs.recipe import SAMPLING_KINDS, Recipe
from local_training.runs.report_texts import Language, say


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of held-out items; a value and what it can be told by, before and after."""

    label: str
    before: tuple[str, str]
    after: tuple[str, str]
    remark: str = ""


def held_out_figures(comparison: Comparison, recipe: Recipe, language: Language) -> Sequence[Figure]:
    figures: list[Figure] = []
    if comparison.accuracy is not None:
        label = "accuracy.held" if recipe.kind in SAMPLING_KINDS else "accuracy.side"
        figures.append(_accuracy_figure(label, comparison.accuracy, language))
    if comparison.tokens is not None:
        before, after = (
            say("tokens", language, count=f"{count:,.1f}")
            for count in (comparison.tokens.before, comparison.tokens.after)
        )
        figures.append(Figure(say("tokens.held", language), (before, ""), (after, "")))
    if comparison.reward is not None:
        figures.append(_mean_figure("reward.held", comparison.reward, "", language))
    if comparison.loss is not None:
        figures.append(_loss_figure(comparison.loss, language))
    return figures


def _accuracy_figure(label: str, accuracy: Accuracy, language: Language) -> Figure:
    def told(rate: Rate) -> tuple[str, str]:
        share = say("rate", language, share=_percent(rate.share), right=rate.right, n=rate.n)
        return share, say("interval", language, low=_percent(rate.low), high=_percent(rate.high))

    return Figure(
        say(label, language), told(accuracy.before), told(accuracy.after), _paired("changed", accuracy.paired, language)
    )


def _loss_figure(loss: Loss, language: Language) -> Figure:
    return _mean_figure("loss.held", loss.means, _paired("changed.loss", loss.paired, language), language)


def _mean_figure(label: str, means: Means, remark: str, language: Language) -> Figure:
    return Figure(say(label, language), (number(means.before), ""), (number(means.after), ""), remark)


def _paired(key: str, paired: Paired, language: Language) -> str:
    p = "p < 0.001" if paired.p < 0.001 else f"p = {paired.p:.3f}"
    return say(key, language, gained=paired.gained, lost=paired.lost, p=p)


def what_it_took(state: RunState, steps: Sequence[StepMetrics], language: Language) -> Sequence[tuple[str, str]]:
    """What the run took, as label and value; what was not measured is left out."""
    sampling, training = sum(one.rollout_seconds for one in steps), sum(one.train_seconds for one in steps)
    written, trained = sum(one.rollout_tokens for one in steps), sum(one.trained_tokens for one in steps)
    measured = [(one.idle_share, one.seconds) for one in steps if one.idle_share is not None]
    seconds = sum(length for _, length in measured)
    memory = max((one.memory_bytes for one in steps), default=0)
    listed = (
        ("took.time", _duration(state.worked_seconds, language)),
        ("took.sampling", _duration(sampling, language) if sampling else ""),
        ("took.training", _duration(training, language) if training else ""),
        ("took.written", f"{written:,}" if written else ""),
        ("took.trained", f"{trained:,}" if trained else ""),
        ("took.idle", _percent(sum(share * length for share, length in measured) / seconds) if seconds else ""),
        ("took.memory", f"{memory / (1 << 30):.1f} GiB" if memory else ""),
    )
    return [(say(label, language), value) for label, value in listed if value]


def _duration(seconds: float, language: Language) -> str:
    whole = round(seconds)
    if whole >= 3600:
        return say("hours", language, hours=whole // 3600, minutes=whole // 60 % 60)
    if whole >= 60:
        return say("minutes", language, minutes=whole // 60, seconds=whole % 60)
    return say("seconds", language, seconds=whole if whole else number(seconds))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
