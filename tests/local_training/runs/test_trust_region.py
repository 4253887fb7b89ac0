"""How much of an adapter may be kept: as much as stays within the bound, found with few measurements."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_training.runs.trust_region import Region, largest_scale


def counted(distance: Callable[[float], float]) -> tuple[Callable[[float], float], list[float]]:
    asked: list[float] = []

    def measure(scale: float) -> float:
        asked.append(scale)
        return distance(scale)

    return measure, asked


def test_an_adapter_that_is_near_enough_stays_whole_and_is_measured_once():
    measure, asked = counted(lambda scale: 0.03 * scale**2)
    assert largest_scale(measure, 0.04) == Region(1.0, 0.03, 0.03)
    assert asked == [1.0]


@given(size=st.floats(1.001, 50), power=st.floats(1.0, 3.0))
def test_what_is_kept_is_within_the_bound_and_the_last_that_was_measured(size: float, power: float):
    measure, asked = counted(lambda scale: size * scale**power)
    region = largest_scale(measure, 1.0)
    assert region.before == size
    assert region.after == size * region.scale**power <= 1.0 + 1e-9
    assert len(asked) == 3


@given(size=st.floats(1.001, 2.5))
def test_of_what_curves_as_kl_does_little_is_given_away(size: float):
    region = largest_scale(lambda scale: size * scale**2, 1.0)
    best = size**-0.5
    assert 0.85 * best <= region.scale <= best + 1e-9


def test_a_distance_that_bends_the_other_way_is_kept_within_the_bound_too():
    region = largest_scale(lambda scale: 5.0 * scale**0.5, 1.0)
    assert region.after <= 1.0
    assert 0 < region.scale < 0.04 + 1e-9


def test_a_bound_far_below_keeps_little_and_never_nothing():
    region = largest_scale(lambda scale: 100.0 * scale, 1e-3)
    assert region.scale == pytest.approx(1e-5, rel=0.6)
    assert region.after <= 1e-3 + 1e-12
