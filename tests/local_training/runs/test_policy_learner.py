"""Learning from own answers: the gradient gathered group by group is that of one plain formula over the whole step."""

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest

from local_training.runs.drawing import draw_groups
from local_training.runs.recipe import Recipe
from local_training.runs.signals import Interrupted
from local_training.runs.worktime import WorkTime
from local_training.trajectory import TrajectorySegment
from tests.local_training.runs.sampling import LOUD, RIGHT, Said, ScriptedSampler, inputs_of, recipe_of, task_of
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.runs.policy_learner import PolicyLearner, sampling_figures  # noqa: E402
from tests.local_training.runs.policies import (  # noqa: E402
    anchored,
    answered,
    gradient_by,
    guard_of,
    has_no_gradient,
)
from tests.support.tiny_policy import random_adapter, tiny_policy  # noqa: E402
from tests.support.whole_graph import gradient_of, relative_error  # noqa: E402

torch.set_num_threads(1)

PROMPTS = {"a": tuple((7 * n) % 61 for n in range(20)), "b": (3, 1, 4, 1, 5), "c": (9, 9)}
TEXTS = {"a": ("yes!", "no", "no!"), "b": ("yes", "yes", "no"), "c": ("no", "no", "no")}
"""Rewards 1, 0 and a half; a half, a half and 0; and a group without any difference."""
REWARDS = {"a": (1.0, 0.0, 0.5), "b": (0.5, 0.5, 0.0)}
ANSWERS = {
    "a": ((1, 2, 3), (4, 5, 6, 7, 8), (9,)),
    "b": ((11, 12), (13, 14, 15, 16, 17, 18, 19), (20, 21, 22)),
    "c": ((30,), (31, 32), (33,)),
}
GAPS = (0.0, 0.2, -0.3, 1.1, 2.0, -1.2, 0.05)
"""Trainer minus sampler, in nats: weights of 1, 1.2, 0.7, 3, 7.4, 0.3 and 1.05."""
TASKS = tuple(task_of(name, RIGHT, LOUD) for name in PROMPTS)


def recipe(kind: str = "rl", **tables: Any) -> Recipe:
    given = {"batch": {}, "rollouts": {}} | tables
    given["batch"] = {"prompts": 3} | given["batch"]
    given["rollouts"] = {"branches": 3, "max_tokens": 8, "waves": 1} | given["rollouts"]
    return recipe_of(kind, **given)


def gap_of(name: str, branch: int, place: int) -> float:
    return GAPS[(place + 2 * branch + len(name) * ord(name)) % len(GAPS)]


def sampler_for(policy, *, gaps: bool = True, texts=TEXTS) -> ScriptedSampler:
    """Answers with log-probabilities that differ from the trainer's by `GAPS`, or not at all."""

    def say(name: str, branch: int) -> Said:
        answer = ANSWERS[name][branch]
        with torch.no_grad():
            trainer = answered(policy, PROMPTS[name], answer).tolist()
        far = [value - (gap_of(name, branch, place) if gaps else 0.0) for place, value in enumerate(trainer)]
        # A sampler's probability cannot be above 1.
        return Said(texts[name][branch], answer, logprobs=tuple(min(value, -1e-4) for value in far))

    return ScriptedSampler(say)


@dataclass(frozen=True)
class Learnt:
    """What one call of `learn` gave, the gradient it left, and what it drew."""

    learned: Any
    gradient: Any
    drawn: Any
    told: list


def learn(policy, recipe_: Recipe, sampler: ScriptedSampler | None = None, check=lambda: None) -> Learnt:
    sampler = sampler or sampler_for(policy)
    inputs = inputs_of(TASKS, prompts=PROMPTS)
    told: list = []
    learner = PolicyLearner(
        policy,
        inputs,
        sampler,
        recipe_,
        guard=guard_of(policy, recipe_),
        work=WorkTime(),
        check=check,
        tell=lambda *progress: told.append(progress),
    )
    learned = learner.learn(step=2, start=0)
    drawn = draw_groups(inputs, sampler, recipe_, step=2, start=0)
    return Learnt(learned, gradient_of(policy), drawn, told)


