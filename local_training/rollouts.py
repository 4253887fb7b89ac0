"""Rollouts: several branches of every prompt, sampled by the runtime that serves, with the sampler's log-probabilities.

Branches of one prompt are asked for together, so that it is read once and they decode in one batch. What is drawn
depends only on the seeds, so a run that broke off draws the same again. Knows no rewards, no losses and no torch.

Log-probabilities are those before temperature; they are the sampling policy's own at temperature 1, the default.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engine.errors import RuntimeFailed, UsageProblem
from engine.harness.prompt import Harness, PromptState, UnseenTurn, build, head
from engine.memory.folding.values import NOTHING
from engine.runtime.protocol import (
    NEVER,
    AdapterStack,
    Encoder,
    Finished,
    FinishReason,
    Piece,
    Request,
    Sampling,
    Stop,
    Token,
    Tokens,
    Usage,
)
from local_training.folding import FoldingPrompts
from local_training.rewards import Outcome
from local_training.tasks import Task
from local_training.trajectory import Trajectory, TrajectorySegment


class Generates(Encoder, Protocol):
    """All that rollouts need of a runtime; the encoder for tasks of folding only."""

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Iterator[Piece]: ...


@dataclass(frozen=True, slots=True)
class RolloutSettings:
    branches: int = 8
    """Of every prompt: the group within which rewards are compared."""
    max_tokens: int = 256
    """Of one completion; longer ones are cut and end with the reason `length`."""
    temperature: float = 1.0
    """0 is greedy, for tests of what was learned."""
    together: int = 8
    """Branches that are decoded at once, at most the plan's `max_views`. More are faster and take more memory; with
    fewer than `branches` a prompt is read several times."""

    def __post_init__(self) -> None:
        if min(self.branches, self.max_tokens, self.together) < 1 or not 0.0 <= self.temperature <= 10.0:
            raise UsageProblem(
                "Rollouts need at least one branch, one token and one at a time, and a temperature from 0 to 10.",
                "Correct the recipe.",
            )


@dataclass(frozen=True, slots=True)
class TaskPrompt:
    """A task as the runtime reads it: its prompt in token ids, and the adapters that answer it."""

    task_id: str
    tokens: Tokens
    adapters: AdapterStack = ()
    folding: FoldingPrompts | None = None
    """Of a task of folding, whose prompts depend on what was written before: then `tokens` are not read."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One branch, to its end."""

    task_id: str
    branch: int
    seed: int
    segment: TrajectorySegment
    text: str
    finish: FinishReason
    """`eos` or `length`; those that were stopped are not kept."""
    usage: Usage
    writes: tuple[TrajectorySegment, ...] = ()
    """Of a task of folding: what was written before the answer, oldest first."""

    @property
    def segments(self) -> tuple[TrajectorySegment, ...]:
        """All that the policy wrote."""
        return (*self.writes, self.segment)

    def outcome(self) -> Outcome:
        """What rewards look at."""
        return Outcome(self.text, self.segment.completion, self.finish)

    def trajectory(self, reward: float | None = None) -> Trajectory:
        return Trajectory(self.segments, reward)


@dataclass(frozen=True, slots=True)
class RolloutGroup:
    """All branches of one prompt, in their order."""

    task_id: str
    rollouts: tuple[Rollout, ...]


def prompt_of(task: Task, harness: Harness, encoder: Encoder) -> Tokens:
    """The task's prompt as serving would build it: a conversation with its expert, or under its own system message.

    Raises: UsageProblem when there is no such expert.
    """
    if task.expert not in harness.systems:
        raise UsageProblem(
            f"Task `{task.task_id}` is for the expert {task.expert!r:.40}, which the profile does not have.",
            f"It has {', '.join(harness.systems)}.",
        )
    messages = task.messages
    if messages[0].role == "system":
        harness = replace(harness, systems={**harness.systems, task.expert: messages[0].text})
        messages = messages[1:]
    past = tuple(
        UnseenTurn(f"{task.task_id} {place}", messages[place].text, messages[place + 1].text, is_own=True)
        for place in range(0, len(messages) - 1, 2)
    )
    state = PromptState(task.expert, head(harness, encoder, task.expert), (), past, messages[-1].text)
    return build(state, harness, encoder).tokens


def branch_seed(seed: int, step: int, task_id: str, branch: int) -> int:
    """31 bits that depend on all four, and on nothing else."""
    digest = hashlib.sha256(f"{seed}\0{step}\0{branch}\0{task_id}".encode()).digest()
    # The runtime takes 32 bits, the highest value of which means "any".
    return int.from_bytes(digest[:4], "big") >> 1


