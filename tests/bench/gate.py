"""How often the gate is right about candidates whose truth is known: many simulated ones, and twenty real ones.

`python -m tests.bench.gate [--json] [--quick] [--seed N] [--arm A] [--resume] [--folder F]`. The arm `sabotage`, which
trains adapters that must not be promoted, is `tests.bench.sabotage`; what it has trained stays in the folder, and with
`--resume` its verdicts too.

In the arm `simulation` no model runs: an item is a margin by which its right answer beats the wrong one, and an adapter
moves every margin a little, at random, and all of them a little towards right or wrong. So adapters that are equally
good still differ on single items: about one in twenty flips against the factory, one in fourteen between two adapters
that moved apart. One in twenty is about what the permitted drift of 0.02 nats a token does to answers of ten tokens
whose margins spread over some four nats; a table says what happens where more flip.

Everything else about a simulated candidate is in order (file, probes, drift, parity), since that is what a gate that
judges by items must not lean on. Sabotage that shows there needs real training.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.adapters.gate import (
    NIGHT,
    PROBES,
    TEACH,
    AdapterResults,
    Case,
    GateRules,
    GeneralDrift,
    Integrity,
    ItemResult,
    Parity,
    Role,
    SuiteResult,
    Verdict,
    judge,
)
from engine.adapters.statistics import paired_difference, wilson
from tests.bench import report
from tests.bench.llama_server import cache_folder
from tests.bench.report import Figure, Goal, Report, Row
from tests.bench.sabotage import joined, sabotaged

Margins = NDArray[np.float64]

GENERAL_SUITES: Final = 6
GENERAL_ACCURACY: Final = 0.7
TARGET_ACCURACY: Final = 0.5
TARGET_ITEMS: Final = 200
NOISE: Final = 0.18
"""How far an adapter moves general margins, in their own spread: it flips 5 % of the items against the factory."""
TARGET_NOISE: Final = 0.5
"""What was trained moves further: some 15 % flip even where nothing is learned."""
NIGHTS: Final = 10
SIMULATION, SABOTAGE = ARMS = ("simulation", "sabotage")
GOALS: Final = {
    "equal_promoted": Goal("equal_promoted", "of candidates no better than the champion", "<=0.05"),
    "equal_promoted_upper": Goal("equal_promoted_upper", "upper limit of its 95 % interval", "<=0.07"),
    "better_promoted": Goal("better_promoted", "of candidates 15 points better on 200 target items", ">=0.80"),
    "equal_non_inferior": Goal(
        "equal_non_inferior", "of equal candidates, kept against champion and factory", ">=0.85"
    ),
    "ratchet_stopped": Goal(
        "ratchet_stopped", "of ten-night chains that lose 1 point a night, no champion 3 points down", ">=0.95"
    ),
}


@dataclass(frozen=True, slots=True)
class Size:
    cases: int
    chains: int
    table_cases: int


FULL: Final = Size(cases=2000, chains=500, table_cases=400)
QUICK: Final = Size(cases=40, chains=6, table_cases=20)


@dataclass(frozen=True, slots=True)
class Items:
    """Questions with the factory's margins, and both results each can have, made once."""

    names: tuple[str, ...]
    factory: Margins
    accuracy: float
    results: tuple[tuple[ItemResult, ItemResult], ...]


def questions(count: int, accuracy: float, generator: np.random.Generator) -> Items:
    """`count` questions, of which the factory is right about `accuracy` on average."""
    names = tuple(f"item-{place}" for place in range(count))
    results = tuple((ItemResult(name, False), ItemResult(name, True)) for name in names)
    return Items(names, factory_margins(count, accuracy, generator), accuracy, results)


def factory_margins(count: int, accuracy: float, generator: np.random.Generator) -> Margins:
    """Above 0 with a chance of `accuracy`."""
    return generator.normal(NormalDist().inv_cdf(accuracy), 1.0, count)


def moved(items: Items, points: float, noise: float, generator: np.random.Generator) -> Margins:
    """Margins of an adapter that is `points` better than the factory, over all questions there could be."""
    normal = NormalDist()
    spread = (1 + noise * noise) ** 0.5
    shift = normal.inv_cdf(items.accuracy + points / 100) * spread - normal.inv_cdf(items.accuracy)
    margins: Margins = items.factory + shift + generator.normal(0.0, noise, len(items.names))
    return margins


def suites(prefix: str, role: Role, items: Items, margins: Margins, count: int) -> Iterator[SuiteResult]:
    """The results dealt out over `count` suites."""
    answered = [pair[right] for pair, right in zip(items.results, (margins > 0).tolist(), strict=True)]
    for place in range(count):
        yield SuiteResult(f"{prefix}-{place}", role, "1", tuple(answered[place::count]))


FLAWLESS: Final = tuple(
    SuiteResult(name, "probe", "1", tuple(ItemResult(f"try-{place}", True) for place in range(NIGHT.probe_items)))
    for name in PROBES
)


