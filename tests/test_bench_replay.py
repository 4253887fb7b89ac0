"""The benchmark of replay at its smallest, and that it would see gradients that are wrong and memory that is taken."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.requirements import require_module

torch = require_module("torch")
require_module("transformers")
require_module("peft")

from local_training.replay import Plan, accumulate  # noqa: E402
from local_training.training_memory import Memory  # noqa: E402
from tests.bench import replay, report  # noqa: E402
from tests.bench.replay import (  # noqa: E402
    CHOSEN,
    PLAIN,
    REPLAY,
    THROUGH,
    Size,
    compare,
    time_ways,
    ways,
)
from tests.support.branching import Prompted, Way, policy_loss  # noqa: E402
from tests.support.peak_memory import in_fresh_process, peak_while  # noqa: E402
from tests.support.tiny_llama import write_tiny  # noqa: E402
from tests.support.tiny_policy import tiny_policy  # noqa: E402
from tests.support.whole_graph import gradient_of, relative_error, whole_graph  # noqa: E402

SMALLEST = Size((12, 20), (16,), 5, 1, 60.0)
GIVEN = Prompted(tuple((7 * n) % 61 for n in range(40)), ((1, 2, 3), (4, 5, 6, 7), (9,), (3, 3)))
BYTES_PER_TOKEN = Memory(0, 0, 0, 0, branch_token=1, logit_token=0, logit_tokens=0)


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.model
def test_the_report_has_every_goal_and_a_row_for_every_way(tmp_path: Path) -> None:
    plain = report.to_json(replay.measure(write_tiny("llama", tmp_path).base, SMALLEST, 0, threads=1))

    goals = {goal["id"]: goal for goal in plain["goals"]}
    assert list(goals) == ["replay_cosine", "replay_cosine_full_graph", "peak_memory_8_over_2"]
    assert goals["replay_cosine"]["met"] and goals["replay_cosine"]["runs"] == 2
    assert goals["replay_cosine_full_graph"]["value"] < 0.9999
    assert 0.5 < goals["peak_memory_8_over_2"]["value"] < 1.5
    gradients, times, memory = plain["tables"].values()
    assert [row["prompt_tokens"] for row in gradients] == [12, 20]
    assert [(row["way"], row["runs"]) for row in times] == [(REPLAY, 1), (CHOSEN, 1), (THROUGH, 1), (PLAIN, 1)]
    assert times[-1]["times_plain_speed"] == 1.0
    found = [(row["way"], row["branches"]) for row in memory]
    assert found == [(REPLAY, 2), (REPLAY, 8), (CHOSEN, 8), (THROUGH, 8), (PLAIN, 8)]
    json.dumps(plain)


def test_right_gradients_meet_the_goal() -> None:
    found = compare(tiny_policy(), GIVEN)
    assert report.is_met(replay.COSINE.goal, min(found.replay, found.chosen, found.through_prompt))
    assert not report.is_met(replay.COSINE.goal, found.full_graph)
    assert found.error < 1e-5


@pytest.mark.parametrize("fault", ["a gradient that flows through the prompt", "a branch that is left out"])
def test_wrong_gradients_miss_the_goal(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(policy: Any, prompt: Any, branches: Any, loss: Any, *, plan: Plan) -> Any:
        if fault == "a branch that is left out":
            return accumulate(policy, prompt, branches[:-1], loss, plan=plan)
        return accumulate(policy, prompt, branches, loss, plan=Plan(plan.at_once, through_prompt=True))

    monkeypatch.setattr(replay, "accumulate", wrong)
    found = compare(tiny_policy(), GIVEN)
    assert not report.is_met(replay.COSINE.goal, found.replay)
    assert not report.is_met(replay.COSINE.goal, found.chosen)


def test_plain_batching_takes_as_many_branches_as_fit_into_half_of_the_free_memory() -> None:
    # Beside its tokens a branch has a mask, of four bytes for every token and every token it may look at.
    of_one = 100 + 4 * 100 * 100
    plain = {fit: ways(90, [10] * 8, BYTES_PER_TOKEN, 2 * fit * of_one)[-1] for fit in (0, 3, 8, 20)}
    assert plain == {0: Way(PLAIN, 1), 3: Way(PLAIN, 3), 8: Way(PLAIN, 8), 20: Way(PLAIN, 8)}


def test_a_plan_that_is_replay_itself_is_not_measured_twice() -> None:
    assert [way.name for way in ways(90, [10] * 8, BYTES_PER_TOKEN, 2000)] == [REPLAY, CHOSEN, THROUGH, PLAIN]
    assert [way.name for way in ways(2048, [10] * 8, BYTES_PER_TOKEN, 2000)] == [REPLAY, PLAIN]


@pytest.mark.parametrize("at_once", [1, 3, 4])
def test_plain_batching_gives_the_gradient_through_the_whole_prompt(at_once: int) -> None:
    policy = tiny_policy()
    loss = policy_loss(GIVEN.branch_tokens)
    _, expected = whole_graph(policy, GIVEN.prompt, GIVEN.branches, loss, detach_prompt=False)
    policy.model.zero_grad()
    Way(PLAIN, at_once).go(policy, GIVEN, loss)
    assert relative_error(gradient_of(policy), expected) < 1e-5


def test_no_repeat_begins_after_the_time_is_over() -> None:
    measured = [Way(REPLAY, 1, Plan(1)), Way(PLAIN, 4)]
    policy = tiny_policy()
    seconds = time_ways(policy, GIVEN, measured, Size((), (), 0, repeats=3, seconds_per_length=60.0))
    hurried = time_ways(policy, GIVEN, measured, Size((), (), 0, repeats=3, seconds_per_length=0.0))
    assert {way: len(taken) for way, taken in seconds.items()} == {REPLAY: 3, PLAIN: 3}
    assert {way: len(taken) for way, taken in hurried.items()} == {REPLAY: 1, PLAIN: 1}


def take_and_give_back() -> None:
    block = torch.ones(64 << 20, dtype=torch.uint8)
    for _ in range(20):
        block += 1


def test_memory_that_was_taken_and_given_back_is_seen() -> None:
    # Elsewhere it could be taken from what this process had freed before.
    peak = in_fresh_process(peak_while, take_and_give_back)
    assert peak.highest_bytes - peak.before_bytes >= 60 << 20


def test_a_fresh_process_is_another_one_and_its_errors_come_back() -> None:
    assert in_fresh_process(os.getpid) != os.getpid()
    with pytest.raises(ZeroDivisionError):
        in_fresh_process(divmod, 1, 0)