def roll_out(
    runtime: Generates,
    prompts: Sequence[TaskPrompt],
    settings: RolloutSettings,
    *,
    seed: int,
    step: int = 0,
    stop: Stop = NEVER,
    limit_s: float = float("inf"),
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[RolloutGroup]:
    """The groups of `prompts`, as they are done; those with equal adapters after each other.

    Ends early when `stop` is set or `limit_s` seconds of `clock` are over. Groups under way are then left out: their
    short branches alone would teach that short is good.

    Raises: ContextOverflow, AdapterMismatch, BadModelFile, RuntimeFailed; UsageProblem when a task occurs twice.
    """
    if len({prompt.task_id for prompt in prompts}) < len(prompts):
        raise UsageProblem("A task occurs twice among the prompts of one step.", "Give each task one group.")
    ending = _Ending(stop, clock, clock() + limit_s)
    for pack in packs(prompts, settings):
        if ending.is_set():
            return
        done: dict[str, list[Rollout]] = {prompt.task_id: [] for prompt in pack}
        for call in _calls(pack, settings):
            for rollout in _call(runtime, call, settings, seed, step, ending):
                done[rollout.task_id].append(rollout)
        for task_id, rollouts in done.items():
            if len(rollouts) == settings.branches:
                yield RolloutGroup(task_id, tuple(sorted(rollouts, key=lambda rollout: rollout.branch)))


def packs(prompts: Sequence[TaskPrompt], settings: RolloutSettings) -> Iterator[Sequence[TaskPrompt]]:
    """Prompts whose branches fit into one batch together, with equal adapters; at least one in each."""
    size = max(1, settings.together // settings.branches)
    by_adapters: dict[AdapterStack, list[TaskPrompt]] = {}
    for prompt in prompts:
        by_adapters.setdefault(prompt.adapters, []).append(prompt)
    for alike in by_adapters.values():
        for start in range(0, len(alike), size):
            yield alike[start : start + size]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A branch of a prompt, and what it has written on the way to its answer."""

    prompt: TaskPrompt
    branch: int
    writes: tuple[TrajectorySegment, ...] = ()


def _calls(pack: Sequence[TaskPrompt], settings: RolloutSettings) -> Iterator[Sequence[_Asked]]:
    asked = [_Asked(prompt, branch) for prompt in pack for branch in range(settings.branches)]
    for start in range(0, len(asked), settings.together):
        yield asked[start : start + settings.together]


@dataclass(frozen=True, slots=True)
class _Ending:
    """Set when the caller says so or the time is over."""

    stop: Stop
    clock: Callable[[], float]
    ends_at: float

    def is_set(self) -> bool:
        return self.stop.is_set() or self.clock() >= self.ends_at


def _call(
    runtime: Generates, asked: Sequence[_Asked], settings: RolloutSettings, seed: int, step: int, stop: Stop
) -> Iterator[Rollout]:
    """The branches of one list of requests that came to their end."""
    if any(one.prompt.folding for one in asked):
        asked = _folded(runtime, asked, settings, seed, step, stop)
    if not asked:
        return
    requests = [_request(one.prompt, one.branch, settings, seed, step) for one in asked]
    tokens: list[list[Token]] = [[] for _ in requests]
    for piece in runtime.generate(requests, stop):
        if isinstance(piece, Token):
            tokens[piece.index].append(piece)
        elif isinstance(piece, Finished) and piece.reason != "stopped":
            yield _rollout(asked[piece.index], requests[piece.index], tokens[piece.index], piece)


def _request(prompt: TaskPrompt, branch: int, settings: RolloutSettings, seed: int, step: int) -> Request:
    sampling = Sampling(settings.temperature, seed=branch_seed(seed, step, prompt.task_id, branch))
    return Request(prompt.tokens, settings.max_tokens, prompt.adapters, sampling, logprobs=0)


def _folded(
    runtime: Generates, asked: Sequence[_Asked], settings: RolloutSettings, seed: int, step: int, stop: Stop
) -> list[_Asked]:
    """Each as it is, but those of tasks of folding once they have written their memory, and with the prompt of the
    question that they answer from it. Those that were stopped on the way are left out.
    """
    folding = {(one.prompt.task_id, one.branch): one.prompt.folding for one in asked if one.prompt.folding is not None}
    memories = dict.fromkeys(folding, NOTHING)
    writes: dict[tuple[str, int], list[TrajectorySegment]] = {key: [] for key in folding}
    for number in range(max((len(prompts.messages) for prompts in folding.values()), default=0)):
        writing = [
            _Asked(replace(one.prompt, tokens=of.to_write(runtime, memories[key], number), folding=None), one.branch)
            for one in asked
            if (of := folding.get(key := (one.prompt.task_id, one.branch))) and number == len(writes[key])
            if number < len(of.messages)
        ]
        # Another seed for each write: equal ones would draw alike from prompts that are alike.
        for rollout in _call(runtime, writing, settings, seed + number + 1, step, stop):
            key = (rollout.task_id, rollout.branch)
            writes[key].append(rollout.segment)
            memories[key] = folding[key].after(runtime, memories[key], number, rollout.text)
    done: list[_Asked] = []
    for one in asked:
        key = (one.prompt.task_id, one.branch)
        if key not in folding:
            done.append(one)
        elif len(writes[key]) == len(folding[key].messages):
            answer = replace(one.prompt, tokens=folding[key].to_answer(runtime, memories[key]), folding=None)
            done.append(_Asked(answer, one.branch, tuple(writes[key])))
    return done


def _rollout(asked: _Asked, request: Request, tokens: Sequence[Token], end: Finished) -> Rollout:
    prompt = asked.prompt
    logprobs = tuple(token.logprob for token in tokens if token.logprob is not None)
    if len(logprobs) != len(tokens) or not tokens:
        raise RuntimeFailed(
            f"Task `{prompt.task_id}`: the runtime gave {len(logprobs)} log-probabilities for {len(tokens)} tokens.",
            "Rollouts need a runtime that gives one per token.",
        )
    completion = tuple(token.token for token in tokens)
    return Rollout(
        prompt.task_id,
        asked.branch,
        request.sampling.seed,
        TrajectorySegment(request.tokens, completion, logprobs, request.adapters),
        "".join(token.text for token in tokens) + end.text,
        end.reason,
        end.usage,
        asked.writes,
    )