def in_order(candidate: AdapterResults, champion: AdapterResults, factory: AdapterResults) -> Case:
    """A case of which nothing but its items can speak against the candidate."""
    return Case(
        candidate,
        champion,
        factory,
        Integrity(True, True, True, True, 5_000_000),
        GeneralDrift(NIGHT.drift_prompts, 0.01, 0.01, 2.5, 2.5, 2.5, 40.0, 40.0),
        Parity(NIGHT.parity_prompts, 0.005),
    )


@dataclass(frozen=True, slots=True)
class World:
    """Questions, and what adapters of known worth answer to them."""

    target: Items
    general: Items
    generator: np.random.Generator

    @property
    def factory(self) -> AdapterResults:
        return self._results("factory", self.target.factory, self.general.factory)

    def adapter(self, name: str, target_points: float, general_points: float) -> AdapterResults:
        """So many points better than the factory, here and there."""
        target = moved(self.target, target_points, TARGET_NOISE, self.generator)
        return self._results(name, target, moved(self.general, general_points, NOISE, self.generator))

    def asked_anew(self, adapter: AdapterResults) -> AdapterResults:
        """The same adapter, of which something else is wanted now, and not learned yet."""
        target = moved(self.target, 0.0, TARGET_NOISE, self.generator)
        others = (suite for suite in adapter.suites if suite.role != "target")
        return replace(adapter, suites=(*suites("target", "target", self.target, target, 1), *others))

    def _results(self, name: str, target: Margins, general: Margins) -> AdapterResults:
        wanted = suites("target", "target", self.target, target, 1)
        others = suites("general", "general", self.general, general, GENERAL_SUITES)
        return AdapterResults(name, (*wanted, *others, *FLAWLESS))


def world(seed: Sequence[int], general_items: int, target_items: int = TARGET_ITEMS) -> World:
    generator = np.random.default_rng(seed)
    return World(
        questions(target_items, TARGET_ACCURACY, generator),
        questions(general_items, GENERAL_ACCURACY, generator),
        generator,
    )


def verdicts(
    seed: int, cases: int, gain_points: float, rules: GateRules, target_items: int = TARGET_ITEMS
) -> Sequence[Verdict]:
    """Of candidates that are `gain_points` better on the target and equal elsewhere; every case has new questions."""
    found = []
    for case in range(cases):
        place = world((seed, case, target_items), rules.general_items, target_items)
        champion, candidate = place.adapter("champion", 0.0, 0.0), place.adapter("candidate", gain_points, 0.0)
        found.append(judge(in_order(candidate, champion, place.factory), rules))
    return found


def has_kept(verdict: Verdict) -> bool:
    """Non-inferior to every reference: all of them, and every suite."""
    return all(finding.outcome == "holds" for finding in verdict.findings if finding.check in ("general", "suite"))


def points_lost(seed: Sequence[int], rules: GateRules, knows_factory: bool) -> int:
    """How far below the factory the champion is after ten nights, each of which offers one a point below the last.

    The target is won every time. Without `knows_factory` the champion stands in for the factory.
    """
    place = world(seed, rules.general_items)
    champion, lost = place.adapter("night-0", 0.0, 0.0), 0
    for night in range(1, NIGHTS + 1):
        before = place.asked_anew(champion)
        candidate = place.adapter(f"night-{night}", 30.0, -float(lost + 1))
        case = in_order(candidate, before, place.factory if knows_factory else before)
        if judge(case, rules).decision == "promote":
            champion, lost = candidate, lost + 1
    return lost


def share(hits: Sequence[bool]) -> Figure:
    """With the 95 % interval where reports show the spread of runs."""
    return Figure(fmean(hits), len(hits), wilson(sum(hits), len(hits)))


def are_promoted(found: Sequence[Verdict]) -> Sequence[bool]:
    return [verdict.decision == "promote" for verdict in found]


def measure(seed: int, size: Size) -> Report:
    report.progress(f"{size.cases} candidates that are no better")
    equal = verdicts(seed, size.cases, 0.0, NIGHT)
    report.progress(f"{size.cases} candidates that are 15 points better")
    better = verdicts(seed + 1, size.cases, 15.0, NIGHT)
    report.progress(f"{size.chains} chains of ten nights, as many without the factory, and as many of lessons")
    chains = {
        (name, known): [points_lost((seed, n), rules, known) for n in range(size.chains)]
        for name, rules, known in (("night", NIGHT, True), ("night", NIGHT, False), ("teach", TEACH, True))
    }
    wrongly = share(are_promoted(equal))
    assert wrongly.spread is not None
    figures = {
        "equal_promoted": wrongly,
        "equal_promoted_upper": Figure(wrongly.spread[1], wrongly.runs),
        "better_promoted": share(are_promoted(better)),
        "equal_non_inferior": share([has_kept(verdict) for verdict in equal]),
        "ratchet_stopped": share([lost < 3 for lost in chains["night", True]]),
    }
    report.progress("tables")
    return Report(
        "gate",
        [(GOALS[name], figure) for name, figure in figures.items()],
        {
            "ten nights that lose 1 point each": [ratchet_row(*key, lost) for key, lost in chains.items()],
            "promoted, by what was gained on how many target items": target_rows(seed, size.table_cases),
            "general items: passed by equal candidates, and by ones 3 points worse": general_rows(
                seed, size.table_cases
            ),
            "the presets": [
                preset_row(name, rules, seed, size) for name, rules in (("night", NIGHT), ("teach", TEACH))
            ],
        },
        ("numpy",),
    )


