"""Pairs, and single answers called good or bad."""

import math

import pytest

from tests.support.requirements import require_module

torch = require_module("torch")

from local_training.losses import (  # noqa: E402
    apo_zero_loss,
    dpo_loss,
    kto_loss,
    kto_reference_point,
    log_ratio_to_anchor,
)

torch.set_num_threads(1)

NOTHING = torch.zeros(0, dtype=torch.float64)


def examples(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def slope(loss, *variables):
    return [gradient.tolist() for gradient in torch.autograd.grad(loss, variables)]


def test_the_log_ratio_is_that_of_the_answer_and_on_request_of_its_mean_token():
    policy = torch.tensor([[-1.0, -2.0, math.nan], [-1.0, -1.0, -1.0]], dtype=torch.float64)
    anchor = torch.tensor([[-2.0, -5.0, -math.inf], [-1.0, -1.0, -1.0]], dtype=torch.float64)
    mask = torch.tensor([[True, True, False], [False] * 3])
    assert log_ratio_to_anchor(policy, anchor, mask).tolist() == [4.0, 0.0]
    assert log_ratio_to_anchor(policy, anchor, mask, length_normalised=True).tolist() == [2.0, 0.0]


def test_a_pair_raises_the_chosen_and_lowers_the_rejected_by_the_same():
    chosen, rejected = examples(0.0, 5.0), examples(0.0, -5.0)
    loss = dpo_loss(chosen, rejected, beta=1.0)
    up, down = slope(loss, chosen, rejected)
    assert up[0] == pytest.approx(-0.25) and up == [-value for value in down]
    assert abs(up[1]) < 1e-4 * abs(up[0])  # a pair that is already far apart hardly pulls
    assert dpo_loss(*(examples(0.0),) * 2).item() == pytest.approx(math.log(2))


def test_smoothing_by_a_half_knows_no_better_answer():
    chosen, rejected = examples(1.0, -2.0), examples(0.3, 0.4)
    torch.testing.assert_close(
        dpo_loss(chosen, rejected, label_smoothing=0.5), dpo_loss(rejected, chosen, label_smoothing=0.5)
    )
    assert slope(dpo_loss(examples(3.0), rejected[:1], beta=1.0, label_smoothing=0.5), rejected)[0][0] < 0


@pytest.mark.parametrize("loss", [kto_loss, apo_zero_loss], ids=["kto", "apo_zero"])
def test_good_answers_rise_and_bad_ones_fall(loss):
    ratio, is_good = examples(0.1, 0.2, -0.1), torch.tensor([True, False, True])
    point = [kto_reference_point(examples(0.05, 0.15))] if loss is kto_loss else []
    (pulls,) = slope(loss(ratio, is_good, *point), ratio)
    assert [math.copysign(1, value) for value in pulls] == [-1, 1, -1]


def test_a_good_answer_is_judged_by_how_far_all_answers_have_moved():
    is_good = torch.tensor([True])
    still = kto_loss(examples(2.0), is_good, torch.tensor(0.0), beta=1.0)
    moved = kto_loss(examples(2.0), is_good, torch.tensor(2.0), beta=1.0)
    assert still < moved
    assert moved.item() == pytest.approx(0.5)


def test_the_reference_point_is_never_negative_and_has_no_gradient():
    assert kto_reference_point(examples(1.0, 3.0)).item() == 2.0
    assert kto_reference_point(examples(-4.0, 1.0)).item() == 0.0
    assert kto_reference_point(NOTHING).item() == 0.0
    point = examples(0.5)
    kto_loss(examples(1.0), torch.tensor([True]), point[0]).backward()
    assert point.grad is None


def test_without_a_reference_point_both_losses_are_one():
    ratio, is_good = examples(0.4, -1.0), torch.tensor([False, True])
    torch.testing.assert_close(apo_zero_loss(ratio, is_good), kto_loss(ratio, is_good, kto_reference_point(NOTHING)))


def test_weights_make_up_for_one_kind_being_rare():
    ratio, is_good = examples(0.4, 0.4), torch.tensor([True, False])
    point = torch.tensor(0.0)
    (plain,) = slope(kto_loss(ratio, is_good, point), ratio)
    (weighted,) = slope(kto_loss(ratio, is_good, point, good_weight=2.0, bad_weight=0.5), ratio)
    assert weighted == pytest.approx([2 * plain[0], 0.5 * plain[1]])


@pytest.mark.parametrize("far", [1e4, -1e4])
def test_answers_far_from_the_anchor_stay_finite(far):
    ratio = torch.tensor([far, far], requires_grad=True)
    is_good = torch.tensor([True, False])
    for loss in (dpo_loss(ratio[:1], -ratio[1:]), kto_loss(ratio, is_good, torch.tensor(0.0))):
        assert torch.isfinite(loss)
        assert all(map(math.isfinite, slope(loss, ratio)[0]))


def test_micro_batches_add_up_to_the_mean_over_all_examples():
    chosen, rejected, is_good = examples(0.1, 0.5, -2.0), examples(0.3, -0.2, 1.0), torch.tensor([True, False, True])
    halves = (slice(0, 1), slice(1, 3))
    torch.testing.assert_close(
        sum(dpo_loss(chosen[half], rejected[half], pair_count=3) for half in halves), dpo_loss(chosen, rejected)
    )
    torch.testing.assert_close(
        sum(apo_zero_loss(chosen[half], is_good[half], example_count=3) for half in halves),
        apo_zero_loss(chosen, is_good),
    )


def test_nothing_to_learn_from_gives_zero():
    nobody = torch.zeros(0, dtype=torch.bool)
    assert dpo_loss(NOTHING, NOTHING) == 0
    assert kto_loss(NOTHING, nobody, torch.tensor(0.0)) == 0
    assert apo_zero_loss(NOTHING, nobody) == 0


def test_pairs_of_unequal_number_are_refused():
    with pytest.raises(ValueError, match="one length"):
        dpo_loss(examples(1.0, 2.0), examples(1.0))
    with pytest.raises(ValueError, match="one length"):
        apo_zero_loss(examples(1.0)[None], torch.tensor([[True]]))
