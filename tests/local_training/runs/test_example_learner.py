"""Learning from given answers: the gradient gathered example by example is that of the plain loss in one graph."""

import math
from typing import Any

import pytest

from engine.runtime.protocol import Tokens
from local_training.runs.order import take
from local_training.runs.recipe import Recipe
from local_training.runs.signals import Interrupted
from local_training.runs.worktime import WorkTime
from tests.local_training.runs.sampling import recipe_of
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.runs.example_learner import ExampleLearner  # noqa: E402
from local_training.runs.inputs import TokenExample  # noqa: E402
from tests.local_training.runs.policies import anchored, answered, gradient_by, guard_of  # noqa: E402
from tests.support.tiny_policy import random_adapter, tiny_policy  # noqa: E402
from tests.support.whole_graph import gradient_of, relative_error  # noqa: E402

torch.set_num_threads(1)

BETA = 0.3
FAMILIAR = 0.016
"""About what a model of 64 words that knows nothing gives each: some of the tokens below are more likely to it."""


def example(number: int, prompt: Tokens, answer: Tokens, rejected: Tokens = (), is_good: bool = True) -> TokenExample:
    return TokenExample(f"e-{number}", prompt, answer, rejected, is_good)


SINGLE = (
    example(0, tuple((5 * n) % 61 for n in range(18)), (1, 2, 3)),
    example(1, (9,), (4, 5, 6, 7, 8, 9, 10), is_good=False),
    example(2, (3, 1, 4, 1, 5), (20,)),
    example(3, (2, 7, 1), (30, 31, 32, 33), is_good=False),
)
PAIRS = (
    example(0, tuple((5 * n) % 61 for n in range(18)), (1, 2, 3), (40, 41)),
    example(1, (9,), (4, 5, 6, 7, 8, 9, 10), (50,)),
    example(2, (3, 1, 4, 1, 5), (20,), (21, 22, 23, 24, 25)),
)
KINDS: list[tuple[str, dict[str, Any], tuple[TokenExample, ...]]] = [
    ("sft", {}, SINGLE),
    ("sft", {"familiar": FAMILIAR}, SINGLE),
    ("dpo", {"beta": BETA}, PAIRS),
    ("kto", {"beta": BETA}, SINGLE),
    ("kto", {"beta": BETA, "reference": "batch"}, SINGLE),
]
EVERY_KIND = pytest.mark.parametrize(
    ("kind", "loss", "given"), KINDS, ids=["sft", "sft_familiar", "dpo", "kto_zero", "kto_batch"]
)


def recipe(kind: str, count: int, loss: dict[str, Any] | None = None, **batch: Any) -> Recipe:
    return recipe_of(kind, loss=loss or {}, batch={"examples": count, **batch})


def learner_of(policy, given, recipe_: Recipe, *, check=lambda: None, told: list | None = None) -> ExampleLearner:
    told = [] if told is None else told
    return ExampleLearner(
        policy,
        given,
        recipe_,
        guard=guard_of(policy, recipe_),
        work=WorkTime(),
        check=check,
        tell=lambda *progress: told.append(progress),
    )


def ratio(policy, prompt: Tokens, answer: Tokens):
    """ln policy/anchor of a whole answer."""
    return answered(policy, prompt, answer).sum() - anchored(policy, prompt, answer).sum()


def reference_point(policy, batch) -> float:
    """Mean log-ratio of each prompt with the answer of the next example, at least 0."""
    following = [*batch[1:], batch[0]]
    with torch.no_grad():
        ratios = [float(ratio(policy, one.prompt, other.answer)) for one, other in zip(batch, following, strict=True)]
    return max(0.0, sum(ratios) / len(ratios))


def plain_loss(policy, kind: str, loss: dict[str, Any], batch):
    """The loss of a batch from its definition, in one graph."""
    if kind == "sft":
        mine_N = torch.cat([answered(policy, one.prompt, one.answer) for one in batch])
        if "familiar" not in loss:
            return -mine_N.mean()
        anchor_N = torch.cat([anchored(policy, one.prompt, one.answer) for one in batch])
        is_new_N = anchor_N <= math.log(loss["familiar"])
        kept_N = 0.5 * (mine_N - anchor_N)[~is_new_N] ** 2
        return (kept_N.sum() - mine_N[is_new_N].sum()) / is_new_N.sum()
    if kind == "dpo":
        margins = [ratio(policy, one.prompt, one.answer) - ratio(policy, one.prompt, one.rejected) for one in batch]
        return -torch.stack([(BETA * margin).sigmoid().log() for margin in margins]).mean()
    point = reference_point(policy, batch) if loss.get("reference") == "batch" else 0.0
    signs = [1 if one.is_good else -1 for one in batch]
    moved = [ratio(policy, one.prompt, one.answer) - point for one in batch]
    return torch.stack([1 - (BETA * sign * by).sigmoid() for sign, by in zip(signs, moved, strict=True)]).mean()


