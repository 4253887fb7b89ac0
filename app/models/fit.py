"""Does a base fit this machine, and how fast will it be? Pure arithmetic over estimates.

Knows neither files nor devices: the sizes of a base and of a machine come in as values. Units: bytes, tokens, seconds.
"""

from dataclasses import dataclass
from typing import Final, Literal

from engine.runtime.protocol import LoadPlan

Verdict = Literal["fits", "slow", "no"]

LIST_CONTEXT_TOKENS: Final = 8192
"""The context that lists reckon with."""
CONTEXTS: Final = (32768, 16384, 8192, 4096, 2048)
"""Contexts a new profile may get, the longest first."""

_PLAN: Final = LoadPlan("")
_POOL_OF_CONTEXT: Final = 2
"""The engine keeps cells for twice the context, so that several views stay read."""
_KV_BYTES: Final = 2 * 2
"""Keys and values, in 16 bits each."""
_LEAST_COMPUTE_BYTES: Final = 64 << 20
_LEAST_MARGIN_BYTES: Final = 512 << 20
_MARGIN_SHARE: Final = 0.05
_USABLE_SHARE: Final = 0.9
"""Of all memory, once other programs are closed."""
_COMFORTABLE_SHARE: Final = 0.8
"""Of what is free now, for a base that is recommended."""
_CPU_BYTES_PER_S: Final = 20e9
_UNIFIED_BYTES_PER_S: Final = 100e9
"""What ordinary memory delivers in practice; each token reads every active weight once."""
_READABLE_TOKENS_PER_S: Final = 4.0
"""About as fast as most people read."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a base takes memory."""

    weights_bytes: int
    active_bytes: int
    """Weights read for each token; fewer than all in a mixture of experts."""
    layers: int
    """Those with attention."""
    kv_heads: int
    head_size: int
    vocabulary: int
    context_tokens: int
    """The longest it was made for."""
    state_bytes: int = 0
    """Of all recurrent layers, per view."""


@dataclass(frozen=True, slots=True)
class Machine:
    memory_bytes: int
    free_memory_bytes: int
    """What can be had without others being swapped out."""
    gpu: str = ""
    """Name of the GPU that llama.cpp can use; empty without one."""
    free_gpu_bytes: int = 0
    is_unified: bool = False
    """GPU and CPU share the memory, as in Apple's machines."""


@dataclass(frozen=True, slots=True)
class Need:
    """Memory a base takes, in bytes."""

    weights: int
    kv: int
    state: int
    compute: int
    margin: int

    @property
    def total(self) -> int:
        return self.weights + self.kv + self.state + self.compute + self.margin


@dataclass(frozen=True, slots=True)
class Fit:
    """`reason` is the key of a text: gpu, memory, slow, split, close or none."""

    verdict: Verdict
    reason: Literal["gpu", "memory", "slow", "split", "close", "none"]
    need: Need
    room_bytes: int
    """What there is of the memory that was compared."""
    context_tokens: int


def need_of(shape: Shape, context_tokens: int) -> Need:
    """Memory to hold `shape` with this context, as the engine plans it."""
    cells = _POOL_OF_CONTEXT * context_tokens
    return Need(
        weights=shape.weights_bytes,
        kv=shape.layers * shape.kv_heads * shape.head_size * _KV_BYTES * cells,
        state=shape.state_bytes * _PLAN.max_views,
        compute=_LEAST_COMPUTE_BYTES + 4 * shape.vocabulary * _PLAN.micro_batch_tokens,
        margin=max(_LEAST_MARGIN_BYTES, int(_MARGIN_SHARE * shape.weights_bytes)),
    )


def fit(shape: Shape, machine: Machine, context_tokens: int = LIST_CONTEXT_TOKENS) -> Fit:
    """Whether `shape` fits `machine` with this context, or with the base's own where that is shorter."""
    context_tokens = min(context_tokens, shape.context_tokens)
    need = need_of(shape, context_tokens)
    free = machine.free_memory_bytes

    def found(verdict: Verdict, reason: Literal["gpu", "memory", "slow", "split", "close", "none"], room: int) -> Fit:
        return Fit(verdict, reason, need, room, context_tokens)

    if machine.gpu and not machine.is_unified and need.total <= machine.free_gpu_bytes:
        return found("fits", "gpu", machine.free_gpu_bytes)
    bytes_per_s = _UNIFIED_BYTES_PER_S if machine.is_unified and machine.gpu else _CPU_BYTES_PER_S
    is_quick = bytes_per_s / max(shape.active_bytes, 1) >= _READABLE_TOKENS_PER_S
    if need.total <= free:
        return found("fits", "memory", free) if is_quick else found("slow", "slow", free)
    if machine.gpu and not machine.is_unified and need.total <= free + machine.free_gpu_bytes:
        return found("slow", "split", free + machine.free_gpu_bytes)
    if need.total <= _USABLE_SHARE * machine.memory_bytes:
        return found("slow", "close", free)
    return found("no", "none", max(free, machine.free_gpu_bytes))


def fitting_context(shape: Shape, machine: Machine) -> int:
    """The longest context that costs nothing: the verdict is as good as with the shortest one."""
    possible = [tokens for tokens in CONTEXTS if tokens <= shape.context_tokens] or [shape.context_tokens]
    best = fit(shape, machine, possible[-1]).verdict
    return next(tokens for tokens in possible if fit(shape, machine, tokens).verdict == best)


def recommend(shapes: dict[str, Shape], machine: Machine) -> str | None:
    """The name of the largest base that fits and leaves something to other programs; None when none does."""
    found = {name: fit(shape, machine) for name, shape in shapes.items()}
    fitting = [
        name
        for name, one in found.items()
        if one.verdict == "fits" and one.need.total <= _COMFORTABLE_SHARE * one.room_bytes
    ]
    return max(fitting, key=lambda name: shapes[name].weights_bytes, default=None)
