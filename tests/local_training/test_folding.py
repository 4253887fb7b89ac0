"""Tasks of folding: a memory written over messages, a question answered from it alone, one reward for all of it."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from engine.memory.folding.values import NOTHING
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import LoadPlan
from local_training.folding import FoldingPrompts
from local_training.losses.advantages import dr_grpo_advantages, segment_advantages, with_advantages
from local_training.rewards import score_outcome
from local_training.rollouts import RolloutSettings, TaskPrompt, roll_out
from local_training.tasks import RewardSpec, Task, TaskMessage
from tests.local_training.test_rollouts import Scripted
from tests.support.scripted_runtime import MARKUP
from tests.support.talking import harness_of, make_profile

MESSAGES = ("My seat is 12F. What is the weather like?", "我对花生过敏。")
QUESTION = "Which seat is mine?"
SAYS_IT = RewardSpec("exact", {"expected": "12F", "where": "anywhere"})
TASK = Task("t", (TaskMessage("user", QUESTION),), "L0", (SAYS_IT,))
FOLDING = FoldingPrompts("L0", harness_of(make_profile()), MESSAGES, QUESTION)
PROMPT = TaskPrompt("t", (), folding=FOLDING)


def line(text: str, evidence: str, kind: str = "fact") -> str:
    return json.dumps({"kind": kind, "text": text, "evidence": evidence}, ensure_ascii=False)


SEAT = line("Seat 12F", "My seat is 12F.")
PEANUTS = line("对花生过敏", "我对花生过敏。")


def test_a_branch_writes_once_a_message_and_answers_from_what_it_kept_alone():
    runtime = Scripted()
    runtime.will_say(SEAT, PEANUTS, "12F")
    ((rollout,),) = (group.rollouts for group in roll_out(runtime, [PROMPT], RolloutSettings(branches=1), seed=1))
    first, second, answer = (runtime.decode(segment.prompt) for segment in rollout.segments)
    assert "- My seat is 12F." in first and "weather" not in first
    assert "- [fact] Seat 12F" in second and "- 我对花生过敏。" in second and "My seat" not in second
    assert "(2) are no longer shown to you" in answer
    assert "- [fact] Seat 12F\n- [fact] 对花生过敏\n</memory>" in answer
    assert "My seat" not in answer and answer.count(QUESTION) == 1
    assert rollout.text == "12F" and score_outcome(rollout.outcome(), TASK).value == 1.0
    assert all(len(one.logprobs) == len(one.completion) for one in rollout.segments)
    assert len({request.sampling.seed for request in runtime.requests}) == 3


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(line("Seat 14G", "My seat is 12F."), id="invented"),
        pytest.param(line("Seat 12F", "The seat is 12F, they said."), id="not-said"),
        pytest.param("Seat 12F", id="no-json"),
    ],
)
def test_what_cannot_be_verified_is_not_kept_and_so_cannot_be_answered_from(written: str):
    assert FOLDING.after(Scripted(), NOTHING, 0, written) == NOTHING


def test_what_is_kept_stays_within_its_bounds_numbers_first():
    memory, small = NOTHING, FoldingPrompts("L0", FOLDING.harness, MESSAGES, QUESTION, memory_tokens=20)
    for number, written in enumerate((SEAT, PEANUTS)):
        memory = small.after(Scripted(), memory, number, written)
    assert memory.shown == ("[fact] Seat 12F",)


def test_branches_and_tasks_go_on_together_and_plain_ones_beside_them():
    runtime = Scripted()
    prompts = [TaskPrompt("plain", (200,)), PROMPT]
    groups = list(roll_out(runtime, prompts, RolloutSettings(branches=2, together=4), seed=1))
    assert [(group.task_id, len(group.rollouts)) for group in groups] == [("plain", 2), ("t", 2)]
    assert [len(call) for call in runtime.calls] == [2, 2, 4]
    assert [len(rollout.segments) for group in groups for rollout in group.rollouts] == [1, 1, 3, 3]


def test_all_segments_of_a_trajectory_share_one_advantage():
    runtime = Scripted()
    runtime.will_say(SEAT, "nothing", PEANUTS, "nothing", "12F", "No idea.")
    (group,) = roll_out(runtime, [PROMPT], RolloutSettings(branches=2), seed=1)
    rewarded = [one.trajectory(score_outcome(one.outcome(), TASK).value) for one in group.rollouts]
    assert [one.reward for one in rewarded] == [1.0, 0.0]
    assert segment_advantages(with_advantages(rewarded, dr_grpo_advantages)) == (0.5, 0.5, 0.5, -0.5, -0.5, -0.5)


def test_a_branch_that_is_stopped_on_the_way_is_left_out():
    runtime, stop = Scripted(), threading.Event()
    runtime.on_request = lambda: stop.set() if len(runtime.requests) == 2 else None
    assert list(roll_out(runtime, [PROMPT], RolloutSettings(branches=1), seed=1, stop=stop)) == []
    assert len(runtime.requests) == 2


@pytest.mark.model
def test_the_starter_writes_and_answers_with_a_log_probability_a_token(starter_base: Path):
    runtime = LlamaRuntime()
    try:
        info = runtime.load(LoadPlan(str(starter_base), context_tokens=1024, pool_tokens=4096, max_views=4))
        assert info.markup.keys() >= MARKUP.keys() & {"<|im_start|>", "<|im_end|>"}
        harness = harness_of(make_profile())
        folding = FoldingPrompts("L0", replace(harness, markup=info.markup), MESSAGES, QUESTION)
        prompts = [TaskPrompt("t", (), folding=folding)]
        (group,) = roll_out(runtime, prompts, RolloutSettings(branches=2, max_tokens=6, together=2), seed=1)
        for rollout in group.rollouts:
            assert len(rollout.segments) == 3
            assert all(0 < len(one.logprobs) == len(one.completion) <= 6 for one in rollout.segments)
    finally:
        runtime.close()