def test_some_of_the_tokens_are_familiar_to_the_model_and_some_are_not():
    policy = tiny_policy()
    anchor_N = torch.cat([anchored(policy, one.prompt, one.answer) for one in SINGLE])
    assert 0 < int((anchor_N > math.log(FAMILIAR)).sum()) < len(anchor_N)


@EVERY_KIND
@pytest.mark.parametrize("graph_tokens", [1, 10_000])
def test_loss_and_gradient_are_those_of_the_plain_loss_in_one_graph(kind, loss, given, graph_tokens):
    policy = tiny_policy()
    batch = take(given, 0, len(given), seed=0)
    plain = plain_loss(policy, kind, loss, batch)
    expected = gradient_by(policy, plain)
    learned = learner_of(policy, given, recipe(kind, len(given), loss, graph_tokens=graph_tokens)).learn(1, 0)
    assert learned.loss == pytest.approx(float(plain.detach()), rel=1e-4)
    assert relative_error(gradient_of(policy), expected) <= 1e-4


@EVERY_KIND
def test_the_anchor_is_the_frozen_expert(tmp_path, kind, loss, given):
    policy = tiny_policy(expert=random_adapter(tmp_path / "expert", tiny_policy()))
    batch = take(given, 0, len(given), seed=0)
    expected = gradient_by(policy, plain_loss(policy, kind, loss, batch))
    learner_of(policy, given, recipe(kind, len(given), loss)).learn(1, 0)
    assert relative_error(gradient_of(policy), expected) <= 1e-4


@EVERY_KIND
def test_a_batch_is_the_next_examples_of_the_runs_order(kind, loss, given):
    policy = tiny_policy()
    batch = take(given, 5, 2, seed=0)
    expected = gradient_by(policy, plain_loss(policy, kind, loss, batch))
    learned = learner_of(policy, given, recipe(kind, 2, loss)).learn(3, 5)
    assert relative_error(gradient_of(policy), expected) <= 1e-4
    assert learned.taken == 2
    assert learned.trained_tokens == sum(len(one.answer) + len(one.rejected) for one in batch)


def test_the_reference_point_of_a_batch_does_make_a_difference():
    policy, batch = tiny_policy(), take(SINGLE, 0, 4, seed=0)
    assert reference_point(policy, batch) > 0.1
    zero, moved = (gradient_by(policy, plain_loss(policy, "kto", loss, batch)) for _, loss, _ in KINDS[-2:])
    assert relative_error(zero, moved) > 1e-2


def test_one_example_alone_has_no_reference_point():
    policy = tiny_policy()
    given = (SINGLE[3],)
    expected = gradient_by(policy, plain_loss(policy, "kto", {}, given))
    for count in (1, 2):
        learner_of(policy, given, recipe("kto", count, {"beta": BETA, "reference": "batch"})).learn(1, 0)
        assert relative_error(gradient_of(policy), expected) <= 1e-4


def test_long_prompts_are_replayed():
    policy = tiny_policy()
    replayed = []
    for batch in ({"short_prompt_tokens": 0}, {"through_prompt": False}):
        learner_of(policy, PAIRS, recipe("dpo", 3, {"beta": BETA}, **batch)).learn(1, 0)
        replayed.append(gradient_of(policy))
    whole = gradient_by(policy, plain_loss(policy, "dpo", {}, take(PAIRS, 0, 3, seed=0)))
    assert relative_error(replayed[0], replayed[1]) <= 1e-4
    assert relative_error(replayed[0], whole) > 1e-3


@EVERY_KIND
def test_the_accuracy_is_the_share_on_the_right_side(kind, loss, given):
    policy = tiny_policy()
    learned = learner_of(policy, given, recipe(kind, len(given), loss)).learn(1, 0)
    with torch.no_grad():
        if kind == "sft":
            expected = None
        elif kind == "dpo":
            sides = [ratio(policy, one.prompt, one.answer) > ratio(policy, one.prompt, one.rejected) for one in given]
            expected = sum(map(bool, sides)) / len(sides)
        else:
            sides = [(ratio(policy, one.prompt, one.answer) > 0) == one.is_good for one in given]
            expected = sum(map(bool, sides)) / len(sides)
    assert learned.figures.get("accuracy") == expected


@EVERY_KIND
def test_a_new_adapter_is_at_its_anchor(kind, loss, given):
    learned = learner_of(tiny_policy(stir=False), given, recipe(kind, len(given), loss)).learn(1, 0)
    if kind != "sft":
        assert learned.loss == pytest.approx(math.log(2) if kind == "dpo" else 0.5)


