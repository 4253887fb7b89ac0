"""The engine as a run uses it: its own child, the adapter in training handed over as GGUF, rollouts and greedy answers.

Hands over a new adapter after each step and forgets the old one. Everything it draws depends on seeds and adapters
alone: nothing is kept in the engine between two packs of prompts, and whatever broke off is drawn again from its start.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.adapters.converting import peft_to_gguf
from engine.adapters.files import written
from engine.errors import OutOfMemory, RuntimeFailed
from engine.harness.formats import choose_format
from engine.harness.prompt import Harness
from engine.mixture import harness_of
from engine.routing.profile import load_profile
from engine.runtime.child import ChildRuntime
from engine.runtime.gguf import read_header
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterStack, LoadPlan, ModelInfo, ScoreRequest, Stop, Tokens
from local_training.policy import Policy
from local_training.rollouts import RolloutGroup, RolloutSettings, TaskPrompt, packs, roll_out
from local_training.runs.priority import yield_session
from local_training.runs.signals import Signals
from local_training.runs.worktime import WorkTime

_REDRAWS: Final = 2
"""Times that a pack is drawn again after the engine was lost over it."""
_DIVERGED: Final = (
    "Where it fails again at this step, the adapter in training has diverged: lower `optimizer.rate` in a new run."
)
"""The engine computes in fewer bits than the trainer, so it is the first to run out of numbers."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    context_tokens: int
    together: int
    threads: int
    """CPU threads, a given number: the engine's own choice depends on how busy the machine is."""
    nice: int = 0
    """The engine inherits it from this process; its session does not."""


class Sampler:
    def __init__(
        self,
        base: Path,
        expert: Path | None,
        folder: Path,
        settings: EngineSettings,
        *,
        signals: Signals,
        work: WorkTime,
    ) -> None:
        """Loads nothing yet. `folder` is one of its own, for adapters on their way; it may be deleted afterwards."""
        self._base, self._folder, self._settings = base, folder, settings
        self._signals, self._work = signals, work
        self._expert: AdapterStack = (adapter_ref(expert),) if expert else ()
        self._runtime = ChildRuntime()
        self._info: ModelInfo | None = None
        self.adapters: AdapterStack = self._expert
        """What answers: the expert's adapter, and after `hand_over` the one in training on top of it."""

    def load(self) -> ModelInfo:
        """Load the base where that was not done yet. Raises: ModelMissing, BadModelFile, RuntimeFailed."""
        if self._info is None:
            together, context = self._settings.together, self._settings.context_tokens
            plan = LoadPlan(
                str(self._base),
                context_tokens=context,
                pool_tokens=context * together,
                threads=self._settings.threads,
                max_views=together,
                adapter_bytes=0,  # none but those that answer: every step has another, which is not needed again
            )
            self._info = self._runtime.load(plan)
        return self._info

    @property
    def runtime(self) -> ChildRuntime:
        self.load()
        return self._runtime

    @property
    def memory_bytes(self) -> int:
        return self._runtime.memory_bytes

    def harness(self, profile_folder: Path) -> Harness:
        """The one that serving would use. Raises: ModelProblem, RuntimeFailed."""
        info, profile = self.load(), load_profile(profile_folder)
        chat_format, _ = choose_format(info.architecture, info.markup, bos=info.bos, family=profile.family)
        return harness_of(profile, chat_format, info.markup)

    def hand_over(self, policy: Policy, step: int) -> None:
        """Let the adapter in training answer from now on. Raises: DiskFull, AgentError."""
        with written(self._folder):
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(mode=0o700)
        folder, target = self._folder / "adapter", self._folder / f"{step:06d}.gguf"
        policy.save(folder)
        peft_to_gguf(folder, read_header(self._base), target)
        self.adapters = (*self._expert, adapter_ref(target))

    def roll_out(
        self, prompts: Sequence[TaskPrompt], settings: RolloutSettings, *, seed: int, step: int
    ) -> Iterator[RolloutGroup]:
        """The groups of all prompts, in the order of their packs; waits while the run is paused.

        Raises: Interrupted, and whatever `local_training.rollouts.roll_out` raises.
        """
        for pack in packs(prompts, settings):
            yield from self._pack(pack, settings, seed, step)

    def anchor_logprobs(self, prompt: Tokens, answer: Tokens) -> tuple[float, ...]:
        """What the engine gives the tokens of an answer without the adapter in training, in nats."""
        (found,) = self.runtime.score(ScoreRequest(prompt, (answer,), self._expert)).logprobs
        return found

    def release(self) -> None:
        """Free the engine's memory until it is needed again."""
        self._runtime.release()

    def close(self) -> None:
        self._runtime.close()

    def _pack(
        self, pack: Sequence[TaskPrompt], settings: RolloutSettings, seed: int, step: int
    ) -> Sequence[RolloutGroup]:
        losses = 0
        while True:
            self._work.wait(self._signals.check())
            # A view that is already there would be read in other pieces, hence rounded otherwise, than after a restart.
            self.runtime.drop("")
            child = self.runtime.process_id
            if child is not None:
                yield_session(child, self._settings.nice)
            stop = _Latch(self._signals)
            try:
                with self._work.working("sampling"):
                    groups = list(roll_out(self.runtime, pack, settings, seed=seed, step=step, stop=stop))
            except OutOfMemory:
                raise
            except RuntimeFailed as error:
                if self.adapters == self._expert:
                    raise
                raise RuntimeFailed(error.problem, f"{error.hint} {_DIVERGED}") from error
            # An engine that ended amid its work goes on with other random numbers than it would have had.
            if child != self.runtime.process_id and losses < _REDRAWS:
                losses += 1
            elif len(groups) == len(pack):
                return groups
            elif not stop.was_set:
                raise RuntimeFailed(
                    f"The engine answered {len(groups)} of {len(pack)} prompts.", "Go on with `macaron train resume`."
                )


class _Latch:
    """A `Stop` that stays set: a pause may be over before the engine has obeyed it."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self.was_set = False

    def is_set(self) -> bool:
        self.was_set = self.was_set or self._stop.is_set()
        return self.was_set
