"""LlamaRuntime: llama.cpp in this process, owned by one worker thread.

A context is not thread-safe, so one thread owns model, adapters and views, and everyone else queues jobs. Jobs run
in the order they came. A stop reaches native code at once through the abort flag, in every phase.
"""

import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from engine.errors import AgentError, BindingMismatch, NoNumbers, OutOfMemory, RuntimeFailed, UsageProblem, boundary
from engine.runtime import binding, threads
from engine.runtime.adapters import AdapterPool
from engine.runtime.decoding import Decoder
from engine.runtime.devices import backend, can_offload, devices
from engine.runtime.drafting import MOST_DRAFT_TOKENS, DraftCounts, can_draft, draft_tokens
from engine.runtime.embedder import Embedder
from engine.runtime.gguf import check_base, read_header
from engine.runtime.identity import fingerprint
from engine.runtime.native import Native
from engine.runtime.protocol import (
    NEVER,
    WHERE_IT_PAYS,
    LoadPlan,
    ModelInfo,
    Piece,
    Request,
    ScoreRequest,
    Scores,
    Stop,
    Tokens,
)
from engine.runtime.scoring import Scorer
from engine.runtime.threads import usable_cores
from engine.runtime.views import ViewTable

_POLL_S: Final = 0.02
"""How long a stop may go unnoticed by the thread that waits for pieces."""
_END: Final = object()
_READ_TOKENS: Final = 4
"""Tokens of a trial batch per token of a trial decode."""

T = TypeVar("T")


class _Job:
    """Work for the worker thread: a generator whose values, or error, come back through `results`."""

    def __init__(self, work: Callable[[Stop], Iterator[Any]], stop: Stop) -> None:
        self.work = work
        self.results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._stop = stop
        self._cancelled = threading.Event()

    def is_set(self) -> bool:
        """The job is its own stop flag: the caller's, or a caller that went away."""
        return self._cancelled.is_set() or self._stop.is_set()

    def cancel(self) -> None:
        self._cancelled.set()


class LlamaRuntime:
    """See `engine.runtime.protocol.Runtime`."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._current: _Job | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="llama", daemon=True)
        self._thread.start()
        self._native: Native | None = None
        self._loaded: _Loaded | None = None

    def load(self, plan: LoadPlan) -> ModelInfo:
        return self._call(lambda stop: self._load(plan))

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Generator[Piece, None, None]:
        requests = list(requests)
        yield from self._pieces(lambda job_stop: self._models().generate(requests, job_stop), stop)

    def score(self, request: ScoreRequest, stop: Stop = NEVER) -> Scores:
        return self._call(lambda job_stop: self._models().score(request, job_stop), stop)

    def embed(self, texts: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        return self._call(lambda stop: self._models().embed(texts))

    def encode(self, text: str) -> Tokens:
        return self._models().native.tokenize(text)

    def decode(self, tokens: Sequence[int]) -> str:
        native = self._models().native
        return b"".join(native.piece(token) for token in tokens).decode("utf-8", "replace")

    def pieces(self, tokens: Sequence[int]) -> tuple[bytes, ...]:
        """The bytes of each token, which may be parts of a character."""
        native = self._models().native
        return tuple(native.piece(token) for token in tokens)

    def drop(self, cache_key_prefix: str) -> None:
        self._call(lambda stop: self._models().views.drop(cache_key_prefix))

    def views(self) -> tuple[tuple[str, int], ...]:
        """(cache key, decoded tokens) of every view that is kept, for status displays and tests."""
        return self._call(lambda stop: tuple((v.cache_key, len(v.tokens)) for v in self._models().views.views))

    def draft_counts(self) -> DraftCounts:
        """Tokens guessed ahead since the base was loaded, for status displays and tests."""
        return self._call(lambda stop: self._models().decoder.drafter.counts)

    def close(self) -> None:
        """End the running job, free everything, end the thread. Safe to call twice."""
        if not self._thread.is_alive():
            return
        with self._lock:
            if self._current:
                self._current.cancel()
                self._abort()
        self._jobs.put(None)
        self._thread.join()

    # The caller's side

    def _call(self, work: Callable[[Stop], T], stop: Stop = NEVER) -> T:
        def once(job_stop: Stop) -> Iterator[T]:
            yield work(job_stop)

        (result,) = self._pieces(once, stop)
        return result

    def _pieces(self, work: Callable[[Stop], Iterator[T]], stop: Stop) -> Generator[T, None, None]:
        if not self._thread.is_alive():
            raise RuntimeFailed("The runtime is closed.", "Restart the program.")
        job = _Job(work, stop)
        self._jobs.put(job)
        try:
            while True:
                try:
                    result = job.results.get(timeout=_POLL_S)
                except queue.Empty:
                    if job.is_set():
                        self._interrupt(job)
                    continue
                if result is _END:
                    return
                if isinstance(result, AgentError):
                    raise result
                yield result
        finally:
            job.cancel()
            self._interrupt(job)

    def _interrupt(self, job: _Job) -> None:
        """Abort the decode that is running, if it is this job's."""
        with self._lock:
            if self._current is job:
                self._abort()

    def _abort(self) -> None:
        if self._loaded:
            self._loaded.native.abort.set()

    # The worker's side

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with self._lock:
                self._current = job
                if self._loaded:
                    self._loaded.native.abort.clear()
            self._serve(job)
            with self._lock:
                self._current = None
        if self._loaded:
            self._loaded.close()
            self._loaded = None

    def _serve(self, job: _Job) -> None:
        try:
            with boundary(RuntimeFailed, "The runtime failed", "Try again; restart the program if it recurs."):
                for piece in job.work(job):
                    job.results.put(piece)
        except AgentError as error:
            job.results.put(error)  # the thread lives on; the caller raises it
        finally:
            job.results.put(_END)

    def _load(self, plan: LoadPlan) -> ModelInfo:
        if self._loaded:
            self._loaded.close()
            self._loaded = None
        self._loaded = _Loaded(plan)
        return self._loaded.info

    def _models(self) -> "_Loaded":
        if self._loaded is None:
            raise RuntimeFailed("No base is loaded.", "Load one first.")
        return self._loaded


