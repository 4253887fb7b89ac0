"""What to do when a base does not fit: ask for less, one step at a time, and say so.

Pure but for `load`, which tries. The steps go from what costs the user least to what costs most.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from engine.errors import OutOfMemory
from engine.runtime.protocol import LoadPlan, ModelInfo, Runtime

_SMALLEST_CONTEXT: Final = 1024
_SMALLEST_BATCH: Final = 64
_EXPERTS: Final = r"\.ffn_(up|down|gate)_exps\."


def steps_down(plan: LoadPlan) -> Iterator[tuple[LoadPlan, str]]:
    """Ever smaller plans, each with what was given up compared with `plan`."""
    given_up: list[str] = []
    for smaller, what in _steps(plan):
        given_up = [*(known for known in given_up if known.split()[0] != what.split()[0]), what]
        yield smaller, ", ".join(given_up)


def _steps(plan: LoadPlan) -> Iterator[tuple[LoadPlan, str]]:
    if plan.draft_tokens > 0:
        plan = replace(plan, draft_tokens=0)
        yield plan, "no tokens drafted ahead"
    if plan.pool_tokens > plan.context_tokens:
        plan = replace(plan, pool_tokens=plan.context_tokens)
        yield plan, "room for one view at a time only"
    if plan.kv_type == "f16":
        plan = replace(plan, kv_type="q8_0")
        yield plan, "KV cache in 8 bits"
    while plan.micro_batch_tokens > _SMALLEST_BATCH:
        batch = max(_SMALLEST_BATCH, plan.micro_batch_tokens // 2)
        plan = replace(plan, micro_batch_tokens=batch, batch_tokens=batch)
        yield plan, f"batches of {batch} tokens"
    if plan.gpu_layers != 0 and (_EXPERTS, "CPU") not in plan.tensor_overrides:
        plan = replace(plan, tensor_overrides=(*plan.tensor_overrides, (_EXPERTS, "CPU")))
        yield plan, "routed experts on the CPU"
    while plan.context_tokens > _SMALLEST_CONTEXT:
        context = max(_SMALLEST_CONTEXT, plan.context_tokens // 2)
        plan = replace(plan, context_tokens=context, pool_tokens=context)
        yield plan, f"context of {context} tokens"
    if plan.gpu_layers != 0:
        plan = replace(plan, gpu_layers=0, tensor_overrides=())
        yield plan, "all layers on the CPU"


def load(runtime: Runtime, plan: LoadPlan) -> tuple[ModelInfo, LoadPlan, str]:
    """Load `plan`, or the largest smaller one that fits. Returns the plan in use and a notice, empty when all fits.

    Raises: OutOfMemory when not even the smallest fits, and what `Runtime.load` raises.
    """
    try:
        return runtime.load(plan), plan, ""
    except OutOfMemory as first:
        for smaller, given_up in steps_down(plan):
            try:
                info = runtime.load(smaller)
            except OutOfMemory:
                continue
            return info, smaller, f"Memory is short, so the base runs with less: {given_up}. ({first.problem})"
        raise
