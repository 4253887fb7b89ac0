"""Every loss against an independent reference, value and gradient, at random points.

`python -m tests.bench.losses [--json] [--quick] [--seed N]`. The reference is a restatement in plain float64 loops with
differences for the gradient, and TRL's own code where it has the loss and its version is the one this was written for
(`pip install trl==1.16.0`). Errors are relative: of a gradient to its largest entry, of a value to itself, or to what
one nat of one token is worth where the value nearly cancels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch

from tests.bench.report import Figure, Goal, Report, Row, arguments, progress, show
from tests.local_training.losses import reference
from tests.local_training.losses.cases import CASES, LossCase
from tests.local_training.losses.points import Compared, draw, relative_errors, value_and_gradient
from tests.local_training.losses.trl_reference import PADDING, trl_losses, why_not

GOAL: Final = Goal("max_rel_error", "of value and gradient, over all losses", "<=1e-5")
POINTS: Final = 20
QUICK_POINTS: Final = 2


@dataclass(frozen=True, slots=True)
class Errors:
    """Of one loss at one point; `trl` is None where TRL has no such loss."""

    double: Compared
    single: Compared
    trl: Compared | None

    @property
    def worst(self) -> float:
        found = [self.double, self.single, *([self.trl] if self.trl else [])]
        return max(max(compared.value, compared.gradient) for compared in found)


def main() -> None:
    options = arguments("losses", __doc__ or "").parse_args()
    torch.set_num_threads(1)
    seeds = range(options.seed, options.seed + (QUICK_POINTS if options.quick else POINTS))
    progress(f"{len(CASES)} losses at {len(seeds)} points, {why_not() or 'TRL beside the restatements'}")
    show(report({case.name: [measure(case, seed) for seed in seeds] for case in CASES}), as_json=options.json)


def measure(case: LossCase, seed: int) -> Errors:
    drawn = draw(seed)
    wanted = case.restated(drawn.policy, drawn)
    slope = reference.gradient(lambda at: case.restated(at, drawn), drawn.policy, drawn.mask)
    double, single = (
        relative_errors(*value_and_gradient(case.ours, drawn, dtype), wanted, slope)
        for dtype in (torch.float64, torch.float32)
    )
    return Errors(double, single, measure_trl(case, seed))


def measure_trl(case: LossCase, seed: int) -> Compared | None:
    if why_not() or (theirs := trl_losses().get(case.name)) is None:
        return None
    drawn = draw(seed, PADDING)
    return relative_errors(
        *value_and_gradient(case.ours, drawn, torch.float64), *value_and_gradient(theirs, drawn, torch.float64)
    )


def report(measured: dict[str, list[Errors]]) -> Report:
    points = len(next(iter(measured.values())))
    worst = [max(errors[point].worst for errors in measured.values()) for point in range(points)]
    return Report(
        "losses",
        [(GOAL, Figure(max(worst), points, (min(worst), max(worst))))],
        {"largest relative error over all points": [row(name, errors) for name, errors in measured.items()]},
        packages=("torch", "numpy", *(() if why_not() else ("trl",))),
        notes={"reference": why_not() or "restatement, and TRL where it has the loss"},
    )


def row(name: str, errors: Sequence[Errors]) -> Row:
    trl = [point.trl for point in errors if point.trl]
    return {
        "loss": name,
        "float64 value": max(point.double.value for point in errors),
        "float64 gradient": max(point.double.gradient for point in errors),
        "float32 value": max(point.single.value for point in errors),
        "float32 gradient": max(point.single.gradient for point in errors),
        "TRL value": max(compared.value for compared in trl) if trl else "none",
        "TRL gradient": max(compared.gradient for compared in trl) if trl else "none",
    }


if __name__ == "__main__":
    main()
