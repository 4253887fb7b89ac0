"""How much of an adapter may be kept, so that it stays near its anchor: a scale. Knows no model and no KL."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_CHORDS: Final = 2
"""Each costs a measurement, and brings the distance to within a few per cent of the bound."""


@dataclass(frozen=True, slots=True)
class Region:
    scale: float
    """1 where nothing had to be given up."""
    before: float
    """Distance of the whole adapter."""
    after: float
    """With the scale."""


def largest_scale(distance: Callable[[float], float], bound: float) -> Region:
    """The largest scale up to 1 that was found to be within `bound` of the anchor.

    distance: of a scale, in any unit; 0 at scale 0. KL curves upwards there, so that a chord lies above it: where the
    chord between a scale that is near enough and one that is not meets the bound, the distance is below. A scale at
    which that turns out otherwise is not taken, but the next chord ends there.
    """
    before = distance(1.0)
    if before <= bound:
        return Region(1.0, before, before)
    inner, outer = (0.0, 0.0), (1.0, before)
    for _ in range(_CHORDS):
        scale = inner[0] + (outer[0] - inner[0]) * (bound - inner[1]) / (outer[1] - inner[1])
        point = (scale, distance(scale))
        inner, outer = (point, outer) if point[1] <= bound else (inner, point)
    if inner[0] == 0.0:  # nothing was near enough: by what is known, this is
        scale = outer[0] * bound / outer[1] / 2
        inner = (scale, distance(scale))
    return Region(inner[0], before, inner[1])
