"""A sampler that says what a test tells it to, and the recipe, tasks and inputs that go with it. Computes nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.harness.prompt import Harness
from engine.runtime.protocol import AdapterStack, FinishReason, Tokens, Usage
from local_training.rollouts import Rollout, RolloutGroup, RolloutSettings, TaskPrompt, branch_seed
from local_training.runs.inputs import Inputs
from local_training.runs.recipe import Recipe
from local_training.tasks import RewardSpec, Split, Task, TaskMessage
from local_training.trajectory import TrajectorySegment
from tests.support.scripted_runtime import ScriptedRuntime
from tests.support.talking import SYSTEMS, harness_of, make_profile

RIGHT = RewardSpec("exact", {"expected": "yes", "where": "anywhere"})
LOUD = RewardSpec("format", {"ends_with": "!"})
"""Does not decide what is right: "yes!" is worth 1, "yes" and "no!" a half, "no" nothing."""


@dataclass(frozen=True, slots=True)
class Said:
    """One branch. The sampler's log-probabilities are -1 each where none are given."""

    text: str
    completion: Tokens = (1, 2)
    finish: FinishReason = "eos"
    logprobs: tuple[float, ...] | None = None


@dataclass
class ScriptedSampler:
    """`say` gives every branch, by the task's id and the branch's number. What was asked is in `calls`."""

    say: Callable[[str, int], Said]
    systems: Mapping[str, str] = field(default_factory=lambda: dict(SYSTEMS))
    adapters: AdapterStack = ()
    calls: list[tuple[list[TaskPrompt], RolloutSettings, int, int]] = field(default_factory=list)
    handed_over: list[int] = field(default_factory=list)
    """The steps before which the policy was handed over."""
    runtime: ScriptedRuntime = field(default_factory=ScriptedRuntime)

    @property
    def asked(self) -> list[list[str]]:
        """The tasks of each call."""
        return [[prompt.task_id for prompt in prompts] for prompts, *_ in self.calls]

    def harness(self, profile: Path) -> Harness:
        return harness_of(make_profile(self.systems))

    def hand_over(self, policy: Any, step: int) -> None:
        self.handed_over.append(step)

    def roll_out(
        self, prompts: Sequence[TaskPrompt], settings: RolloutSettings, *, seed: int, step: int
    ) -> Iterator[RolloutGroup]:
        self.calls.append((list(prompts), settings, seed, step))
        for prompt in prompts:
            rollouts = (self._rollout(prompt, branch, seed, step) for branch in range(settings.branches))
            yield RolloutGroup(prompt.task_id, tuple(rollouts))

    def _rollout(self, prompt: TaskPrompt, branch: int, seed: int, step: int) -> Rollout:
        said = self.say(prompt.task_id, branch)
        logprobs = said.logprobs or (-1.0,) * len(said.completion)
        segment = TrajectorySegment(prompt.tokens, said.completion, logprobs, prompt.adapters)
        branch_seed_ = branch_seed(seed, step, prompt.task_id, branch)
        return Rollout(prompt.task_id, branch, branch_seed_, segment, said.text, said.finish, Usage())


def recipe_of(kind: str, **tables: Any) -> Recipe:
    return Recipe.model_validate({"kind": kind, "data": "data.jsonl", "steps": 10, **tables})


def task_of(name: str, *rewards: RewardSpec) -> Task:
    return Task(name, (TaskMessage("user", "yes or no?"),), "L0", rewards or (RIGHT,))


def inputs_of(
    training: Sequence[Task], held_out: Sequence[Task] = (), prompts: Mapping[str, Tokens] | None = None
) -> Inputs:
    """Every task has a prompt of one token where none are given."""
    tasks = Split(tuple(training), tuple(held_out))
    made = {task.task_id: (number,) for number, task in enumerate((*training, *held_out))}
    return Inputs(tasks, prompts or made, (), (), ())
