"""Rollouts: which branches are asked for together, what comes back, and that seeds decide all of it."""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import RuntimeFailed, UsageProblem
from engine.runtime.child import ChildRuntime
from engine.runtime.protocol import NEVER, AdapterRef, LoadPlan, Piece, Request, Stop, Token
from local_training.rollouts import (
    RolloutGroup,
    RolloutSettings,
    TaskPrompt,
    branch_seed,
    packs,
    prompt_of,
    roll_out,
)
from local_training.tasks import RewardSpec, Task, TaskMessage
from tests.support.completing import loaded, stack
from tests.support.scripted_runtime import END, ScriptedRuntime
from tests.support.talking import harness_of, make_profile, open_talk

FRENCH = (AdapterRef("french.gguf", "content of french"),)


class Scripted(ScriptedRuntime):
    """Says what it is told, each token with its index as log-probability, and remembers each list of requests."""

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Iterator[Piece]:
        self.calls = [*getattr(self, "calls", []), list(requests)]
        for number, piece in enumerate(super().generate(requests, stop)):
            yield replace(piece, logprob=-0.01 * number) if isinstance(piece, Token) else piece


def prompts(count: int) -> list[TaskPrompt]:
    return [TaskPrompt(f"t-{n}", (200 + n, 300)) for n in range(count)]


def rolled(runtime: ScriptedRuntime, count: int, settings: RolloutSettings, **options) -> list[RolloutGroup]:
    return list(roll_out(runtime, prompts(count), settings, seed=options.pop("seed", 1), **options))


def test_a_group_has_every_branch_with_its_tokens_log_probabilities_and_text():
    runtime = Scripted()
    runtime.will_say("Oslo.", "奥斯陆")
    (group,) = rolled(runtime, 1, RolloutSettings(branches=2, max_tokens=20))
    first, second = group.rollouts
    assert (first.text, second.text) == ("Oslo.", "奥斯陆")
    assert first.segment.prompt == (200, 300)
    assert first.segment.completion == (*runtime.encode("Oslo."), END)
    assert len(first.segment.logprobs) == len(first.segment.completion)
    assert (first.task_id, first.branch, first.finish) == ("t-0", 0, "eos")


def test_a_rollout_plugs_into_rewards_and_trajectories():
    (group,) = rolled(Scripted(), 1, RolloutSettings(branches=1))
    (rollout,) = group.rollouts
    outcome, trajectory = rollout.outcome(), rollout.trajectory(0.5)
    assert (outcome.text, outcome.tokens, outcome.finish) == (rollout.text, rollout.segment.completion, "eos")
    assert (trajectory.segments, trajectory.reward, trajectory.advantage) == ((rollout.segment,), 0.5, None)


def test_branches_of_one_prompt_are_asked_for_in_one_list():
    runtime = Scripted()
    rolled(runtime, 3, RolloutSettings(branches=4, together=8))
    assert [[request.tokens[0] for request in call] for call in runtime.calls] == [
        [200] * 4 + [201] * 4,
        [202] * 4,
    ]


def test_more_branches_than_fit_together_come_in_several_lists_and_one_group():
    runtime = Scripted()
    (group,) = rolled(runtime, 1, RolloutSettings(branches=5, together=2))
    assert [len(call) for call in runtime.calls] == [2, 2, 1]
    assert [rollout.branch for rollout in group.rollouts] == [0, 1, 2, 3, 4]


def test_prompts_of_one_adapter_are_packed_together():
    mixed = [TaskPrompt("a", (1,)), TaskPrompt("b", (2,), FRENCH), TaskPrompt("c", (3,)), TaskPrompt("d", (4,))]
    found = packs(mixed, RolloutSettings(branches=4, together=8))
    assert [[prompt.task_id for prompt in pack] for pack in found] == [["a", "c"], ["d"], ["b"]]


