"""The policy that has read the follow-up teaches the one that had not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.requirements import require_module

torch = require_module("torch")

from local_training.losses import hindsight_advantages, hindsight_loss, without_first  # noqa: E402

torch.set_num_threads(1)

MASK = torch.tensor([[True, True, True, False], [False, True, True, True], [False] * 4])


def rows(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_tokens_that_are_likelier_in_hindsight_rise_and_the_others_fall():
    said = rows([-1.0, -1.0, -1.0]).requires_grad_()
    hindsight, mask = rows([-0.4, -1.0, -3.0]), torch.ones(1, 3, dtype=torch.bool)
    hindsight_loss(said, hindsight_advantages(hindsight, said, mask), mask).backward()
    torch.testing.assert_close(said.grad, rows([-0.2, 0.0, 2.0 / 3]))


def test_a_follow_up_that_changes_nothing_teaches_nothing():
    said = rows([-1.0, -0.2, -7.0, 0.0]).expand(3, 4).clone().requires_grad_()
    hindsight_loss(said, hindsight_advantages(said, said, MASK), MASK).backward()
    assert torch.all(said.grad == 0)


def test_the_teacher_is_not_moved():
    said, teacher = (torch.full((3, 4), -value, requires_grad=True) for value in (1.0, 2.0))
    hindsight_loss(said, hindsight_advantages(teacher, said, MASK), MASK).backward()
    assert teacher.grad is None
    assert torch.all(said.grad[MASK] != 0)


@given(seed=st.integers(0, 10**6), lift=st.floats(-3, 3))
@settings(deadline=None, max_examples=30)
def test_centred_advantages_balance_within_each_answer_whatever_lifts_it_as_a_whole(seed, lift):
    said, teacher = -torch.rand(2, 3, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    centred = hindsight_advantages(teacher, said, MASK, centred=True)
    assert torch.all(centred[~MASK] == 0)
    torch.testing.assert_close(centred.sum(dim=1), torch.zeros(3, dtype=torch.float64))
    torch.testing.assert_close(hindsight_advantages(teacher + lift, said, MASK, centred=True), centred)


def test_a_limit_bounds_what_one_token_decides():
    said, teacher = rows([-1.0, -1.0, -9.0]), rows([-9.0, -1.2, -1.0])
    mask = torch.ones(1, 3, dtype=torch.bool)
    torch.testing.assert_close(hindsight_advantages(teacher, said, mask, limit=1.0), rows([-1.0, -0.2, 1.0]))
    assert hindsight_advantages(teacher, said, mask).abs().max() == 8.0


def test_the_first_tokens_of_each_answer_are_left_out_wherever_it_begins():
    assert without_first(MASK).tolist() == [[False, False, True, False], [False, False, False, True], [False] * 4]
    assert torch.equal(without_first(MASK, 0), MASK)
    assert not without_first(MASK, 3).any()


@pytest.mark.parametrize("shape", [(3, 1), (3,)])
def test_advantages_are_one_per_token(shape):
    with pytest.raises(ValueError, match="do not fit a mask"):
        hindsight_loss(torch.zeros(3, 4), torch.zeros(shape), MASK)
