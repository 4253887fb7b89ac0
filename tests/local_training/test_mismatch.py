"""How far trainer and sampler are apart."""

import math

import pytest

from engine.errors import RuntimeFailed
from local_training.mismatch import measure_mismatch


def test_equal_log_probabilities_have_no_gap():
    figures = measure_mismatch([[-0.5, -1.0], [-2.0]], [[-0.5, -1.0], [-2.0]])
    assert (figures.tokens, figures.mean_absolute_gap_nats, figures.largest_absolute_gap_nats) == (3, 0.0, 0.0)
    assert (figures.sampler_to_trainer_kl_nats, figures.share_above_cap, figures.share_outside_band) == (0.0, 0.0, 0.0)


def test_a_gap_is_what_the_trainer_adds():
    figures = measure_mismatch([[-2.0, -2.0], [-2.0, -2.0]], [[-2.1, -1.9], [-2.0 - math.log(3), -2.0 + math.log(4)]])
    assert figures.mean_gap_nats == pytest.approx((math.log(3) - math.log(4)) / 4)
    assert figures.largest_absolute_gap_nats == pytest.approx(math.log(4))
    # Weights are 1.105, 0.905, 3 and 0.25: one above the cap of 2, one outside of [0.5, 5].
    assert (figures.share_above_cap, figures.share_outside_band) == (0.25, 0.25)


def test_the_divergence_of_small_gaps_is_half_their_square():
    figures = measure_mismatch([[-1.0, -1.0]], [[-1.01, -0.99]])
    assert figures.sampler_to_trainer_kl_nats == pytest.approx(0.5 * 0.01**2, rel=1e-3)


def test_a_gap_beyond_all_bounds_is_a_number_still():
    figures = measure_mismatch([[-1.0]], [[-5000.0]])
    assert math.isfinite(figures.sampler_to_trainer_kl_nats)
    assert figures.share_above_cap == 1.0


@pytest.mark.parametrize(
    ("trainer", "sampler"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([[]], [[]], id="no_tokens"),
        pytest.param([[-1.0]], [[-1.0, -2.0]], id="lengths"),
        pytest.param([[-1.0], [-2.0]], [[-1.0, -2.0]], id="rows"),
        pytest.param([[math.nan]], [[-1.0]], id="nan"),
        pytest.param([[-1.0]], [[-math.inf]], id="infinite"),
        pytest.param([[0.5]], [[-1.0]], id="above_zero"),
    ],
)
def test_what_cannot_be_compared_is_an_error(trainer, sampler):
    with pytest.raises(RuntimeFailed):
        measure_mismatch(trainer, sampler)