def ratchet_row(preset: str, knows_factory: bool, lost: Sequence[int]) -> Row:
    return {
        "preset": preset,
        "compared_with": "champion and factory" if knows_factory else "champion only",
        "chains": len(lost),
        "stopped_before_3": fmean(points < 3 for points in lost),
        "points_lost_mean": fmean(lost),
        "points_lost_most": max(lost),
    }


def target_rows(seed: int, cases: int) -> Sequence[Row]:
    return [
        {
            "target_items": items,
            **{
                f"+{gain}": fmean(are_promoted(verdicts(seed + gain, cases, float(gain), NIGHT, items)))
                for gain in (5, 10, 15, 20, 40)
            },
        }
        for items in (30, 60, 200)
    ]


def general_rows(seed: int, cases: int) -> Sequence[Row]:
    """By counts alone, against a champion and the factory, for margins of 2, 2.5 and 3 points."""
    return [general_row(seed, cases, noise, items) for noise in (0.1, NOISE, 0.36) for items in (800, 1200, 1600, 2400)]


def general_row(seed: int, cases: int, noise: float, count: int) -> Row:
    lowest: dict[float, list[float]] = {0.0: [], -3.0: []}
    flips = []
    for case in range(cases):
        generator = np.random.default_rng((seed, case, count))
        items = questions(count, GENERAL_ACCURACY, generator)
        champion = moved(items, 0.0, noise, generator)
        flips.append(float(np.mean((champion > 0) != (items.factory > 0))))
        for points, bounds in lowest.items():
            candidate = moved(items, points, noise, generator)
            bounds.append(min(lower_bound(candidate, champion), lower_bound(candidate, items.factory)))
    return {
        "items": count,
        "flips_percent": 100 * fmean(flips),
        **{
            f"{'equal' if points == 0 else 'worse'}_at_{margin}": fmean(bound > -margin for bound in bounds)
            for points, bounds in lowest.items()
            for margin in (2.0, 2.5, 3.0)
        },
    }


def lower_bound(candidate: Margins, reference: Margins) -> float:
    """In points."""
    wins = int(np.count_nonzero((candidate > 0) & (reference <= 0)))
    losses = int(np.count_nonzero((candidate <= 0) & (reference > 0)))
    return 100 * paired_difference(wins, losses, len(candidate))[0]


def preset_row(name: str, rules: GateRules, seed: int, size: Size) -> Row:
    equal = verdicts(seed + 2, size.table_cases, 0.0, rules)
    first = [first_lesson((seed, case), rules) for case in range(size.table_cases)]
    return {
        "preset": name,
        "general_items": rules.general_items,
        "equal_promoted": fmean(are_promoted(equal)),
        "equal_kept": fmean(has_kept(verdict) for verdict in equal),
        "equal_kept_first_time": fmean(has_kept(verdict) for verdict in first),
        "open_for_more_items": fmean(verdict.decision == "not_enough_evidence" for verdict in equal),
        "rejected": fmean(verdict.decision == "reject" for verdict in equal),
    }


def first_lesson(seed: Sequence[int], rules: GateRules) -> Verdict:
    """An equal candidate where the champion still is the factory's adapter."""
    place = world(seed, rules.general_items)
    return judge(in_order(place.adapter("candidate", 0.0, 0.0), place.factory, place.factory), rules)


def main(words: Sequence[str]) -> int:
    parser = report.arguments("gate", "The gate and candidates of known worth.")
    parser.add_argument("--arm", choices=ARMS, help="only this one; default: both")
    parser.add_argument("--resume", action="store_true", help="read verdicts on real candidates that are there")
    parser.add_argument("--folder", type=Path, help="where real candidates are; default: the cache of the benchmarks")
    options = parser.parse_args(words)
    parts = []
    if options.arm != SABOTAGE:
        parts.append(measure(options.seed, QUICK if options.quick else FULL))
    if options.arm != SIMULATION:
        folder: Path = options.folder or cache_folder() / ("gate-quick" if options.quick else "gate")
        parts.append(sabotaged(folder, is_quick=options.quick, resume=options.resume))
    report.show(reduce(joined, parts), as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