class _Loaded:
    """Everything that belongs to one loaded base."""

    def __init__(self, plan: LoadPlan) -> None:
        path = Path(plan.base)
        header = read_header(path)
        check_base(header)
        nextn_layers = header.metadata.get(f"{header.architecture}.nextn_predict_layers", 0)
        drafts = can_draft(header.architecture, int(nextn_layers))
        self.native = _open(plan, drafts=drafts)
        self.plan = plan = self.native.plan
        self.threads, reading = (plan.threads, plan.threads) if plan.threads else self._fastest_threads()
        self.native.set_threads(self.threads, reading)
        where, why = backend(devices(), plan.gpu_layers, self.threads, reading, can_offload=can_offload())
        self.adapters = AdapterPool(self.native, header, budget_bytes=plan.adapter_bytes)
        self.views = ViewTable(
            self.native,
            max_views=plan.max_views,
            snapshot_bytes=plan.snapshot_bytes,
            parked_bytes=plan.parked_bytes,
        )
        self.decoder = Decoder(self.native, self.views, self.adapters)
        self.scorer = Scorer(self.native, self.views, self.adapters, self.decoder)
        self._embedder: Embedder | None = None
        self.info = ModelInfo(
            base_hash=fingerprint(path),
            architecture=header.architecture,
            name=str(header.metadata.get("general.name", path.stem)),
            context_train=self.native.context_train,
            vocab_size=self.native.vocab_size,
            backend=where,
            backend_reason=why,
            threads=self.threads,
            markup=self.native.markup(),
            bos=self.native.bos(),
            needs_snapshots=self.native.is_recurrent,
            can_draft=drafts,
            draft_tokens=plan.draft_tokens,
        )

    def _fastest_threads(self) -> tuple[int, int]:
        """For writing, token by token, and for reading in batches: the second has more to share out."""

        def write(count: int, tokens: int) -> None:
            self.native.set_threads(count, count)
            for position in range(tokens):
                self.native.decode([0], [position], [0], [False])
            self.native.remove(0)

        def read(count: int, tokens: int) -> None:
            self.native.set_threads(count, count)
            batch = tokens * _READ_TOKENS
            self.native.decode([0] * batch, range(batch), [0] * batch, [False] * batch)
            self.native.remove(0)

        counts = threads.candidates(usable_cores())
        return threads.choose(threads.measure(counts, write)), threads.choose(threads.measure(counts, read))

    def generate(self, requests: Sequence[Request], stop: Stop) -> Iterator[Piece]:
        with self._cleared_of_no_numbers():
            yield from self.decoder.run(requests, stop)

    def score(self, request: ScoreRequest, stop: Stop) -> Scores:
        with self._cleared_of_no_numbers():
            return self.scorer.score(request, stop)

    @contextmanager
    def _cleared_of_no_numbers(self) -> Iterator[None]:
        """One broken adapter must not spoil what others compute after it."""
        try:
            yield
        except NoNumbers:
            self.views.drop("")
            self.native.clear()
            raise

    def embed(self, texts: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        if self._embedder is None:
            if self.plan.embedder is None:
                raise RuntimeFailed("No embedder is configured.", "Name one in the profile.")
            self._embedder = Embedder(self.plan.embedder, self.threads)
        return self._embedder.embed(texts)

    def close(self) -> None:
        if self._embedder:
            self._embedder.close()
        self.adapters.close()
        self.native.close()


def _open(plan: LoadPlan, *, drafts: bool) -> Native:
    """Load the base; where the plan leaves drafting open, with it only if it pays and fits.

    Raises: UsageProblem when the plan asks for more drafting than there is, or than the base carries a block for.
    """
    binding.start()  # before the first look at the devices, so that its log is ours
    count = draft_tokens(plan, can_draft=drafts, has_gpu=can_offload() and any(found.is_gpu for found in devices()))
    if not 0 <= count <= MOST_DRAFT_TOKENS:
        raise UsageProblem(
            f"{count} tokens cannot be drafted per step.", f"Set draft_tokens to a number up to {MOST_DRAFT_TOKENS}."
        )
    if count > 0 and not drafts:
        raise UsageProblem(
            f"{Path(plan.base).name} cannot draft tokens ahead: it carries no block for that.",
            "Set draft_tokens to 0, or choose a base with MTP (multi-token prediction) layers.",
        )
    try:
        return Native(replace(plan, draft_tokens=count))
    except (OutOfMemory, BindingMismatch):
        if count == 0 or plan.draft_tokens != WHERE_IT_PAYS:
            raise
        return Native(replace(plan, draft_tokens=0))
