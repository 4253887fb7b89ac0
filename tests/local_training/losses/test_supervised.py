"""Learning what is new in an answer, and keeping the rest as it was."""

import math

import pytest

from tests.support.requirements import require_module

torch = require_module("torch")

from local_training.losses import answer_loss, new_tokens, novelty_loss  # noqa: E402

LOGPROBS = torch.tensor([[-0.2, -3.0, -1.0, -5.0], [-0.1, -2.0, -0.7, -0.3]])
ANCHOR = torch.tensor([[-0.1, -4.0, -1.5, -0.4], [-3.0, -0.05, -0.9, -0.3]])
MASK = torch.tensor([[True, True, True, True], [True, True, True, False]])


def test_what_the_anchor_finds_likely_is_not_new_and_nothing_is_outside_the_mask():
    found = new_tokens(ANCHOR, MASK, familiar=0.5)
    assert found.tolist() == [[False, True, True, False], [True, False, True, False]]


def test_with_a_share_of_one_everything_is_new_and_it_is_the_plain_loss():
    assert torch.equal(new_tokens(ANCHOR, MASK, familiar=1.0), MASK)
    assert novelty_loss(LOGPROBS, ANCHOR, MASK, 1.0).item() == pytest.approx(answer_loss(LOGPROBS, MASK).item())
    assert novelty_loss(LOGPROBS, ANCHOR, MASK, 1.0, 3.0).item() == pytest.approx(
        answer_loss(LOGPROBS, MASK, 3.0).item()
    )


def test_it_is_by_hand_what_it_says():
    learned = 3.0 + 1.0 + 0.1 + 0.7
    kept = 0.5 * (0.1**2 + 4.6**2 + 1.95**2)
    assert novelty_loss(LOGPROBS, ANCHOR, MASK, 0.5).item() == pytest.approx((learned + kept) / 4, rel=1e-6)
    assert novelty_loss(LOGPROBS, ANCHOR, MASK, 0.5, 8.0).item() == pytest.approx((learned + kept) / 8, rel=1e-6)


def test_familiar_tokens_are_pushed_neither_up_nor_down_where_nothing_moved():
    logprobs = ANCHOR.clone().requires_grad_()
    novelty_loss(logprobs, ANCHOR, MASK, 0.5).backward()
    assert logprobs.grad is not None
    is_new = new_tokens(ANCHOR, MASK, 0.5)
    assert torch.equal(logprobs.grad != 0, is_new)


def test_an_answer_without_anything_new_is_only_kept():
    mask = torch.ones(1, 2, dtype=torch.bool)
    anchor = torch.tensor([[-0.1, -0.2]])
    assert novelty_loss(anchor, anchor, mask, 0.5).item() == 0.0
    assert novelty_loss(anchor - 1, anchor, mask, 0.5).item() == pytest.approx(1.0)


def test_what_stands_outside_the_mask_reaches_neither_value_nor_gradient():
    logprobs = LOGPROBS.clone()
    anchor = ANCHOR.clone()
    logprobs[1, 3], anchor[1, 3] = math.nan, -math.inf
    logprobs.requires_grad_()
    loss = novelty_loss(logprobs, anchor, MASK, 0.5)
    loss.backward()
    assert loss.item() == pytest.approx(novelty_loss(LOGPROBS, ANCHOR, MASK, 0.5).item())
    assert logprobs.grad is not None and torch.isfinite(logprobs.grad).all()
