"""The distance to the anchor."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.requirements import require_module

torch = require_module("torch")

from local_training.losses import kl_to_anchor  # noqa: E402

torch.set_num_threads(1)


def distance(policy, anchor, dtype=torch.float64):
    mask = torch.ones(1, len(policy), dtype=torch.bool)
    return kl_to_anchor(torch.tensor([policy], dtype=dtype), torch.tensor([anchor], dtype=dtype), mask)


LOGPROBS = st.lists(st.tuples(st.floats(-10, 0), st.floats(-10, 0)), min_size=1, max_size=6)


@given(pairs=LOGPROBS)
@settings(deadline=None, max_examples=50)
def test_the_distance_is_never_negative_and_zero_where_both_agree(pairs):
    policy, anchor = ([pair[side] for pair in pairs] for side in (0, 1))
    assert distance(policy, anchor) >= 0
    assert distance(policy, policy) == 0


def test_the_slope_pulls_back_to_the_anchor_from_either_side():
    for policy, sign in ((-0.5, 1), (-1.5, -1)):
        logprobs = torch.tensor([[policy]], requires_grad=True)
        kl_to_anchor(logprobs, torch.tensor([[-1.0]]), torch.ones(1, 1, dtype=torch.bool)).backward()
        assert math.copysign(1, logprobs.grad.item()) == sign


def test_a_tiny_distance_keeps_its_digits_in_single_precision():
    near = 2.0**-12
    found = distance([-1.0], [-1.0 + near], torch.float32).item()
    assert found == pytest.approx(near**2 / 2, rel=1e-3)


def test_over_the_policys_own_tokens_it_is_the_divergence_itself():
    policy = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    anchor = torch.tensor([0.2, 0.2, 0.6], dtype=torch.float64)
    ten_tokens = torch.tensor([0] * 5 + [1] * 3 + [2] * 2)
    sampled = kl_to_anchor(
        policy.log()[ten_tokens][None], anchor.log()[ten_tokens][None], torch.ones(1, 10, dtype=torch.bool)
    )
    torch.testing.assert_close(sampled, (policy * (policy / anchor).log()).sum())
