"""Many adapters through the engine one after another, with room for four: does the child grow, how long does each take?

Every file has weights of its own, so that each is loaded from the disk and another has to leave. What is told is the
resident memory of a real engine child, once it has settled and at the end, and the time that an adapter costs which is
not loaded yet: of the same score under it twice, the first less the second.
"""

import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import psutil

from engine.runtime.child import ChildRuntime
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterRef, LoadPlan, ScoreRequest
from tests.bench.report import Figure, middle, progress
from tests.support.adapters import write_random_adapter

ROOM: Final = 4
"""Adapters that the budget has room for."""
SETTLED_AFTER: Final = 20
"""Loads after which a child that frees what it no longer needs grows no more."""
_WINDOW: Final = 10
"""Loads whose median is taken, since memory that was freed comes back to the system when it pleases."""
_MB: Final = 1e6


@dataclass(frozen=True, slots=True)
class HotLoading:
    files: int
    file_bytes: int
    settled_bytes: float
    """Resident memory of the child around the load `SETTLED_AFTER`."""
    end_bytes: float
    """Around the last load."""
    load_ms: Figure
    changed: int
    """Of the first few adapters, those whose scores were not the same when they were loaded again."""

    @property
    def growth_mb(self) -> float:
        return (self.end_bytes - self.settled_bytes) / _MB

    @property
    def leaked_mb(self) -> float:
        """What the growth would be if no adapter were ever freed."""
        return (self.files - SETTLED_AFTER) * self.file_bytes / _MB


def hot_load(
    base: Path, files: int, seed: int, *, rank: int = 4, kinds: tuple[str, ...] | None = ("attn_q", "attn_output")
) -> HotLoading:
    """`files` different adapters for `base`, at least twice `SETTLED_AFTER` of them, each used once."""
    with tempfile.TemporaryDirectory(prefix="macaron-adapters-") as folder, closing(ChildRuntime()) as runtime:
        progress(f"writing {files} adapters")
        paths = [
            write_random_adapter(
                base, Path(folder) / f"{number}.gguf", rank=rank, seed=seed * files + number, kinds=kinds
            )
            for number in range(files)
        ]
        adapters, file_bytes = [adapter_ref(path) for path in paths], paths[0].stat().st_size
        plan = LoadPlan(
            str(base), context_tokens=256, pool_tokens=512, threads=1, adapter_bytes=ROOM * file_bytes, draft_tokens=0
        )
        runtime.load(plan)
        tokens = runtime.encode("The sea.")
        runtime.score(ScoreRequest(tokens, (tokens,)))  # what the first pass of all sets up is no adapter's
        child = psutil.Process(runtime.process_id)
        resident, costs_ms, scores = [], [], []
        for number, adapter in enumerate(adapters):
            if number % 50 == 0:
                progress(f"loading adapters: {number} of {files}")
            first_ms, score = _scored(runtime, adapter, tokens)
            second_ms, _ = _scored(runtime, adapter, tokens)
            costs_ms.append(first_ms - second_ms)
            scores.append(score)
            resident.append(child.memory_info().rss)
        again = [_scored(runtime, adapter, tokens)[1] for adapter in adapters[: 2 * ROOM]]
    changed = sum(one != other for one, other in zip(again, scores, strict=False))
    settled = resident[SETTLED_AFTER - _WINDOW : SETTLED_AFTER]
    return HotLoading(
        files, file_bytes, median(settled), median(resident[-_WINDOW:]), middle(costs_ms[SETTLED_AFTER:]), changed
    )


def _scored(runtime: ChildRuntime, adapter: AdapterRef, tokens: Sequence[int]) -> tuple[float, tuple[float, ...]]:
    """(milliseconds, log-probabilities) of a few tokens after themselves."""
    request = ScoreRequest(tuple(tokens), (tuple(tokens),), (adapter,))
    started = time.perf_counter()
    scores = runtime.score(request)
    return 1000 * (time.perf_counter() - started), scores.logprobs[0]
