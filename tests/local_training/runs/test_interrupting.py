"""A run waits and ends when it is asked to, within seconds, and what it makes is the same as without."""

import signal
import threading
import time
from collections.abc import Callable

import psutil
import pytest

from local_training.runs.events import Event, Progress
from local_training.runs.folder import RunFolder
from tests.app.running import wait_until
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from tests.local_training.runs.whole import (  # noqa: E402 - needs what is required above
    LONG_ANSWERS,
    TrainerProcess,
    Workshop,
    assert_same_result,
    is_alive,
    steps_of,
    train_here,
    trainer_of,
)

pytestmark = pytest.mark.model

SOON_S = 5.0
PAUSE_S = 1.0
LOOKED_AT_S = 1.0
RESTING_S = 0.15
"""CPU time within `LOOKED_AT_S` of a process that only looks whether it may go on."""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop.open(tmp_path_factory.mktemp("workshop"))


@pytest.mark.timeout(300)
def test_a_paused_run_uses_no_processor_and_goes_on_as_if_nothing_had_happened(workshop: Workshop):
    undisturbed = workshop.undisturbed("rl", steps=2)
    run = workshop.run("rl", steps=2)
    with trainer_of(run) as trainer:
        for activity, step in (("sampling", 1), ("training", 2)):
            trainer.wait_for_activity(activity, step)
            run.pause.touch()
            wait_for_state(run, "paused")
            kept = run.read_state().step
            assert processor_s(trainer) < RESTING_S
            assert run.read_state().step == kept
            run.pause.unlink()
        ended = trainer.ended()
    assert (ended.state, ended.exit_code) == ("finished", 0), ended
    assert_same_result(workshop, run, undisturbed)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("way", ["stop file while paused", "polite signal", "standard input"])
def test_a_run_ends_soon_when_asked_and_goes_on_from_there(workshop: Workshop, way: str):
    undisturbed = workshop.undisturbed("sft", steps=40, every=0)
    run = workshop.run("sft", steps=40, every=0)
    with trainer_of(run) as trainer:
        trainer.wait_for_activity("training", 2)
        everyone = trainer.everyone()
        trainer.process.send_signal(signal.SIGINT)  # Ctrl+C is for whoever started it
        began = time.monotonic()
        WAYS[way](trainer)
        ended = trainer.ended()
        assert time.monotonic() - began < SOON_S
        assert not any(map(is_alive, everyone))
    reason = "The program that started it has ended." if way == "standard input" else "It was asked to end."
    state = run.read_state()
    assert (ended.state, ended.exit_code, ended.problem) == ("stopped", 130, reason)
    assert (state.state, state.reason, state.pid) == ("stopped", reason, 0)
    assert 1 <= state.step == ended.step < 40
    assert steps_of(run) == list(range(1, state.step + 1))
    run.stop.unlink(missing_ok=True)
    run.pause.unlink(missing_ok=True)
    assert train_here(run).state == "finished"
    assert_same_result(workshop, run, undisturbed)


@pytest.mark.parametrize(
    "moment",
    ["sampling", "training", *(pytest.param(m, marks=pytest.mark.slow) for m in ("loading", "evaluating", "saving"))],
)
def test_a_pause_at_any_moment_changes_nothing_and_is_not_counted_as_work(workshop: Workshop, moment: str):
    undisturbed = workshop.undisturbed("rl", steps=2)
    run = workshop.run("rl", steps=2)
    done: list[float] = []

    def pause() -> None:
        run.pause.touch()
        threading.Thread(target=go_on, daemon=True).start()

    def go_on() -> None:
        wait_for_state(run, "paused")
        time.sleep(PAUSE_S)
        done.append(run.read_state().worked_seconds)
        run.pause.unlink()

    began = time.monotonic()
    train_here(run, once(moment, pause))
    took_s = time.monotonic() - began
    assert 0 < done[0] < run.read_state().worked_seconds <= took_s - PAUSE_S
    assert_same_result(workshop, run, undisturbed)


def test_a_pause_that_is_over_before_the_engine_has_obeyed_is_no_failure(workshop: Workshop):
    undisturbed = workshop.undisturbed("rl", steps=1, **LONG_ANSWERS)
    run = workshop.run("rl", steps=1, **LONG_ANSWERS)

    def flicker() -> None:
        for _ in range(20):
            run.pause.touch()
            time.sleep(0.22)
            run.pause.unlink(missing_ok=True)
            time.sleep(0.05)

    def begin() -> None:
        threading.Thread(target=flicker, daemon=True).start()

    assert train_here(run, once("evaluating", begin)).state == "finished"
    assert_same_result(workshop, run, undisturbed)


def once(moment: str, act: Callable[[], None]) -> Callable[[Event], None]:
    """Calls `act` when this is done for the first time."""
    done: list[Event] = []

    def on_event(event: Event) -> None:
        if isinstance(event, Progress) and event.activity == moment and not done:
            done.append(event)
            act()

    return on_event


def stop_while_paused(trainer: TrainerProcess) -> None:
    trainer.run.pause.touch()
    wait_for_state(trainer.run, "paused")
    trainer.run.stop.touch()


def signal_politely(trainer: TrainerProcess) -> None:
    trainer.process.send_signal(signal.SIGTERM)


def hang_up(trainer: TrainerProcess) -> None:
    assert trainer.process.stdin is not None
    trainer.process.stdin.close()


WAYS = {"stop file while paused": stop_while_paused, "polite signal": signal_politely, "standard input": hang_up}


def wait_for_state(run: RunFolder, state: str) -> None:
    wait_until(lambda: run.read_state().state == state, f"the run is {state}", timeout_s=SOON_S)


def processor_s(trainer: TrainerProcess) -> float:
    """CPU seconds that trainer and engine take together within `LOOKED_AT_S`."""

    def taken() -> dict[int, float]:
        times = {one.pid: one.cpu_times() for one in everyone}
        return {pid: time_.user + time_.system for pid, time_ in times.items()}

    everyone: list[psutil.Process] = trainer.everyone()
    assert len(everyone) > 1
    before = taken()
    time.sleep(LOOKED_AT_S)
    return sum(taken().values()) - sum(before.values())