def test_every_branch_is_drawn_freely_from_its_own_seed():
    runtime = Scripted()
    rolled(runtime, 2, RolloutSettings(branches=3, temperature=0.9), seed=7, step=3)
    samplings = [request.sampling for request in runtime.requests]
    assert len({sampling.seed for sampling in samplings}) == 6
    assert {(one.temperature, one.top_k, one.top_p, one.min_p) for one in samplings} == {(0.9, 0, 1.0, 0.0)}
    assert [one.seed for one in samplings[:3]] == [branch_seed(7, 3, "t-0", branch) for branch in range(3)]


def test_a_seed_depends_on_each_of_its_four_parts_and_fits_the_runtime():
    seeds = [branch_seed(*parts) for parts in ((1, 2, "t", 3), (2, 2, "t", 3), (1, 3, "t", 3), (1, 2, "u", 3))]
    seeds += [branch_seed(1, 2, "t", 4), branch_seed(1, 2, "3\0t", 0)]
    assert len(set(seeds)) == 6
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_a_cut_branch_is_kept_and_says_so():
    runtime = Scripted()
    runtime.will_say("far too long")
    (group,) = rolled(runtime, 1, RolloutSettings(branches=1, max_tokens=4))
    (rollout,) = group.rollouts
    assert (rollout.finish, rollout.text, len(rollout.segment.completion)) == ("length", "far ", 4)


def test_a_stop_ends_it_without_the_group_that_was_under_way():
    runtime, stop = Scripted(), threading.Event()
    asked = 0

    def stop_within_the_third_group() -> None:
        nonlocal asked
        asked += 1
        if asked == 6:
            stop.set()

    runtime.on_request = stop_within_the_third_group
    groups = rolled(runtime, 9, RolloutSettings(branches=2, together=2), stop=stop)
    assert [group.task_id for group in groups] == ["t-0", "t-1"]
    assert len(runtime.requests) == 6


def test_time_that_is_over_ends_it_like_a_stop():
    runtime, now = Scripted(), [0.0]

    def ten_seconds() -> None:
        now[0] += 10.0

    runtime.on_request = ten_seconds
    settings = RolloutSettings(branches=2, together=2)
    groups = rolled(runtime, 9, settings, limit_s=45.0, clock=lambda: now[0])
    assert [group.task_id for group in groups] == ["t-0", "t-1"]


def test_a_runtime_without_log_probabilities_is_refused():
    with pytest.raises(RuntimeFailed, match=r"Task `t-0`: the runtime gave 0 log-probabilities"):
        rolled(ScriptedRuntime(), 1, RolloutSettings(branches=1))


def test_a_task_twice_in_one_step_is_refused():
    with pytest.raises(UsageProblem, match="occurs twice"):
        list(roll_out(Scripted(), prompts(1) * 2, RolloutSettings(), seed=1))


@pytest.mark.parametrize(
    "wrong", [{"branches": 0}, {"max_tokens": 0}, {"together": 0}, {"temperature": -1.0}, {"temperature": float("nan")}]
)
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(UsageProblem, match="Rollouts need"):
        RolloutSettings(**wrong)


# Prompts


def asked(*messages: TaskMessage, expert: str = "L1") -> str:
    runtime = ScriptedRuntime()
    task = Task("t-1", messages, expert, (RewardSpec("format", {"finished": True}),))
    return runtime.decode(prompt_of(task, harness_of(make_profile()), runtime))


def test_a_prompt_is_to_the_token_what_the_expert_reads_when_it_serves(tmp_path: Path):
    task = Task("t-1", (TaskMessage("user", "你好, hi."),), "L1", (RewardSpec("format", {"finished": True}),))
    with open_talk(tmp_path) as talk:
        served = talk.trace(talk.say("你好, hi.", "L1")).prompt
        assert prompt_of(task, talk.harness, talk.runtime) == served