def centred(rewards: tuple[float, ...]) -> list[float]:
    mean = sum(rewards) / len(rewards)
    return [reward - mean for reward in rewards]


def divided(rewards: tuple[float, ...]) -> list[float]:
    away = centred(rewards)
    deviation = math.sqrt(sum(value**2 for value in away) / (len(away) - 1))
    return [value / (deviation + 1e-6) for value in away]


def plain_loss(policy, sampler, *, advantages_of=centred, cap=2.0, band=(0.5, 5.0), kl=0.0):
    """-(1/N) Σ w A ln π + kl (1/N) Σ k3 over all tokens of the groups that differ, whose gradient is that of the step.

    w is trainer over sampler: 0 outside of the band, at most `cap`; N is the number of all those tokens.
    """
    count = sum(len(answer) for name in REWARDS for answer in ANSWERS[name])
    total = torch.zeros(())
    for name, rewards in REWARDS.items():
        for branch, advantage in enumerate(advantages_of(rewards)):
            answer = ANSWERS[name][branch]
            logprobs_T = answered(policy, PROMPTS[name], answer)
            anchor_T = anchored(policy, PROMPTS[name], answer)
            said = sampler.say(name, branch).logprobs
            for place in range(len(answer)):
                weight = math.exp(float(logprobs_T[place].detach()) - said[place])
                weight = min(weight, cap) if band[0] <= weight <= band[1] else 0.0
                gap = anchor_T[place] - logprobs_T[place]
                total = total - weight * advantage * logprobs_T[place] / count
                total = total + kl * (gap.exp() - 1 - gap) / count
    return total


@pytest.mark.parametrize(("advantages", "advantages_of"), [("dr_grpo", centred), ("grpo", divided)])
def test_the_gradient_is_that_of_the_plain_formula_over_the_whole_step(advantages: str, advantages_of):
    policy = tiny_policy()
    sampler = sampler_for(policy)
    expected = gradient_by(policy, plain_loss(policy, sampler, advantages_of=advantages_of))
    found = learn(policy, recipe(loss={"advantages": advantages}), sampler)
    assert relative_error(found.gradient, expected) <= 1e-4


@pytest.mark.parametrize(
    ("loss", "plain"),
    [
        ({"cap": 1.0}, {"cap": 1.0}),
        ({"cap": 100.0, "band_low": 0.0, "band_high": 100.0}, {"cap": 100.0, "band": (0.0, 100.0)}),
        ({"band_low": 0.8, "band_high": 1.5}, {"band": (0.8, 1.5)}),
    ],
    ids=["cap of one", "whole weights", "narrow band"],
)
def test_weights_are_capped_and_banded_as_the_recipe_says(loss: dict[str, Any], plain: dict[str, Any]):
    policy = tiny_policy()
    sampler = sampler_for(policy)
    expected = gradient_by(policy, plain_loss(policy, sampler, **plain))
    usual = gradient_by(policy, plain_loss(policy, sampler))
    found = learn(policy, recipe(loss=loss), sampler)
    assert relative_error(found.gradient, expected) <= 1e-4
    assert relative_error(found.gradient, usual) > 1e-2


def test_without_a_gap_every_weight_is_one():
    policy = tiny_policy()
    sampler = sampler_for(policy, gaps=False)
    unweighted = gradient_by(policy, plain_loss(policy, sampler, cap=1.0, band=(0.0, math.inf)))
    assert relative_error(learn(policy, recipe(), sampler).gradient, unweighted) <= 1e-3


