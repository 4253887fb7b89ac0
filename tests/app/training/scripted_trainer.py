"""A trainer that learns nothing: it tells events, keeps a folder, and obeys, or does not, as its scenario says.

python scripted_trainer.py FOLDER SCENARIO, where SCENARIO is `steps-N` or one of the functions below.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from local_training.runs.events import Ended, Event, Progress, event_line
from local_training.runs.folder import RunFolder, RunState, State, now
from local_training.runs.metrics import EvaluationMetrics, Metrics, Note, StepMetrics, append_metrics

ENDLESS = 10_000


def main() -> int:
    run, scenario = RunFolder(Path(sys.argv[1])), sys.argv[2]
    keep(run, "running", run.read_state().step)
    if scenario.startswith("steps-"):
        return train(run, int(scenario.removeprefix("steps-")))
    return SCENARIOS[scenario](run)


def train(run: RunFolder, steps: int) -> int:
    """In the way a real trainer goes on, pauses and stops."""
    done = run.read_state().step
    if done == 0:
        told(run, evaluation(0))
    while done < steps:
        tell(Progress(done + 1, steps, "sampling", 3, 8, "detail"))
        while run.pause.exists() and not run.stop.exists():
            keep(run, "paused", done)
            time.sleep(0.02)
        if run.stop.exists() or input_closed():
            keep(run, "stopped", done)
            tell(Ended("stopped", done, exit_code=130))
            return 130
        time.sleep(0.02)
        done += 1
        told(run, step(done))
        keep(run, "running", done)
    told(run, evaluation(done))
    run.adapter_gguf.write_bytes(b"adapter")
    keep(run, "finished", done, reason="All steps are done.")
    tell(Ended("finished", done))
    return 0


def deaf(run: RunFolder) -> int:
    """Hears nobody, and neither does a child of its own, which holds its output open."""
    if child := os.fork():
        (run.path / "grandchild").write_text(str(child))
        told(run, step(1))
        keep(run, "running", 1)
    while True:
        time.sleep(0.05)


def killed(run: RunFolder) -> int:
    told(run, step(1))
    keep(run, "running", 1)
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def crashed(run: RunFolder) -> int:
    print("a native library saw \x1b[31msomething", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def silent(_run: RunFolder) -> int:
    print("ImportError: it was this", file=sys.stderr, flush=True)
    return 3


def diverged(run: RunFolder) -> int:
    told(run, step(1))
    keep(run, "failed", 1, problem="The loss is no number.")
    tell(Ended("failed", 1, "The loss is no number.", "Lower optimizer.rate.", 1))
    return 1


def loading(run: RunFolder) -> int:
    """Takes its time to begin, and a wish from before for a leftover."""
    tell(Progress(0, ENDLESS, "loading"))
    while not run.stop.exists():
        time.sleep(0.01)
    run.stop.unlink()
    return train(run, ENDLESS)


def noisy(run: RunFolder) -> int:
    """Libraries print too, and what the trainer tells may hold anything."""
    sys.stdout.buffer.write(b"\xff\xfe loading\n{}\n[1]\n" + b"x" * 3_000_000 + b"\n")
    sys.stdout.buffer.flush()
    tell(Progress(1, 2, "training", 1, 2, "\x1b]0;title\x07two\nlines"))
    told(run, Note(1, "memory \x1b[31mran short\u202e 内存不足"))
    return train(run, 2)


def step(number: int) -> StepMetrics:
    return StepMetrics(
        step=number,
        seconds=0.02,
        loss=0.1,
        grad_norm=1.0,
        rate=1e-4,
        reward=0.25,
        accuracy=0.5,
        length_tokens=120.0,
        kl_target_nats=0.25,
        kl_general_nats=0.0125,
        mismatch_nats=0.0075,
        rollout_seconds=2.0,
        train_seconds=1.0,
        rollout_tokens=3000,
        trained_tokens=4000,
        idle_share=0.08,
    )


def evaluation(number: int) -> EvaluationMetrics:
    return EvaluationMetrics(number, 0.5, 200, accuracy=(40 + number) / 100, reward=0.5, length_tokens=150.0 - number)


def told(run: RunFolder, metrics: Metrics) -> None:
    append_metrics(run.metrics, metrics)
    tell(metrics)


def tell(event: Event) -> None:
    """Nothing depends on being heard."""
    with suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), event_line(event).encode() + b"\n")


def keep(run: RunFolder, state: State, done: int, *, reason: str = "", problem: str = "") -> None:
    run.write_state(RunState(state, done, problem, reason=reason, pid=os.getpid(), updated_at=now()))


def input_closed() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


SCENARIOS = {
    "deaf": deaf,
    "killed": killed,
    "crashed": crashed,
    "silent": silent,
    "diverged": diverged,
    "loading": loading,
    "noisy": noisy,
}

if __name__ == "__main__":
    sys.exit(main())