def test_a_prompt_of_several_messages_is_a_conversation_with_the_expert():
    text = asked(TaskMessage("user", "Hi."), TaskMessage("assistant", "你好。"), TaskMessage("user", "So?"))
    assert "assistant\n你好。<|im_end|>\n<|im_start|>user\nSo?" in text


def test_a_system_message_of_the_task_takes_the_place_of_the_experts():
    text = asked(TaskMessage("system", "Be brief."), TaskMessage("user", "Hi."))
    assert "system\nBe brief.<|im_end|>" in text
    assert make_profile().experts[1].system not in text


def test_markup_in_a_task_is_mere_text():
    runtime = ScriptedRuntime()
    task = Task("t-1", (TaskMessage("user", "<|im_end|>"),), "L1", (RewardSpec("format", {"finished": True}),))
    plain = prompt_of(replace(task, messages=(TaskMessage("user", "x"),)), harness_of(make_profile()), runtime)
    assert prompt_of(task, harness_of(make_profile()), runtime).count(END) == plain.count(END)


def test_a_task_for_an_expert_that_does_not_exist_is_refused():
    with pytest.raises(UsageProblem, match="does not have"):
        asked(TaskMessage("user", "Hi."), expert="L9")


# The real thing


REAL = RolloutSettings(branches=4, max_tokens=12, together=4)
QUESTION = "<|im_start|>user\nName a colour.<|im_end|>\n<|im_start|>assistant\n"


def answers(groups: Sequence[RolloutGroup]) -> list[tuple[int, ...]]:
    return [rollout.segment.completion for group in groups for rollout in group.rollouts]


@pytest.mark.model
def test_the_same_seed_gives_the_same_rollouts_and_another_gives_others(starter_base: Path, starter_adapters):
    with loaded(starter_base) as runtime:
        asked = [TaskPrompt("t-0", runtime.encode(QUESTION), stack(starter_adapters[0]))]
        first, again, other = (list(roll_out(runtime, asked, REAL, seed=seed)) for seed in (1, 1, 2))
    assert answers(first) == answers(again)
    assert answers(first) != answers(other)
    assert len(set(answers(first))) > 1
    (group,) = first
    assert [rollout.usage.reused_tokens > 0 for rollout in group.rollouts] == [False, True, True, True]
    assert all(-50.0 < logprob <= 0.0 for rollout in group.rollouts for logprob in rollout.segment.logprobs)


@pytest.mark.model
def test_rollouts_go_on_after_their_child_was_killed(starter_base: Path):
    runtime = ChildRuntime()
    try:
        runtime.load(LoadPlan(str(starter_base), context_tokens=512, pool_tokens=2048, threads=1))
        asked = [TaskPrompt("t-0", runtime.encode(QUESTION))]
        settings = replace(REAL, max_tokens=24)
        killer = Killing(runtime, after=30)
        killed = list(roll_out(killer, asked, settings, seed=1))
        undisturbed = list(roll_out(runtime, asked, settings, seed=1))
    finally:
        runtime.close()
    assert killer.is_done
    (before,), (after,) = undisturbed, killed
    for whole, resumed in zip(before.rollouts, after.rollouts, strict=True):
        assert len(resumed.segment.logprobs) == len(resumed.segment.completion)
        # Each had drawn at least six tokens when the child died, and those stay.
        assert resumed.segment.completion[:6] == whole.segment.completion[:6]


class Killing:
    """The runtime it is given, whose child it kills once, after so many tokens."""

    def __init__(self, runtime: ChildRuntime, after: int) -> None:
        self._runtime = runtime
        self._left = after
        self.is_done = False

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Iterator[Piece]:
        for piece in self._runtime.generate(requests, stop):
            self._left -= isinstance(piece, Token)
            if self._left == 0 and not self.is_done:
                process_id = self._runtime.process_id
                assert process_id is not None
                os.kill(process_id, signal.SIGKILL)
                self.is_done = True
            yield piece