def test_the_kl_to_the_anchor_is_added_token_by_token(tmp_path):
    policy = tiny_policy(expert=random_adapter(tmp_path / "expert", tiny_policy()))
    sampler = sampler_for(policy)
    expected = gradient_by(policy, plain_loss(policy, sampler, kl=0.5))
    without = gradient_by(policy, plain_loss(policy, sampler))
    found = learn(policy, recipe(loss={"kl": 0.5}), sampler)
    assert relative_error(found.gradient, expected) <= 1e-4
    assert relative_error(found.gradient, without) > 1e-2


@pytest.mark.parametrize("graph_tokens", [1, 26, 40, 10_000])
@pytest.mark.parametrize("checkpointing", [False, True])
def test_the_size_of_a_graph_does_not_change_the_gradient(graph_tokens: int, checkpointing: bool):
    policy = tiny_policy(checkpointing=checkpointing)
    sampler = sampler_for(policy)
    expected = gradient_by(policy, plain_loss(policy, sampler, kl=0.1))
    found = learn(policy, recipe(loss={"kl": 0.1}, batch={"graph_tokens": graph_tokens}), sampler)
    assert relative_error(found.gradient, expected) <= 1e-4


def test_long_prompts_are_replayed_with_the_same_gradient_in_any_graph():
    policy = tiny_policy()
    sampler = sampler_for(policy)
    gradients = [
        learn(policy, recipe(batch=batch), sampler).gradient
        for batch in (
            {"short_prompt_tokens": 0},
            {"through_prompt": False},
            {"through_prompt": False, "graph_tokens": 1},
        )
    ]
    whole = learn(policy, recipe(), sampler).gradient
    assert all(relative_error(gradient, gradients[0]) <= 1e-4 for gradient in gradients)
    assert relative_error(gradients[0], whole) > 1e-2


def test_a_gradient_from_before_is_not_added_to():
    policy = tiny_policy()
    sampler = sampler_for(policy)
    first = learn(policy, recipe(), sampler).gradient
    assert torch.equal(learn(policy, recipe(), sampler).gradient, first)


def test_masked_answers_neither_teach_nor_count():
    policy = tiny_policy()
    whole = sampler_for(policy)
    cut = ScriptedSampler(
        lambda name, branch: replace(whole.say(name, branch), finish="length" if (name, branch) == ("a", 2) else "eos")
    )
    found = learn(policy, recipe(reward={"unfinished": "mask"}), cut)
    tokens = sum(len(answer) for name in "ab" for answer in ANSWERS[name]) - len(ANSWERS["a"][2])
    assert found.learned.trained_tokens == tokens
    assert found.learned.figures["unfinished_share"] == pytest.approx(1 / 9)


# Figures


def test_the_figures_of_a_step_are_those_of_its_tokens():
    policy = tiny_policy()
    sampler = sampler_for(policy)
    found = learn(policy, recipe(), sampler)
    figures = found.learned.figures
    trainer = {
        (name, branch): answered(policy, PROMPTS[name], answer).tolist()
        for name in REWARDS
        for branch, answer in enumerate(ANSWERS[name])
    }
    gaps = [
        own - theirs
        for (name, branch), values in trainer.items()
        for own, theirs in zip(values, sampler.say(name, branch).logprobs, strict=True)
    ]
    values = [value for row in trainer.values() for value in row]
    assert found.learned.trained_tokens == len(values) == 21
    assert figures["entropy_nats"] == pytest.approx(-sum(values) / 21, rel=1e-5)
    assert figures["mismatch_nats"] == pytest.approx(sum(map(abs, gaps)) / 21, rel=1e-4)
    assert figures["masked_share"] == pytest.approx(sum(not 0.5 <= math.exp(gap) <= 5.0 for gap in gaps) / 21, rel=1e-6)
    assert figures["above_cap_share"] == pytest.approx(sum(math.exp(gap) > 2.0 for gap in gaps) / 21)
    assert 0.0 < figures["masked_share"] < figures["above_cap_share"] + figures["masked_share"] < 1.0
    assert figures["groups_kept"] == 2 and figures["groups_drawn"] == 3
    assert figures["reward"] == pytest.approx(2.5 / 9)
    assert figures["accuracy"] == pytest.approx(3 / 9)
    assert figures["length_tokens"] == pytest.approx(25 / 9)
    assert (figures["rollout_tokens"], figures["unfinished_share"]) == (25, 0.0)


