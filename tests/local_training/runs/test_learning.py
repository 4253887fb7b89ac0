"""Memory that runs short: graphs become smaller, which is said, and the gradient is the same."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.errors import OutOfMemory
from local_training.runs.recipe import BatchTable
from local_training.runs.signals import Interrupted
from local_training.runs.worktime import WorkTime
from tests.local_training.runs.sampling import recipe_of
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.replay import Plan, accumulate  # noqa: E402
from local_training.runs.example_learner import ExampleLearner  # noqa: E402
from local_training.runs.inputs import TokenExample  # noqa: E402
from local_training.runs.learning import MemoryGuard, everything, guarded, row  # noqa: E402
from tests.local_training.runs.policies import has_no_gradient  # noqa: E402
from tests.support.tiny_policy import tiny_policy  # noqa: E402
from tests.support.whole_graph import gradient_of, relative_error  # noqa: E402

torch.set_num_threads(1)

PROMPT = tuple(range(5, 15))
BRANCHES = [(1, 2, 3, 4, 5, 6, 7, 8), (9, 10, 11, 12), (13, 14), (15, 16, 17, 18, 19, 20)]


class Scarce:
    """A policy that has no memory for more than `most` tokens in one pass; `passes` are those that did fit."""

    def __init__(self, most: int) -> None:
        self.policy = tiny_policy()
        self.most = most
        self.passes: list[int] = []
        self._hidden = self.policy.hidden
        self.policy.hidden = self._limited  # type: ignore[method-assign]

    def _limited(self, ids_BT: Any, *args: Any, **options: Any) -> Any:
        if ids_BT.numel() > self.most:
            raise MemoryError
        self.passes.append(ids_BT.numel())
        return self._hidden(ids_BT, *args, **options)


def loss_of_branch(number: int, logprobs_T):
    return (number + 1) * logprobs_T.sum()


def gathered(scarce: Scarce, notes: list[str], loss=loss_of_branch, **table: Any) -> float:
    guard = MemoryGuard(scarce.policy, BatchTable(**table), 0.0, notes.append)

    def gather() -> float:
        # Two prompts: what the first gave before memory ran short must not count twice.
        prompts = [PROMPT[:3], PROMPT]
        return sum(
            accumulate(scarce.policy, prompt, BRANCHES, loss, plan=guard.plan(prompt, BRANCHES)).loss
            for prompt in prompts
        )

    return guard.gathered(gather)


def test_where_memory_runs_short_graphs_are_halved_which_is_said_and_the_result_is_the_same():
    roomy, scarce = Scarce(10_000), Scarce(24)
    notes: list[str] = []
    expected = gathered(roomy, notes, graph_tokens=256)
    assert notes == []
    found = gathered(scarce, notes, graph_tokens=256)
    assert found == pytest.approx(expected, rel=1e-5)
    assert relative_error(gradient_of(scarce.policy), gradient_of(roomy.policy)) <= 1e-5
    assert notes == [
        f"{branches} branches after {tokens} tokens do not fit into memory. "
        f"From now on a graph holds at most {size} tokens."
        for branches, tokens, size in ((4, 10, 128), (4, 10, 64), (4, 10, 32))
    ]
    assert max(roomy.passes) > 24 >= max(scarce.passes)


def test_the_next_step_begins_with_the_smaller_graphs():
    scarce = Scarce(24)
    notes: list[str] = []
    guard = MemoryGuard(scarce.policy, BatchTable(graph_tokens=128), 0.0, notes.append)

    def gather() -> float:
        plan = guard.plan(PROMPT, BRANCHES)
        return accumulate(scarce.policy, PROMPT, BRANCHES, loss_of_branch, plan=plan).loss

    first = guard.gathered(gather)
    assert len(notes) == 2
    assert guard.gathered(gather) == pytest.approx(first)
    assert len(notes) == 2


def test_when_the_smallest_graph_does_not_fit_it_is_given_up_with_no_gradient_left():
    scarce = Scarce(14)
    notes: list[str] = []
    with pytest.raises(OutOfMemory, match="do not fit into memory"):
        gathered(scarce, notes, graph_tokens=128)
    assert len(notes) == 2
    assert notes[-1].endswith("at most 32 tokens.")
    assert has_no_gradient(scarce.policy)


def test_the_anchor_is_scored_in_graphs_of_that_size_too():
    scarce = Scarce(12)
    pairs = (TokenExample("e-0", PROMPT, BRANCHES[0], BRANCHES[3], True),)
    recipe = recipe_of("dpo", batch={"examples": 1, "graph_tokens": 8, "through_prompt": False})
    notes: list[str] = []
    guard = MemoryGuard(scarce.policy, recipe.batch, 0.0, notes.append)
    learner = ExampleLearner(
        scarce.policy, pairs, recipe, guard=guard, work=WorkTime(), check=lambda: None, tell=lambda *_: None
    )
    assert learner.learn(1, 0).loss > 0.0
    # The prompt and one branch at a time: for the anchor, for the policy, and for the gradient.
    assert (scarce.passes, notes) == ([9, 8, 6] * 3, [])


def test_scoring_that_runs_out_of_memory_makes_graphs_smaller_too():
    scarce = Scarce(25)
    pairs = (TokenExample("e-0", PROMPT, tuple(range(20)), tuple(range(20, 40)), True),)
    recipe = recipe_of("dpo", batch={"examples": 1, "graph_tokens": 64, "through_prompt": False})
    notes: list[str] = []
    guard = MemoryGuard(scarce.policy, recipe.batch, 0.0, notes.append)
    learner = ExampleLearner(
        scarce.policy, pairs, recipe, guard=guard, work=WorkTime(), check=lambda: None, tell=lambda *_: None
    )
    assert learner.learn(1, 0).loss > 0.0
    assert notes == ["2 branches after 10 tokens do not fit into memory. From now on a graph holds at most 32 tokens."]


def test_every_gathering_begins_from_a_clean_gradient():
    scarce = Scarce(10_000)
    notes: list[str] = []
    gathered(scarce, notes)
    once = gradient_of(scarce.policy)
    gathered(scarce, notes)
    assert torch.equal(gradient_of(scarce.policy), once)


def test_other_faults_are_not_taken_for_a_lack_of_memory():
    notes: list[str] = []

    def fail() -> float:
        raise ZeroDivisionError

    guard = MemoryGuard(tiny_policy(), BatchTable(), 0.0, notes.append)
    with pytest.raises(ZeroDivisionError):
        guard.gathered(fail)
    assert notes == []


def test_a_plan_is_what_the_recipe_says():
    policy = tiny_policy()
    plans = [
        MemoryGuard(policy, BatchTable(**table), 0.0, lambda _: None).plan(PROMPT, BRANCHES)
        for table in (
            {},
            {"through_prompt": False},
            {"graph_tokens": 26},
            {"graph_tokens": 1},
            {"short_prompt_tokens": 9},
        )
    ]
    assert plans == [Plan(4, True), Plan(4, False), Plan(2, True), Plan(1, True), Plan(1, False)]


# The limit of the recipe


@pytest.mark.parametrize("limit_gib", [0.0, 10_000.0], ids=["none", "high"])
def test_within_the_limit_nothing_is_said(limit_gib: float):
    MemoryGuard(tiny_policy(), BatchTable(), limit_gib, lambda _: None).check()


def test_over_the_limit_it_says_which_and_what_to_do():
    with pytest.raises(OutOfMemory, match=r"more than limits\.memory_gib \(0\.01 GiB\)") as caught:
        MemoryGuard(tiny_policy(), BatchTable(), 0.01, lambda _: None).check()
    assert "Raise that limit" in caught.value.hint


def test_a_limit_that_is_passed_amid_a_gradient_first_makes_graphs_smaller():
    scarce = Scarce(10_000)
    limit = MemoryGuard(scarce.policy, BatchTable(), 0.01, lambda _: None)
    notes: list[str] = []
    with pytest.raises(OutOfMemory, match=r"limits\.memory_gib"):
        gathered(scarce, notes, guarded(loss_of_branch, limit.check), graph_tokens=64)
    assert notes == [
        "Training takes more than limits.memory_gib (0.01 GiB). From now on a graph holds at most 32 tokens."
    ]
    assert has_no_gradient(scarce.policy)


# Small parts


def test_checks_come_before_the_loss_of_every_branch():
    order: list[str] = []

    def check(name: str) -> Callable[[], None]:
        return lambda: order.append(name)

    loss = guarded(lambda number, _: order.append(f"loss {number}"), check("one"), check("two"))  # type: ignore[arg-type]
    for number in (0, 1):
        loss(number, torch.zeros(1))
    assert order == ["one", "two", "loss 0", "one", "two", "loss 1"]


def test_a_check_may_end_a_gradient():
    def check() -> None:
        raise Interrupted("Enough.")

    scarce = Scarce(10_000)
    with pytest.raises(Interrupted):
        gathered(scarce, [], guarded(loss_of_branch, check))


def test_rows_and_masks_fit_what_they_are_made_for():
    like_T = torch.zeros(3, dtype=torch.float64)
    assert torch.equal(row([1, 2, 3], like_T), torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64))
    assert torch.equal(everything(like_T[None]), torch.tensor([[True, True, True]]))
