"""A trainer or an engine that dies at any moment costs a step at most, and changes nothing about the result."""

import os
import signal
import threading
import time

import psutil
import pytest

from local_training.runs.checkpoints import checkpoints
from local_training.runs.events import Event, Progress
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.runs.trainer import Result  # noqa: E402 - needs what is required above
from tests.local_training.runs.whole import (  # noqa: E402
    LONG_ANSWERS,
    Workshop,
    assert_same_result,
    kill_at_random,
    steps_of,
    train_here,
)

pytestmark = pytest.mark.model

SEED = 20261129


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop.open(tmp_path_factory.mktemp("workshop"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kind", "kills"), [("rl", 2), ("sft", 1)])
def test_a_run_killed_at_random_points_ends_as_if_nothing_had_happened(workshop: Workshop, kind: str, kills: int):
    killed_and_compared(workshop, kind, kills, steps=3, seed=SEED)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", ["rl", "sft"])
@pytest.mark.parametrize("seed", [SEED + 1])
def test_a_run_killed_at_ten_random_points_ends_as_if_nothing_had_happened(workshop: Workshop, kind: str, seed: int):
    killed_and_compared(workshop, kind, 10, steps=20, seed=seed)


def killed_and_compared(workshop: Workshop, kind: str, kills: int, *, steps: int, seed: int) -> None:
    undisturbed = workshop.undisturbed(kind, steps=steps)
    run = workshop.run(kind, steps=steps)
    # Shown where the test fails.
    print(f"seed {seed}:", *kill_at_random(run, kind, kills, seed), sep="\n  ")
    assert train_here(run) == Result("finished", steps, "All steps are done.")
    assert steps_of(run) == list(range(1, steps + 1))
    assert_same_result(workshop, run, undisturbed)
    assert sorted(run.checkpoints.iterdir()) == checkpoints(run.checkpoints)
    assert not run.work.exists()


@pytest.mark.parametrize("moment", ["evaluating", "sampling", "training"])
def test_an_engine_that_is_killed_is_replaced_and_the_result_stays_the_same(workshop: Workshop, moment: str):
    undisturbed = workshop.undisturbed("rl", steps=3)
    run = workshop.run("rl", steps=3)
    killed: list[int] = []

    def kill_engine(event: Event) -> None:
        if isinstance(event, Progress) and event.activity == moment and event.step == 2 and not killed:
            (engine,) = engine_processes()
            killed.append(engine)
            os.kill(engine, signal.SIGKILL)

    assert train_here(run, kill_engine).state == "finished"
    assert killed
    assert_same_result(workshop, run, undisturbed)


def test_an_engine_that_is_killed_amid_its_answers_is_replaced_and_the_result_stays_the_same(workshop: Workshop):
    undisturbed = workshop.undisturbed("rl", steps=1, **LONG_ANSWERS)
    run = workshop.run("rl", steps=1, **LONG_ANSWERS)
    killed: list[int] = []
    answered: list[Event] = []

    def kill_soon(event: Event) -> None:
        if isinstance(event, Progress) and event.activity == "sampling":
            answered.append(event)
        if isinstance(event, Progress) and event.activity == "evaluating" and event.done == event.total and not killed:
            killed.extend(engine_processes())
            threading.Thread(target=kill_amid, daemon=True).start()

    def kill_amid() -> None:
        time.sleep(0.2)
        os.kill(killed[0], signal.SIGKILL)
        killed.append(len(answered))

    assert train_here(run, kill_soon).state == "finished"
    assert killed[1] == 0, "the answers were there before the engine was killed"
    assert_same_result(workshop, run, undisturbed)


def engine_processes() -> list[int]:
    """Of this process's own children."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if "engine.runtime.engine_child" in child.cmdline() and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child.pid)
        except psutil.NoSuchProcess:
            continue
    return found
