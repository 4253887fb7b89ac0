"""One optimizer step: its rate, its length, and what it refuses."""

import math

import pytest

from engine.errors import RuntimeFailed
from local_training.runs.recipe import OptimizerTable
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.runs.optimizing import apply_gradients, clear_gradients, make_optimizer, rate_at  # noqa: E402
from tests.support.tiny_policy import tiny_policy  # noqa: E402

torch.set_num_threads(1)

FAR = 1e9
"""A length that no gradient here has."""


def rates(steps: int, **table: object) -> list[float]:
    options = OptimizerTable.model_validate({"rate": 1.0, **table})
    return [rate_at(step, steps, options) for step in range(1, steps + 1)]


@pytest.mark.parametrize(
    ("schedule", "warmup", "expected"),
    [
        ("constant", 0, [1.0, 1.0, 1.0, 1.0]),
        ("constant", 2, [0.5, 1.0, 1.0, 1.0]),
        ("linear", 0, [1.0, 0.75, 0.5, 0.25]),
        ("linear", 2, [0.5, 1.0, 1.0, 0.5]),
        ("constant", 8, [0.125, 0.25, 0.375, 0.5]),
        ("linear", 4, [0.25, 0.5, 0.75, 1.0]),
    ],
)
def test_the_rate_rises_over_the_warm_up_then_stays_or_falls(schedule: str, warmup: int, expected: list[float]):
    assert rates(4, schedule=schedule, warmup_steps=warmup) == pytest.approx(expected)


@pytest.mark.parametrize("steps", [1, 2, 50])
@pytest.mark.parametrize("warmup", [0, 1, 2])
@pytest.mark.parametrize("schedule", ["constant", "linear"])
def test_no_step_is_without_a_rate_and_none_is_above_it(steps: int, warmup: int, schedule: str):
    assert all(0.0 < rate <= 1.0 for rate in rates(steps, schedule=schedule, warmup_steps=warmup))


def policy_with_gradient(size: float = 1.0):
    """A policy whose gradients are random numbers, and an optimizer of it with the recipe's default numbers."""
    policy = tiny_policy()
    random = torch.Generator().manual_seed(5)
    for weight in policy.trainable:
        weight.grad = size * torch.randn(weight.shape, generator=random)
    return policy, make_optimizer(policy, OptimizerTable())


def copies(policy) -> list:
    return [weight.detach().clone() for weight in policy.trainable]


def are_equal(policy, before) -> bool:
    return all(torch.equal(weight, old) for weight, old in zip(policy.trainable, before, strict=True))


def adamw(weight, gradient, table: OptimizerTable, rate: float, steps: int):
    """`steps` steps of AdamW with one gradient, from its paper, in float64."""
    weight, gradient = weight.double(), gradient.double()
    first, second = torch.zeros_like(weight), torch.zeros_like(weight)
    for step in range(1, steps + 1):
        weight = weight * (1 - rate * table.weight_decay)
        first = table.beta1 * first + (1 - table.beta1) * gradient
        second = table.beta2 * second + (1 - table.beta2) * gradient**2
        moved = first / (1 - table.beta1**step)
        weight = weight - rate * moved / ((second / (1 - table.beta2**step)).sqrt() + 1e-8)
    return weight


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_a_step_is_one_of_adamw_with_the_recipes_numbers(decay: float):
    table = OptimizerTable(beta1=0.8, beta2=0.95, weight_decay=decay)
    policy, _ = policy_with_gradient()
    optimizer = make_optimizer(policy, table)
    before, gradients = copies(policy), [weight.grad.clone() for weight in policy.trainable]
    for _ in range(2):
        for weight, gradient in zip(policy.trainable, gradients, strict=True):
            weight.grad = gradient.clone()
        apply_gradients(policy, optimizer, 0.01, FAR)
    for weight, old, gradient in zip(policy.trainable, before, gradients, strict=True):
        expected = adamw(old, gradient, table, 0.01, 2)
        torch.testing.assert_close(weight.detach().double(), expected, rtol=1e-5, atol=1e-6)


