"""What was sampled by one engine and is learned by another: the weights."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.requirements import require_module

torch = require_module("torch")

from local_training.losses import banded, importance_ratio, truncated  # noqa: E402

torch.set_num_threads(1)

RATIOS = st.lists(st.floats(0.01, 100.0), min_size=1, max_size=8)


def row(*values):
    return torch.tensor([values], dtype=torch.float64)


def test_the_ratio_is_trainer_over_sampler_and_one_outside_the_mask():
    trainer, sampler = row(-1.0, -2.0, -3.0), row(-1.5, -1.0, math.nan)
    ratio = importance_ratio(trainer.requires_grad_(), sampler, torch.tensor([[True, True, False]]))
    torch.testing.assert_close(ratio, row(math.exp(0.5), math.exp(-1.0), 1.0))
    assert not ratio.requires_grad


def test_engines_that_agree_change_nothing():
    logprobs, mask = row(-0.3, -5.0), torch.ones(1, 2, dtype=torch.bool)
    weights = truncated(banded(importance_ratio(logprobs, logprobs, mask)))
    assert torch.equal(weights, torch.ones_like(logprobs))


def test_the_cap_cuts_above_two_and_leaves_the_rest():
    assert torch.equal(truncated(row(0.01, 1.0, 2.0, 2.01, 50.0)), row(0.01, 1.0, 2.0, 2.0, 2.0))


def test_the_band_keeps_its_edges_and_silences_what_is_outside():
    assert torch.equal(banded(row(0.499, 0.5, 1.0, 5.0, 5.001)), row(0.0, 0.5, 1.0, 5.0, 0.0))


@given(ratios=RATIOS, cap=st.floats(0.5, 10), low=st.floats(0.1, 0.9), high=st.floats(1.1, 10))
@settings(deadline=None, max_examples=50)
def test_joined_weights_lie_between_zero_and_the_cap_and_are_zero_only_outside_the_band(ratios, cap, low, high):
    weights = truncated(banded(row(*ratios), low, high), cap)
    for ratio, weight in zip(ratios, weights[0].tolist(), strict=True):
        assert weight == (min(ratio, cap) if low <= ratio <= high else 0.0)
