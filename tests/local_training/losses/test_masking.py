"""What holds for every loss over tokens: masks, padding, order, precision, and batches cut into pieces."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.requirements import require_module

torch = require_module("torch")

from local_training.losses import (  # noqa: E402
    answer_loss,
    clipped_policy_loss,
    hindsight_loss,
    importance_ratio,
    kl_to_anchor,
    log_ratio_to_anchor,
)

torch.set_num_threads(1)


def by_policy(logprobs, other, mask, count=None):
    return clipped_policy_loss(logprobs, other, (other + 1.0).detach(), mask, token_count=count)


LOSSES = {
    "answer": lambda logprobs, other, mask, count=None: answer_loss(logprobs, mask, count),
    "policy": by_policy,
    "anchor": kl_to_anchor,
    "hindsight": hindsight_loss,
}
EVERY_LOSS = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())


def batch(seed, examples=6, tokens=7):
    """Log-probabilities of the policy and of another model, and a mask whose first row has a token."""
    generator = torch.Generator().manual_seed(seed)
    logprobs, other = -torch.rand(2, examples, tokens, generator=generator, dtype=torch.float64) * 3
    mask = torch.rand(examples, tokens, generator=generator) < 0.6
    mask[0, 0] = True
    return logprobs, other, mask


def slope(loss, logprobs, *rest):
    logprobs = logprobs.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(logprobs, *rest), logprobs)
    return gradient


@EVERY_LOSS
@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=20)
def test_what_stands_outside_the_mask_reaches_neither_value_nor_gradient(loss, seed):
    logprobs, other, mask = batch(seed)
    spoiled = [torch.where(mask, values, junk) for values, junk in ((logprobs, -torch.inf), (other, torch.nan))]
    assert loss(*spoiled, mask) == loss(logprobs, other, mask)
    gradient = slope(loss, *spoiled, mask)
    assert torch.equal(gradient, slope(loss, logprobs, other, mask))
    assert torch.all(gradient[~mask] == 0)


@EVERY_LOSS
@given(seed=st.integers(0, 10**6), padding=st.integers(1, 5))
@settings(deadline=None, max_examples=20)
def test_padding_changes_nothing(loss, seed, padding):
    logprobs, other, mask = batch(seed)
    wider = [torch.nn.functional.pad(values, (padding, padding), value=-7.0) for values in (logprobs, other)]
    wider_mask = torch.nn.functional.pad(mask, (padding, padding))
    torch.testing.assert_close(loss(*wider, wider_mask), loss(logprobs, other, mask), rtol=1e-12, atol=0)


@EVERY_LOSS
@given(seed=st.integers(0, 10**6), order=st.permutations(range(6)))
@settings(deadline=None, max_examples=20)
def test_the_order_of_the_examples_does_not_matter(loss, seed, order):
    logprobs, other, mask = batch(seed)
    permuted = loss(logprobs[order], other[order], mask[order])
    torch.testing.assert_close(permuted, loss(logprobs, other, mask), rtol=1e-12, atol=1e-15)


@EVERY_LOSS
@given(seed=st.integers(0, 10**6), cuts=st.sets(st.integers(1, 5)))
@settings(deadline=None, max_examples=20)
def test_micro_batches_add_up_to_the_mean_over_all_tokens_however_they_are_cut(loss, seed, cuts):
    whole = batch(seed)
    count = float(whole[2].sum())
    edges = [0, *sorted(cuts), 6]
    pieces = [[values[start:end] for values in whole] for start, end in pairwise(edges)]
    together = sum(loss(*piece, count) for piece in pieces)
    torch.testing.assert_close(together, loss(*whole), rtol=1e-12, atol=1e-15)
    gradients = torch.cat([slope(loss, *piece, count) for piece in pieces])
    torch.testing.assert_close(gradients, slope(loss, *whole), rtol=1e-12, atol=0)


@EVERY_LOSS
@pytest.mark.parametrize("examples", [0, 6])
def test_nothing_under_the_mask_gives_zero_with_gradient_zero(loss, examples):
    logprobs, other, mask = batch(0)
    nothing = [values[:examples] for values in (logprobs, other, torch.zeros_like(mask))]
    assert loss(*nothing) == 0
    assert torch.all(slope(loss, *nothing) == 0)
    assert loss(*nothing, 0.0) == 0


@EVERY_LOSS
def test_only_the_policy_is_differentiated(loss):
    logprobs, other, mask = batch(1)
    other.requires_grad_()
    loss(logprobs.requires_grad_(), other, mask).backward()
    assert other.grad is None
    assert logprobs.grad is not None and torch.any(logprobs.grad != 0)


@EVERY_LOSS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_loss_has_the_precision_of_its_log_probabilities(loss, dtype):
    logprobs, other, mask = batch(1)
    assert loss(logprobs.to(dtype), other.to(dtype), mask).dtype == dtype


@EVERY_LOSS
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64])
def test_log_probabilities_that_were_rounded_to_half_are_refused(loss, dtype):
    logprobs, other, mask = batch(1)
    with pytest.raises(ValueError, match="float32 or float64"):
        loss(logprobs.to(dtype), other.to(dtype), mask)


@EVERY_LOSS
def test_a_mask_that_is_not_boolean_or_of_another_shape_is_refused(loss):
    logprobs, other, mask = batch(1)
    with pytest.raises(ValueError, match="a mask is boolean"):
        loss(logprobs, other, mask.double())
    with pytest.raises(ValueError, match="a mask is boolean"):
        loss(logprobs[0], other[0], mask[0])
    with pytest.raises(ValueError, match="do not fit a mask"):
        loss(logprobs, other, mask[:1])


@pytest.mark.parametrize("gap", [60.0, 1000.0, torch.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_models_that_are_worlds_apart_give_large_numbers_but_no_infinite_ones(gap, dtype):
    near, far = torch.full((2, 3), -1.0, dtype=dtype), torch.full((2, 3), -1.0 - gap, dtype=dtype)
    mask = torch.ones(2, 3, dtype=torch.bool)
    for logprobs, other in ((near, far), (far, near)):
        assert torch.all(torch.isfinite(importance_ratio(logprobs, other, mask)))
        for loss in (by_policy, kl_to_anchor) if gap < torch.inf else (kl_to_anchor,):
            assert torch.isfinite(loss(logprobs, other, mask))
            assert torch.all(torch.isfinite(slope(loss, logprobs, other, mask)))


def test_a_diverged_policy_is_not_hidden():
    logprobs, other, mask = batch(2)
    logprobs[0, 0] = torch.nan
    assert all(torch.isnan(loss(logprobs, other, mask)) for loss in LOSSES.values())
    assert torch.isnan(log_ratio_to_anchor(logprobs, other, mask)[0])
