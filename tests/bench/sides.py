"""Two engines behind one call: complete these token ids under this adapter, and say how long everything took.

Both stream, and both are timed here, where their user sits: from the call to each token. What they say of themselves is
kept beside it. Knows nothing of goals.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import httpx
import psutil

from engine.runtime.child import ChildRuntime
from engine.runtime.identity import adapter_ref
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import Finished, LoadPlan, Request, Runtime, Token, Tokens
from tests.bench import llama_server

OURS: Final = "engine child"
INSIDE: Final = "in-process"
THEIRS: Final = "llama-server"


@dataclass(frozen=True, slots=True)
class Timed:
    """One completion. Seconds; `own_…` are by the engine's own clock, the others by the caller's."""

    prompt_tokens: int
    reused_tokens: int
    completion: tuple[int, ...]
    first_token_s: float
    decode_s: float
    """From the first token to the last."""
    own_prefill_s: float
    own_decode_s: float
    engine_cpu_s: float
    """Processor time of the process that holds the engine."""

    @property
    def decode_rate(self) -> float:
        """Tokens per second after the first."""
        return (len(self.completion) - 1) / self.decode_s

    @property
    def own_decode_rate(self) -> float:
        return (len(self.completion) - 1) / self.own_decode_s

    @property
    def prefill_rate(self) -> float:
        """Prompt tokens per second until the first token is there."""
        return (self.prompt_tokens - self.reused_tokens) / self.first_token_s

    @property
    def own_prefill_rate(self) -> float:
        return (self.prompt_tokens - self.reused_tokens) / self.own_prefill_s


class Side(Protocol):
    name: str
    process_id: int

    def complete(self, adapter: int, tokens: Sequence[int], max_tokens: int) -> Timed:
        """Greedily. Each adapter has one view, from which the next call takes what it can."""
        ...


class RuntimeSide:
    """One of our runtimes. A view is named after its adapter."""

    def __init__(self, name: str, runtime: Runtime, process_id: int, adapters: Sequence[Path]) -> None:
        self.name = name
        self.process_id = process_id
        self._runtime = runtime
        self._adapters = [adapter_ref(path) for path in adapters]
        self._process = psutil.Process(process_id)

    def complete(self, adapter: int, tokens: Sequence[int], max_tokens: int) -> Timed:
        stack = (self._adapters[adapter],)
        request = Request(tuple(tokens), max_tokens, stack, cache_key=_view_name(adapter))
        arrivals: list[float] = []
        completion: list[int] = []
        end: Finished | None = None
        cpu_s, started = _cpu_s(self._process), time.perf_counter()
        for piece in self._runtime.generate([request]):
            if isinstance(piece, Token):
                arrivals.append(time.perf_counter())
                completion.append(piece.token)
            elif isinstance(piece, Finished):
                end = piece
        assert end is not None
        return Timed(
            end.usage.prompt_tokens,
            end.usage.reused_tokens,
            tuple(completion),
            arrivals[0] - started,
            arrivals[-1] - arrivals[0],
            end.usage.prefill_ms / 1000,
            end.usage.decode_ms / 1000,
            _cpu_s(self._process) - cpu_s,
        )

    def encode(self, text: str) -> Tokens:
        return self._runtime.encode(text)

    def forget(self, adapter: int) -> None:
        """The view of this adapter."""
        self._runtime.drop(_view_name(adapter))


class ServerSide:
    """llama-server; the adapter with index i has slot i to itself."""

    def __init__(self, name: str, client: httpx.Client, process_id: int) -> None:
        self.name = name
        self.process_id = process_id
        self._client = client
        self._process = psutil.Process(process_id)

    def complete(self, adapter: int, tokens: Sequence[int], max_tokens: int) -> Timed:
        body = {
            "prompt": list(tokens),
            "n_predict": max_tokens,
            "stream": True,
            "return_tokens": True,
            "id_slot": adapter,
            "lora": [{"id": adapter, "scale": 1.0}],
            "cache_prompt": True,
            # Greedy by its shortest sampler chain.
            "samplers": ["top_k"],
            "top_k": 1,
            "temperature": 0.0,
        }
        arrivals: list[float] = []
        completion: list[int] = []
        timings: dict[str, Any] = {}
        cpu_s, started = _cpu_s(self._process), time.perf_counter()
        for event in self._stream(body):
            if tokens_now := event.get("tokens"):
                arrivals.append(time.perf_counter())
                completion += tokens_now
            timings = event.get("timings", timings)
        return Timed(
            timings["prompt_n"] + timings["cache_n"],
            timings["cache_n"],
            tuple(completion),
            arrivals[0] - started,
            arrivals[-1] - arrivals[0],
            timings["prompt_ms"] / 1000,
            timings["predicted_ms"] / 1000,
            _cpu_s(self._process) - cpu_s,
        )

    def _stream(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        with self._client.stream("POST", "/completion", json=body) as response:
            if response.is_error:
                response.read()
            response.raise_for_status()
            for line in response.iter_lines():
                if line.startswith("data: {"):
                    yield json.loads(line[len("data: ") :])


@dataclass(frozen=True, slots=True)
class Sides:
    """All that are compared. `theirs` is None where there is no llama-server, and `no_server` says why."""

    ours: RuntimeSide
    inside: RuntimeSide
    theirs: ServerSide | None
    no_server: str

    def everyone(self) -> list[Side]:
        return [self.ours, self.inside, *([self.theirs] if self.theirs else [])]

    def opponents(self) -> list[Side]:
        return [self.ours, *([self.theirs] if self.theirs else [])]


@contextmanager
def open_sides(plan: LoadPlan, adapters: Sequence[Path]) -> Iterator[Sides]:
    """Every side loaded by the same plan, all of them children of this process or in it."""
    with ExitStack() as stack:
        inside, child = LlamaRuntime(), ChildRuntime()
        for runtime in (inside, child):
            stack.callback(runtime.close)
            runtime.load(plan)
        assert child.process_id is not None
        theirs, no_server = None, ""
        try:
            theirs = ServerSide(THEIRS, *stack.enter_context(llama_server.running(plan, adapters)))
        except llama_server.CannotBuild as problem:
            no_server = str(problem)
        yield Sides(
            RuntimeSide(OURS, child, child.process_id, adapters),
            RuntimeSide(INSIDE, inside, os.getpid(), adapters),
            theirs,
            no_server,
        )


def _view_name(adapter: int) -> str:
    return f"view {adapter}"


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def private_bytes(process_id: int) -> dict[str, int]:
    """Resident memory of a process: `unique` is its own alone, `proportional` adds its share of what is shared."""
    memory = psutil.Process(process_id).memory_full_info()
    return {"unique": memory.uss, "proportional": getattr(memory, "pss", memory.uss), "resident": memory.rss}