def test_the_norm_given_is_that_before_it_was_shortened():
    policy, optimizer = policy_with_gradient()
    whole = math.sqrt(sum(float(weight.grad.double().square().sum()) for weight in policy.trainable))
    assert apply_gradients(policy, optimizer, 0.01, 1.0) == pytest.approx(whole, rel=1e-5)


def test_a_long_gradient_is_shortened_and_a_short_one_is_not():
    # AdamW's first moment after one step is a tenth of the gradient it was given.
    lengths = []
    for size in (1e-3, 10.0):
        policy, optimizer = policy_with_gradient(size)
        norm = apply_gradients(policy, optimizer, 0.01, 2.0)
        moments = [optimizer.state[weight]["exp_avg"] for weight in policy.trainable]
        lengths.append((norm, 10 * float(torch.cat([one.flatten() for one in moments]).norm())))
    (short, short_given), (long, long_given) = lengths
    assert short < 2.0 < long
    assert short_given == pytest.approx(short, rel=1e-4)
    assert long_given == pytest.approx(2.0, rel=1e-4)


def test_after_a_step_no_gradient_is_left():
    policy, optimizer = policy_with_gradient()
    apply_gradients(policy, optimizer, 0.01, 1.0)
    assert all(weight.grad is None for weight in policy.trainable)


def test_the_rate_of_each_step_is_the_one_it_is_given():
    policy, optimizer = policy_with_gradient()
    before = copies(policy)
    apply_gradients(policy, optimizer, 1e-12, 1.0)
    # AdamW's first step moves every number by the rate.
    moved = max(float((new.detach() - old).abs().max()) for new, old in zip(policy.trainable, before, strict=True))
    assert moved < 1e-8
    assert {group["lr"] for group in optimizer.param_groups} == {1e-12}


@pytest.mark.parametrize("fault", [float("nan"), float("inf"), -float("inf")])
def test_a_gradient_that_is_no_number_changes_nothing(fault: float):
    policy, optimizer = policy_with_gradient()
    before = copies(policy)
    policy.trainable[3].grad.view(-1)[1] = fault
    with pytest.raises(RuntimeFailed, match="The gradient is no longer made of numbers") as caught:
        apply_gradients(policy, optimizer, 0.01, 1.0)
    assert "optimizer.rate" in caught.value.hint
    assert are_equal(policy, before)
    assert not optimizer.state


def test_an_adapter_that_is_no_number_is_refused_and_no_other_weight_is_touched_by_that():
    policy, optimizer = policy_with_gradient()
    frozen = {name: weight.clone() for name, weight in policy.model.named_parameters() if "lora_" not in name}
    with torch.no_grad():
        policy.trainable[0].view(-1)[0] = float("nan")
    with pytest.raises(RuntimeFailed, match="The adapter is no longer made of numbers"):
        apply_gradients(policy, optimizer, 0.01, 1.0)
    now = dict(policy.model.named_parameters())
    assert all(torch.equal(now[name], weight) for name, weight in frozen.items())


def test_without_any_gradient_nothing_moves():
    policy, optimizer = policy_with_gradient()
    clear_gradients(policy)
    before = copies(policy)
    assert apply_gradients(policy, optimizer, 0.5, 1.0) == 0.0
    assert are_equal(policy, before)
    assert not optimizer.state


def test_a_weight_without_a_gradient_stays_while_the_others_move():
    policy, optimizer = policy_with_gradient()
    policy.trainable[2].grad = None
    before = copies(policy)
    apply_gradients(policy, optimizer, 0.01, 1.0)
    stayed = [torch.equal(weight, old) for weight, old in zip(policy.trainable, before, strict=True)]
    assert [place for place, is_same in enumerate(stayed) if is_same] == [2]