def in_common() -> tuple[TokenExample, ...]:
    """Four examples of which three begin alike and two of these ask the same."""
    head = tuple((7 * n) % 61 for n in range(12))
    return (
        example(0, (*head, 5, 6), (1, 2, 3)),
        example(1, (9, 8, 7), (4, 5)),
        example(2, (*head, 5, 6), (30, 31)),
        example(3, (*head, 44), (20,)),
    )


@pytest.mark.parametrize("graph_tokens", [1, 24, 10_000])
def test_what_examples_have_in_common_is_read_once_and_changes_no_gradient(graph_tokens: int):
    policy, given = tiny_policy(), in_common()
    learned = learner_of(policy, given, recipe("sft", 4, graph_tokens=graph_tokens)).learn(1, 0)
    tokens = sum(len(one.answer) for one in given)
    found = [weight.grad.clone() for weight in policy.trainable]
    expected_loss = -sum(answered(policy, one.prompt, one.answer).sum() for one in given) / tokens
    expected = torch.autograd.grad(expected_loss, policy.trainable)
    assert learned.loss == pytest.approx(float(expected_loss.detach()), rel=1e-4)
    assert learned.trained_tokens == tokens
    for mine, other in zip(found, expected, strict=True):
        assert torch.allclose(mine, other, rtol=1e-3, atol=1e-5)


def test_examples_that_follow_each_other_and_begin_alike_are_drawn_together():
    head, other = (1, 2, 3, 4), (5, 6, 7, 8)
    given = [example(number, (*beginning, number), (9,)) for number, beginning in enumerate([head] * 3 + [other] * 2)]
    seen: list[set[int]] = []
    learner = learner_of(tiny_policy(), given, recipe("sft", 2, pack=2))
    place = 0
    for step in range(1, 4):
        learned = learner.learn(step, place)
        assert learned.taken == 1
        place += learned.taken
        seen.append({learned.trained_tokens})
    # Two, the third alone since another beginning follows, and the other two: in some order.
    assert sorted(count for one in seen for count in one) == [1, 2, 2]


def test_a_file_that_goes_from_easy_to_hard_is_learned_in_its_order():
    given = [example(number, (number, number), (9,) * (number + 1)) for number in range(4)]
    learner = learner_of(tiny_policy(), given, recipe("sft", 1, order="file"))
    assert [learner.learn(1, start).trained_tokens for start in range(5)] == [1, 2, 3, 4, 1]


def test_progress_is_told_example_by_example():
    told: list = []
    learner_of(tiny_policy(), SINGLE, recipe("sft", 3), told=told).learn(1, 0)
    assert told == [("training", number, 3) for number in range(3)]


@EVERY_KIND
def test_a_run_that_shall_end_is_left_amid_a_batch(kind, loss, given):
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Interrupted("Enough.")

    with pytest.raises(Interrupted):
        learner_of(tiny_policy(), given, recipe(kind, len(given), loss), check=check).learn(1, 0)
    assert calls == 2


# Judging what is held out


@EVERY_KIND
def test_a_held_out_example_has_the_loss_of_a_batch_of_one(kind, loss, given):
    policy = tiny_policy()
    learner = learner_of(policy, given, recipe(kind, 4, loss))
    for one in given:
        with torch.no_grad():
            expected = float(plain_loss(policy, kind, {}, [one]))
        assert learner.judge(one).loss == pytest.approx(expected, rel=1e-4)


def test_it_is_said_whether_the_policy_is_on_its_right_side():
    policy = tiny_policy()
    pairs = learner_of(policy, PAIRS, recipe("dpo", 3))
    single = learner_of(policy, SINGLE, recipe("kto", 4))
    with torch.no_grad():
        for one in PAIRS:
            margin = float(ratio(policy, one.prompt, one.answer) - ratio(policy, one.prompt, one.rejected))
            turned = TokenExample("turned", one.prompt, one.rejected, one.answer, True)
            assert (pairs.judge(one).is_right, pairs.judge(turned).is_right) == (margin > 0, margin < 0)
        for one in SINGLE:
            moved = float(ratio(policy, one.prompt, one.answer))
            turned = TokenExample("turned", one.prompt, one.answer, (), not one.is_good)
            assert single.judge(one).is_right is ((moved > 0) == one.is_good)
            assert single.judge(turned).is_right is not single.judge(one).is_right
    assert learner_of(policy, SINGLE, recipe("sft", 4)).judge(SINGLE[0]).is_right is None


def test_judging_leaves_no_gradient_and_the_policy_active():
    policy = tiny_policy()
    before = answered(policy, (5, 6), (7, 8)).detach()
    learner_of(policy, PAIRS, recipe("dpo", 3)).judge(PAIRS[0])
    assert all(weight.grad is None for weight in policy.trainable)
    assert torch.equal(answered(policy, (5, 6), (7, 8)).detach(), before)
