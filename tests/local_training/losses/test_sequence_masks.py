"""Answers that are left out whole."""

import math

import pytest

from tests.support.requirements import require_module

torch = require_module("torch")

from local_training.losses import clipped_policy_loss, finished_mask, on_policy_mask, sequence_ratio_mask  # noqa: E402

torch.set_num_threads(1)

MASK = torch.tensor([[True] * 4, [True, True, False, False], [False] * 4])


def gaps(*per_token):
    """Trainer and sampler that differ by these nats at every token of a row; junk outside the mask."""
    sampler = torch.where(MASK, -1.0, torch.nan).double()
    return sampler + torch.tensor(per_token, dtype=torch.float64)[:, None], sampler


@pytest.mark.parametrize(
    ("total_nats", "is_kept"), [(math.log(3) - 0.01, True), (math.log(3) + 0.01, False), (-9.0, True)]
)
def test_an_answer_is_left_out_when_its_whole_ratio_passes_the_cap(total_nats, is_kept):
    kept = sequence_ratio_mask(*gaps(total_nats / 4, 0.0, 0.0), MASK)
    assert kept.tolist() == [[is_kept], [True], [True]]


def test_a_lower_bound_leaves_out_answers_the_trainer_finds_unlikely():
    kept = sequence_ratio_mask(*gaps(-0.1, -0.5, 0.0), MASK, low=0.5)
    assert kept.tolist() == [[True], [False], [True]]


def test_by_the_token_a_long_answer_is_judged_like_a_short_one():
    trainer, sampler = gaps(0.3, 0.3, 0.0)
    assert sequence_ratio_mask(trainer, sampler, MASK, high=2.0).tolist() == [[False], [True], [True]]
    assert sequence_ratio_mask(trainer, sampler, MASK, high=2.0, per_token=True).all()


def test_a_ratio_too_large_for_a_float_is_still_only_too_large():
    trainer, sampler = (values.float() for values in gaps(80.0, -80.0, 0.0))
    assert sequence_ratio_mask(trainer, sampler, MASK).tolist() == [[False], [True], [True]]


@pytest.mark.parametrize(
    ("moved_nats", "advantage", "is_kept"),
    [(0.2, -1.0, False), (0.2, 1.0, True), (0.2, 0.0, True), (0.09, -1.0, True), (-5.0, -1.0, True)],
)
def test_an_answer_is_left_out_when_it_is_discouraged_and_the_policy_has_left_it(moved_nats, advantage, is_kept):
    policy, sampler = gaps(-moved_nats, 0.0, 0.0)
    advantages = torch.tensor([[advantage], [-1.0], [-1.0]])
    assert on_policy_mask(policy, sampler, advantages, MASK).tolist() == [[is_kept], [True], [True]]


def test_advantages_for_a_sequence_mask_are_one_per_answer():
    policy, sampler = gaps(0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match=r"advantages are \(3, 1\)"):
        on_policy_mask(policy, sampler, torch.zeros(3), MASK)


def test_answers_that_were_cut_off_have_no_gradient_and_the_others_keep_theirs():
    logprobs = torch.full((3, 4), -1.0, dtype=torch.float64, requires_grad=True)
    kept = MASK & finished_mask(torch.tensor([True, False, True]))
    advantages = torch.ones(3, 1, dtype=torch.float64)
    clipped_policy_loss(logprobs, logprobs, advantages, kept, token_count=float(MASK.sum())).backward()
    torch.testing.assert_close(logprobs.grad[0], torch.full((4,), -1 / 6, dtype=torch.float64))
    assert torch.all(logprobs.grad[1:] == 0)


@pytest.mark.parametrize("bad", [torch.tensor([1, 0]), torch.tensor([[True, False]])])
def test_finished_is_one_boolean_per_answer(bad):
    with pytest.raises(ValueError, match="finished is boolean"):
        finished_mask(bad)
