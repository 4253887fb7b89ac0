"""The clipped objective: what pulls, and what no longer does."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.requirements import require_module

torch = require_module("torch")

from local_training.losses import clipped_policy_loss, dr_grpo_advantages, grpo_advantages  # noqa: E402

torch.set_num_threads(1)


def pull(ratio, advantage, **options):
    """Value and slope for one token."""
    logprobs = torch.tensor([[-1.0]], dtype=torch.float64, requires_grad=True)
    old = torch.tensor([[-1.0 - math.log(ratio)]], dtype=torch.float64)
    mask = torch.ones(1, 1, dtype=torch.bool)
    loss = clipped_policy_loss(logprobs, old, torch.tensor([[advantage]], dtype=torch.float64), mask, **options)
    loss.backward()
    return loss.item(), logprobs.grad.item()


@pytest.mark.parametrize(("ratio", "advantage"), [(1.29, 1.0), (5.0, 0.1), (0.79, -1.0), (0.1, -3.0)])
def test_beyond_the_clip_on_the_side_it_is_pulled_to_a_token_has_no_gradient(ratio, advantage):
    assert pull(ratio, advantage)[1] == 0


@pytest.mark.parametrize(("ratio", "advantage"), [(1.29, -1.0), (5.0, -0.1), (0.79, 1.0), (0.1, 3.0), (1.27, 1.0)])
def test_inside_the_clip_or_pulled_back_towards_it_a_token_has_its_whole_gradient(ratio, advantage):
    value, slope = pull(ratio, advantage)
    assert value == pytest.approx(-ratio * advantage, rel=1e-12)
    assert slope == pytest.approx(-ratio * advantage, rel=1e-12)


def test_the_clip_is_wider_above_than_below():
    assert pull(1.27, 1.0)[1] != 0 and pull(0.79, -1.0)[1] == 0
    assert pull(1.27, 1.0, clip_high=0.2)[1] == 0
    assert pull(3.0, 1.0)[0] == pytest.approx(-1.28) and pull(0.1, -1.0)[0] == pytest.approx(0.8)


def test_in_the_first_step_the_slope_is_the_advantage():
    """The old log-probabilities may be the policy's own: they are not differentiated."""
    logprobs = torch.tensor([[-1.0, -2.0], [-0.5, -3.0]], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True], [True, False]])
    advantages = torch.tensor([[2.0], [-1.0]], dtype=torch.float64)
    clipped_policy_loss(logprobs, logprobs, advantages, mask).backward()
    torch.testing.assert_close(logprobs.grad, -torch.tensor([[2.0, 2.0], [-1.0, 0.0]], dtype=torch.float64) / 3)


def test_a_long_answer_counts_by_its_tokens_and_not_as_one():
    logprobs = torch.zeros(2, 4, dtype=torch.float64)
    mask = torch.tensor([[True] * 4, [True, False, False, False]])
    advantages = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    assert clipped_policy_loss(logprobs, logprobs, advantages, mask).item() == pytest.approx(-3 / 5)


@pytest.mark.parametrize("advantages_of", [grpo_advantages, dr_grpo_advantages])
@given(reward=st.floats(-1e6, 1e6), rollouts=st.integers(1, 8))
@settings(deadline=None, max_examples=30)
def test_a_group_of_equal_rewards_has_no_effect(advantages_of, reward, rollouts):
    advantages = torch.tensor(advantages_of([reward] * rollouts))[:, None]
    logprobs = -torch.rand(rollouts, 5, generator=torch.Generator().manual_seed(0))
    logprobs.requires_grad_()
    loss = clipped_policy_loss(logprobs, logprobs - 0.1, advantages, torch.ones(rollouts, 5, dtype=torch.bool))
    loss.backward()
    assert loss == 0
    assert torch.all(logprobs.grad == 0)


def test_a_weight_scales_the_gradient_of_its_token_and_is_not_differentiated():
    logprobs = torch.full((1, 4), -1.0, dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([[2.0, 0.0, 0.5, math.nan]], dtype=torch.float64, requires_grad=True)
    advantages, mask = torch.ones(1, 1, dtype=torch.float64), torch.tensor([[True, True, True, False]])
    clipped_policy_loss(logprobs, logprobs, advantages, mask, weights_BT=weights).backward()
    torch.testing.assert_close(logprobs.grad, -torch.tensor([[2.0, 0.0, 0.5, 0.0]], dtype=torch.float64) / 3)
    assert weights.grad is None


@pytest.mark.parametrize("shape", [(2,), (3,), (3, 2), (1, 3), ()])
def test_advantages_and_weights_that_would_spread_along_the_wrong_axis_are_refused(shape):
    logprobs, mask = torch.zeros(2, 3), torch.ones(2, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match="advantages are"):
        clipped_policy_loss(logprobs, logprobs, torch.zeros(shape), mask)
    with pytest.raises(ValueError, match="weights are"):
        clipped_policy_loss(logprobs, logprobs, torch.zeros(2, 1), mask, weights_BT=torch.zeros(shape))
