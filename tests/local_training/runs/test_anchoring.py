"""Holding a policy to its anchor: the term is zero where nothing moved, exact where it did, and pulls back."""

import pytest

from tests.support import requirements

torch = requirements.require_module("torch")

from local_training.policy import Example, Policy  # noqa: E402
from local_training.runs.anchoring import Anchoring  # noqa: E402
from local_training.runs.general_texts import GENERAL_REQUESTS, everyday_requests  # noqa: E402
from local_training.runs.optimizing import apply_gradients, clear_gradients, make_optimizer  # noqa: E402
from local_training.runs.recipe import AnchorTable, OptimizerTable  # noqa: E402
from tests.support.tiny_policy import stir_adapter, tiny_policy  # noqa: E402

ANSWERS = [Example((1, 2 + n), tuple(range(5, 9 + n))) for n in range(6)]


def nothing() -> None:
    pass


def anchoring(policy: Policy, **table: float) -> Anchoring:
    return Anchoring(policy, ANSWERS, AnchorTable.model_validate({"weight": 1.0, "batch": 6} | table), seed=0)


def whole_kl(policy: Policy) -> torch.Tensor:
    """The same by its definition, from logits, one answer at a time."""
    parts = []
    for example in ANSWERS:
        ids_BT = torch.tensor([[*example.prompt, *example.answer[:-1]]])
        rows = slice(len(example.prompt) - 1, None)
        with policy.using("anchor"), torch.no_grad():
            before_TV = policy.model(ids_BT).logits[0, rows].float().log_softmax(-1)
        after_TV = policy.model(ids_BT).logits[0, rows].float().log_softmax(-1)
        parts.append((before_TV.exp() * (before_TV - after_TV)).sum(-1))
    return torch.cat(parts).mean()


def test_a_policy_that_did_not_move_is_not_pulled():
    policy = tiny_policy(stir=False)
    assert anchoring(policy).accumulate(1, nothing) == pytest.approx(0.0, abs=1e-6)
    assert all(weight.grad is None or weight.grad.abs().max() < 1e-6 for weight in policy.trainable)


def test_the_term_and_its_gradient_are_those_of_the_whole_vocabulary():
    policy = tiny_policy()
    expected = whole_kl(policy)
    gradients = torch.autograd.grad(3.0 * expected, policy.trainable)
    clear_gradients(policy)
    found = anchoring(policy, weight=3.0).accumulate(1, nothing)
    assert found == pytest.approx(float(expected.detach()), rel=1e-4)
    for weight, gradient in zip(policy.trainable, gradients, strict=True):
        assert weight.grad is not None
        assert torch.allclose(weight.grad, gradient, rtol=1e-3, atol=1e-6)


def test_it_pulls_a_policy_back():
    policy = tiny_policy()
    held = anchoring(policy)
    table = OptimizerTable(rate=1e-2, warmup_steps=0)
    optimizer = make_optimizer(policy, table)
    distances = []
    for step in range(1, 13):
        clear_gradients(policy)
        distance = held.accumulate(step, nothing)
        assert distance is not None
        distances.append(distance)
        apply_gradients(policy, optimizer, table.rate, table.clip_norm)
    assert distances[-1] < 0.5 * distances[0]


def test_steps_go_through_all_answers_and_then_again():
    policy = tiny_policy()
    held = anchoring(policy, batch=2)
    found = [held.accumulate(step, nothing) for step in range(1, 4)]
    assert len(set(found)) == 3
    assert all(value is not None and value > 0 for value in found)
    tokens = sum(len(example.answer) for example in ANSWERS)
    assert tokens == 39  # so that the mean below is one over tokens, not over steps
    assert float(whole_kl(policy).detach()) == pytest.approx(sum(v for v in found if v) / 3, rel=0.2)


def test_the_distance_is_that_over_all_answers_and_leaves_no_gradient():
    policy = tiny_policy()
    held = anchoring(policy, batch=1)
    clear_gradients(policy)
    assert held.distance(nothing) == pytest.approx(float(whole_kl(policy).detach()), rel=1e-4)
    assert all(weight.grad is None for weight in policy.trainable)


def test_the_distance_grows_with_the_scale_of_the_adapter():
    policy = tiny_policy()
    held = anchoring(policy)
    whole = held.distance(nothing)
    policy.scale(0.5)
    half = held.distance(nothing)
    policy.scale(2.0)
    assert 0.1 * whole < half < 0.9 * whole
    assert held.distance(nothing) == pytest.approx(whole, rel=1e-5)


def test_without_answers_it_is_off():
    policy = tiny_policy()
    held = Anchoring(policy, (), AnchorTable(), seed=0)
    assert held.accumulate(1, nothing) is None
    assert held.distance(nothing) == 0.0


def test_without_weight_it_does_not_pull_but_still_measures():
    policy = tiny_policy()
    held = anchoring(policy, weight=0.0)
    assert held.accumulate(1, nothing) is None
    assert held.distance(nothing) > 0


def test_the_anchor_is_that_of_the_beginning_whatever_the_policy_has_become():
    policy = tiny_policy(stir=False)
    held = anchoring(policy)
    stir_adapter(policy)
    assert held.accumulate(1, nothing) == pytest.approx(float(whole_kl(policy).detach()), rel=1e-4)


def test_nothing_that_is_held_to_is_also_measured():
    requests = everyday_requests()
    assert len(requests) >= 64 and len(set(requests)) == len(requests)
    assert not set(requests) & set(GENERAL_REQUESTS)
    assert sum(any("\u4e00" <= character <= "\u9fff" for character in text) for text in requests) >= 20