def test_the_shares_of_capped_and_masked_tokens_are_by_the_recipes_numbers():
    policy = tiny_policy()
    sampler = sampler_for(policy)
    usual, narrow, wide = (
        learn(policy, recipe(loss=loss), sampler).learned.figures
        for loss in (
            {},
            {"cap": 1.0, "band_low": 0.8, "band_high": 1.5},
            {"cap": 100.0, "band_low": 0.0, "band_high": 100.0},
        )
    )
    assert (wide["masked_share"], wide["above_cap_share"]) == (0.0, 0.0)
    assert 0.0 < usual["masked_share"] < narrow["masked_share"]
    assert usual["above_cap_share"] < narrow["above_cap_share"]


@pytest.mark.parametrize(("kl", "groups"), [(0.0, 1), (0.1, 2)], ids=["looked at", "held back by"])
def test_the_kl_on_what_is_trained_is_that_of_one_group_or_of_all_where_it_is_known(tmp_path, kl: float, groups: int):
    policy = tiny_policy(expert=random_adapter(tmp_path / "expert", tiny_policy()))
    found = learn(policy, recipe(loss={"kl": kl}))
    gaps = [
        float(theirs - own)
        for name in [group.task_id for group in found.drawn.kept][:groups]
        for answer in ANSWERS[name]
        for theirs, own in zip(
            anchored(policy, PROMPTS[name], answer), answered(policy, PROMPTS[name], answer).detach(), strict=True
        )
    ]
    expected = sum(math.exp(gap) - 1 - gap for gap in gaps) / len(gaps)
    assert found.learned.figures["kl_target_nats"] == pytest.approx(expected, rel=1e-3)


def test_the_loss_is_the_value_of_the_clipped_objective():
    policy = tiny_policy()
    sampler = sampler_for(policy)
    found = learn(policy, recipe(), sampler).learned
    count, total = 21, 0.0
    for name, rewards in REWARDS.items():
        for branch, advantage in enumerate(centred(rewards)):
            own = answered(policy, PROMPTS[name], ANSWERS[name][branch]).tolist()
            for value, theirs in zip(own, sampler.say(name, branch).logprobs, strict=True):
                weight = math.exp(value - theirs)
                total -= (min(weight, 2.0) if 0.5 <= weight <= 5.0 else 0.0) * advantage
    assert found.loss == pytest.approx(total / count, rel=1e-4)


def test_places_of_the_order_that_were_drawn_are_used_up_though_some_teach_nothing():
    found = learn(tiny_policy(), recipe())
    assert (found.learned.taken, found.learned.is_barren) == (3, False)


def test_the_policy_is_handed_over_before_anything_is_asked_of_it():
    policy = tiny_policy()
    sampler = sampler_for(policy)
    found = learn(policy, recipe(), sampler)
    assert sampler.handed_over == [2]
    assert found.told == [*(("sampling", n, 3) for n in (1, 2, 3)), ("training", 0, 2), ("training", 1, 2)]


# Nothing to learn


ALIKE = dict.fromkeys(TEXTS, ("no", "no", "no"))


@pytest.mark.parametrize("kind", ["rl", "rft"])
def test_a_step_in_which_all_groups_are_equal_leaves_no_gradient(kind: str):
    policy = tiny_policy()
    found = learn(policy, recipe(kind), sampler_for(policy, texts=ALIKE))
    learned = found.learned
    assert (learned.is_barren, learned.loss, learned.trained_tokens, learned.taken) == (True, 0.0, 0, 3)
    assert has_no_gradient(policy)
    assert learned.figures == sampling_figures(found.drawn)
    assert "entropy_nats" not in learned.figures


