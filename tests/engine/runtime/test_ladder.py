"""A base that does not fit is asked for less, step by step, and the user is told what was given up."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import BadModelFile, OutOfMemory
from engine.runtime import ladder
from engine.runtime.child import ChildRuntime
from engine.runtime.devices import Device, backend
from engine.runtime.protocol import LoadPlan, ModelInfo
from tests.support.completing import complete

INFO = ModelInfo("hash", "llama", "a base", 8192, 100, "CPU")
PLAN = LoadPlan("base.gguf", context_tokens=8192, pool_tokens=16384)


class Small:
    """A runtime with room for plans that `fits` accepts."""

    def __init__(self, fits) -> None:  # type: ignore[no-untyped-def]
        self.fits = fits
        self.tried: list[LoadPlan] = []

    def load(self, plan: LoadPlan) -> ModelInfo:
        self.tried.append(plan)
        if not self.fits(plan):
            raise OutOfMemory("There is no memory.", "Close other programs.")
        return INFO


def test_a_plan_that_fits_is_taken_as_it_is() -> None:
    runtime = Small(lambda plan: True)
    assert ladder.load(runtime, PLAN) == (INFO, PLAN, "")  # type: ignore[arg-type]


def test_the_steps_give_up_what_costs_least_first() -> None:
    plans = [plan for plan, _ in ladder.steps_down(replace(PLAN, gpu_layers=20))]
    assert plans[0] == replace(PLAN, gpu_layers=20, pool_tokens=8192)
    assert plans[1].kv_type == "q8_0"
    assert [plan.micro_batch_tokens for plan in plans[2:4]] == [128, 64]
    assert plans[4].tensor_overrides
    assert [plan.context_tokens for plan in plans[5:8]] == [4096, 2048, 1024]
    assert plans[-1].gpu_layers == 0
    assert len(set(plans)) == len(plans)


def test_what_was_given_up_is_said_once_each() -> None:
    *_, (smallest, given_up) = ladder.steps_down(replace(PLAN, gpu_layers=0))
    assert smallest.context_tokens == 1024
    assert (
        given_up == "room for one view at a time only, KV cache in 8 bits, batches of 64 tokens, context of 1024 tokens"
    )


def test_the_largest_plan_that_fits_is_taken_and_told() -> None:
    runtime = Small(lambda plan: plan.context_tokens <= 4096)
    _, plan, notice = ladder.load(runtime, replace(PLAN, gpu_layers=0))  # type: ignore[arg-type]
    assert plan.context_tokens == plan.pool_tokens == 4096
    assert "context of 4096 tokens" in notice
    assert "There is no memory" in notice


def test_where_nothing_fits_the_first_reason_is_raised() -> None:
    runtime = Small(lambda plan: False)
    with pytest.raises(OutOfMemory):
        ladder.load(runtime, PLAN)  # type: ignore[arg-type]
    assert len(runtime.tried) > 5


@pytest.mark.model
def test_a_real_child_with_little_memory_runs_with_less(starter_base: Path) -> None:
    runtime = ChildRuntime(memory_bytes=600 << 20)
    try:
        wanted = LoadPlan(str(starter_base), context_tokens=8192, pool_tokens=65536, threads=1)
        _, plan, notice = ladder.load(runtime, wanted)
        assert plan.pool_tokens < wanted.pool_tokens
        assert "Memory is short" in notice
        assert complete(runtime, runtime.encode("Once upon a time"), max_tokens=4).reason == "length"  # type: ignore[arg-type]
    finally:
        runtime.close()


@pytest.mark.model
def test_a_file_that_is_no_base_is_not_tried_smaller(tmp_path: Path) -> None:
    path = tmp_path / "base.gguf"
    path.write_bytes(b"no model at all, but long enough to be looked at")
    runtime = ChildRuntime()
    try:
        with pytest.raises(BadModelFile):
            ladder.load(runtime, LoadPlan(str(path)))
    finally:
        runtime.close()


CPU = Device("CPU", "A processor", False)
GPU = Device("CUDA0", "A graphics card", True)


@pytest.mark.parametrize(
    ("found", "gpu_layers", "where", "why"),
    [
        ((CPU,), -1, "CPU, 2 threads (A processor)", "built without a GPU"),
        ((GPU, CPU), -1, "CUDA0 (A graphics card)", "found it"),
        ((GPU, CPU), 12, "CUDA0 (A graphics card)", "12 layers"),
        ((GPU, CPU), 0, "CPU, 2 threads (A processor)", "keeps all layers on the CPU"),
    ],
    ids=["no GPU", "a GPU", "some layers", "GPU not used"],
)
def test_the_backend_is_named_with_its_reason(found: tuple[Device, ...], gpu_layers: int, where: str, why: str) -> None:
    told = backend(found, gpu_layers, 2, 2, can_offload=len(found) > 1)
    assert told[0] == where
    assert why in told[1]


def test_threads_are_told_apart_where_reading_takes_more_of_them() -> None:
    assert backend((CPU,), 0, 1, 4, can_offload=False)[0] == "CPU, 1 thread, 4 to read (A processor)"
