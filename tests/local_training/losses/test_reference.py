"""Every loss is what its formula says, and so is its slope: against a restatement in plain float64 loops."""

import numpy as np
import pytest

from tests.support.requirements import require_module

torch = require_module("torch")

from local_training import losses  # noqa: E402
from tests.local_training.losses import reference  # noqa: E402
from tests.local_training.losses.cases import CASES, compare  # noqa: E402
from tests.local_training.losses.points import draw, value_and_gradient  # noqa: E402

torch.set_num_threads(1)

SEEDS = (1, 2)
EVERY_LOSS = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@EVERY_LOSS
@pytest.mark.parametrize("seed", SEEDS)
def test_value_and_gradient_are_those_of_the_formula(case, seed):
    double = compare(case, seed, torch.float64)
    assert double.value <= 1e-12
    assert double.gradient <= 1e-7  # what differences of a float64 can tell


@EVERY_LOSS
def test_single_precision_loses_no_more_than_five_digits_on_the_way(case):
    single = compare(case, 1, torch.float32)
    assert max(single.value, single.gradient) <= 1e-5


@EVERY_LOSS
def test_every_answer_with_tokens_takes_part_and_padding_does_not(case):
    drawn = draw(3)
    value, slope = value_and_gradient(case.ours, drawn, torch.float64)
    assert np.isfinite(value)
    assert np.all(slope[~drawn.mask] == 0)
    assert np.any(slope[drawn.mask] != 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_sides_of_every_clip_cap_and_band_occur_at_the_points_compared(seed):
    drawn = draw(seed)
    moved = (drawn.policy - drawn.old)[drawn.mask]
    gap = (drawn.old - drawn.sampler)[drawn.mask]
    for values, edges in ((moved, (0.8, 1.28)), (gap, (0.5, 2.0, 5.0))):
        for edge in edges:
            assert (values < np.log(edge)).any() and (values > np.log(edge)).any()
    assert not drawn.mask.any(axis=1).all()


def test_the_restatement_of_a_gradient_is_right_where_it_is_known():
    mask = np.array([[True, False], [True, True]])
    at = np.array([[0.5, np.nan], [-1.0, 2.0]])
    cubes = reference.gradient(lambda x: float(np.sum(x[mask] ** 3)), at, mask)
    np.testing.assert_allclose(cubes, [[0.75, 0.0], [3.0, 12.0]], rtol=1e-9)


def test_the_package_offers_what_it_lists():
    assert all(callable(getattr(losses, name)) for name in losses.__all__)