def test_a_run_that_shall_end_is_left_between_two_branches():
    policy = tiny_policy()
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise Interrupted("Enough.")

    with pytest.raises(Interrupted):
        learn(policy, recipe(), check=check)
    assert calls == 4


# rft


def imitated(policy, *chosen: tuple[str, int]):
    """Mean negative log-likelihood of these answers' tokens."""
    rows = [answered(policy, PROMPTS[name], ANSWERS[name][branch]) for name, branch in chosen]
    return -torch.cat(rows).mean()


@pytest.mark.parametrize(
    ("loss", "chosen"),
    [
        ({"keep": 1, "at_least": 0.5}, [("a", 0), ("b", 0)]),
        ({"keep": 2, "at_least": 0.5}, [("a", 0), ("a", 2), ("b", 0), ("b", 1)]),
        ({"keep": 9, "at_least": 0.5}, [("a", 0), ("a", 2), ("b", 0), ("b", 1)]),
        ({"keep": 2, "at_least": 0.6}, [("a", 0)]),
    ],
    ids=["the best", "the two best", "all that are good enough", "one group has none"],
)
def test_rft_imitates_the_best_that_are_good_enough_and_nothing_else(loss: dict[str, Any], chosen):
    policy = tiny_policy()
    expected = gradient_by(policy, imitated(policy, *chosen))
    found = learn(policy, recipe("rft", loss=loss))
    assert relative_error(found.gradient, expected) <= 1e-4
    assert found.learned.loss == pytest.approx(float(imitated(policy, *chosen).detach()), rel=1e-5)
    assert found.learned.trained_tokens == sum(len(ANSWERS[name][branch]) for name, branch in chosen)


def test_rft_without_an_answer_that_is_good_enough_learns_nothing():
    policy = tiny_policy()
    found = learn(policy, recipe("rft", loss={"at_least": 1.5}))
    assert found.learned.is_barren
    assert has_no_gradient(policy)
    assert found.learned.figures["groups_kept"] == 0


# Several segments


WRITES = {"a": ((5, 6, 7), (8, 9)), "b": ((10, 11), (12,)), "c": ((13,), (14,))}
"""Of every branch of a task of folding: what it read and wrote before it answered."""


@dataclass
class FoldingSampler(ScriptedSampler):
    """Every branch has written something before its answer, with the trainer's own log-probabilities."""

    policy: Any = None

    def _rollout(self, prompt, branch, seed, step):
        rollout = super()._rollout(prompt, branch, seed, step)
        read, written = (*WRITES[prompt.task_id][0], branch), WRITES[prompt.task_id][1]
        with torch.no_grad():
            logprobs = tuple(answered(self.policy, read, written).tolist())
        return replace(rollout, writes=(TrajectorySegment(read, written, logprobs, ()),))


@pytest.mark.parametrize("kind", ["rl", "rft"])
def test_all_that_a_branch_has_written_shares_the_one_advantage_of_its_reward(kind: str):
    policy = tiny_policy()
    sampler = FoldingSampler(sampler_for(policy, gaps=False).say, policy=policy)
    loss = {"keep": 1, "at_least": 0.5} if kind == "rft" else {}
    found = learn(policy, recipe(kind, loss=loss), sampler)
    credited = []
    for name, rewards in REWARDS.items():
        chosen = {0: 1.0} if kind == "rft" else dict(enumerate(centred(rewards)))
        for branch, advantage in chosen.items():
            credited.append((advantage, answered(policy, PROMPTS[name], ANSWERS[name][branch])))
            credited.append((advantage, answered(policy, (*WRITES[name][0], branch), WRITES[name][1])))
    count = sum(len(logprobs_T) for _, logprobs_T in credited)
    expected = gradient_by(policy, -sum(advantage * logprobs_T.sum() for advantage, logprobs_T in credited) / count)
    assert relative_error(found.gradient, expected) <= 1e-4
    assert found.learned.trained_tokens == count
