"""ChildRuntime: the Runtime protocol over a pipe to an engine child, which may crash, hang or run out of memory.

Every request carries its whole prompt, so a lost child costs time and nothing else: a new one is started, loads the
same base, and goes on with the requests where they broke off, their completions so far included. Imports no llama_cpp.
"""

import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from engine.errors import OutOfMemory, RuntimeFailed
from engine.runtime import wire
from engine.runtime.child_process import Build, ChildLost, EngineChild
from engine.runtime.memory_limit import tells_of_memory
from engine.runtime.protocol import (
    NEVER,
    LoadPlan,
    ModelInfo,
    Piece,
    Request,
    ScoreRequest,
    Scores,
    Stop,
    Token,
    Tokens,
)
from engine.runtime.quarantine import NO_QUARANTINE, Quarantine
from engine.runtime.resuming import (
    Resumable,
    piece_from_plain,
    pieces_from_plain,
    value_from_plain,
    vectors_from_plain,
)

if TYPE_CHECKING:
    import numpy as np

_SILENCE_S: Final = 60.0
"""How long a child may give no sign. Machines that swap are slow, so it is generous."""
_RESTARTS: Final = 2
"""How often one call may lose its child before it fails."""
_CRASHES: Final = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP"})
_ENCODED_TEXTS: Final = 512
_ENCODED_CHARACTERS: Final = 8192
"""Longer texts are encoded again each time, so that what is remembered stays small."""


class ChildRuntime:
    """See `engine.runtime.protocol.Runtime`. Calls may come from any thread."""

    def __init__(
        self,
        *,
        memory_bytes: int = 0,
        environment: Mapping[str, str] | None = None,
        quarantine: Quarantine = NO_QUARANTINE,
        silence_s: float = _SILENCE_S,
    ) -> None:
        """`memory_bytes` limits the child's private memory where the system can (0: no limit).

        `silence_s` is how long a child may give no sign before it counts as hanging.
        """
        self._memory_bytes = memory_bytes
        self._environment = dict(environment or {})
        self._quarantine = quarantine
        self._silence_s = silence_s
        self._proven: set[str] = set()
        """Files that have worked here, by path: later crashes are not theirs."""
        self._plan: LoadPlan | None = None
        self._child: EngineChild | None = None
        self._encoded: dict[str, Tokens] = {}
        self._starting = threading.RLock()
        self._closed = False

    # The protocol

    def load(self, plan: LoadPlan) -> ModelInfo:
        self._quarantine.check(plan.base)
        with self._starting:
            self._plan = None
            self._encoded.clear()
            info = self._loaded(plan)
            self._plan = plan
            return info

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Generator[Piece, None, None]:
        for request in requests:
            for adapter in request.adapters:
                self._quarantine.check(adapter.path)
        work = Resumable(list(requests))
        files = [adapter.path for request in requests for adapter in request.adapters]
        for attempt in range(_RESTARTS + 1):
            message = {"op": "generate", "requests": wire.to_plain(work.remaining())}
            try:
                for piece in self._pieces(message, stop, lambda value, _: work.took(piece_from_plain(value))):
                    if isinstance(piece, Token):
                        self._trust(files)
                    yield piece
                return
            except ChildLost as lost:
                if stop.is_set():
                    yield from work.stopped()
                    return
                if attempt == _RESTARTS:
                    if not work.said_anything:
                        self._suspect(lost.child, files)
                    raise _failure(lost.child) from None

    def score(self, request: ScoreRequest, stop: Stop = NEVER) -> Scores:
        files = [adapter.path for adapter in request.adapters]
        for file in files:
            self._quarantine.check(file)
        message = {"op": "score", "request": wire.to_plain(request)}
        scores = self._once(message, lambda value, _: wire.from_plain(Scores, value), stop, files)
        self._trust(files)
        return cast(Scores, scores)

    def embed(self, texts: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        vectors = self._once({"op": "embed", "texts": list(texts)}, vectors_from_plain)
        return cast("np.ndarray[Any, np.dtype[np.float32]]", vectors)

    def encode(self, text: str) -> Tokens:
        if (known := self._encoded.get(text)) is not None:
            return known
        tokens = cast(Tokens, self._once({"op": "encode", "text": text}, partial(value_from_plain, Tokens)))
        if len(text) <= _ENCODED_CHARACTERS:
            if len(self._encoded) >= _ENCODED_TEXTS:
                self._encoded.pop(next(iter(self._encoded)), None)
            self._encoded[text] = tokens
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        return cast(str, self._once({"op": "decode", "tokens": list(tokens)}, partial(value_from_plain, str)))

    def pieces(self, tokens: Sequence[int]) -> tuple[bytes, ...]:
        """The bytes of each token, which may be parts of a character."""
        return cast(tuple[bytes, ...], self._once({"op": "pieces", "tokens": list(tokens)}, pieces_from_plain))

    def drop(self, cache_key_prefix: str) -> None:
        self._encoded.clear()  # they hold what was said, too
        self._once({"op": "drop", "prefix": cache_key_prefix}, lambda value, _: value)

    def views(self) -> tuple[tuple[str, int], ...]:
        """(cache key, decoded tokens) of every view that is kept."""
        views = self._once({"op": "views"}, partial(value_from_plain, tuple[tuple[str, int], ...]))
        return cast(tuple[tuple[str, int], ...], views)

    def close(self) -> None:
        """End the child and all its memory. Safe to call twice; a call that runs elsewhere fails."""
        with self._starting:
            self._closed = True
            child, self._child = self._child, None
        if child is not None:
            child.close()

    def release(self) -> None:
        """End the child but stay usable: the next call starts another. For idle times and the night."""
        self.close()
        with self._starting:
            self._closed = False

    @property
    def process_id(self) -> int | None:
        """Of the child, while there is one."""
        child = self._child
        return child.process_id if child and not child.ended else None

    @property
    def memory_bytes(self) -> int:
        """Private memory of the child at its last heartbeat."""
        return self._child.memory_bytes if self._child else 0

    # Asking

    def _once(self, message: dict[str, Any], build: Build, stop: Stop = NEVER, files: Sequence[str] = ()) -> Any:
        """One answer. Asked again in another child when this one is lost."""
        restarts = 0
        while True:
            try:
                (answer,) = self._pieces(message, stop, build)
                return answer
            except ChildLost as lost:
                if restarts == _RESTARTS:
                    self._suspect(lost.child, files)
                    raise _failure(lost.child) from None
                restarts += 1

    def _pieces(self, message: dict[str, Any], stop: Stop, build: Build) -> Iterator[Any]:
        """Raises: ChildLost when the child ends, and whatever error the child reports."""
        yield from self._ready().ask(message, stop, build)

    # Having a child

    def _ready(self) -> EngineChild:
        """A child that has the base loaded."""
        with self._starting:
            if self._plan is None:
                raise RuntimeFailed("No base is loaded.", "Load one first.")
            if self._child is None or self._child.ended:
                self._loaded(self._plan)
            return self._living()

    def _living(self) -> EngineChild:
        if self._closed:
            raise RuntimeFailed("The runtime is closed.", "Restart the program.")
        if self._child is None or self._child.ended:
            self._child = EngineChild(
                memory_bytes=self._memory_bytes, environment=self._environment, silence_s=self._silence_s
            )
        return self._child

    def _loaded(self, plan: LoadPlan) -> ModelInfo:
        """Load `plan` into a living child; again where it was killed, in case that had nothing to do with it."""
        message = {"op": "load", "plan": wire.to_plain(plan)}
        child = self._living()
        for _ in range(_RESTARTS + 1):
            child = self._living()
            try:
                (info,) = child.ask(message, NEVER, partial(value_from_plain, ModelInfo))
                return cast(ModelInfo, info)
            except ChildLost:
                child.wait()
            if child.how in _CRASHES:
                break
        if child.how == "SIGKILL" or tells_of_memory(child.last_words):
            # Linux ends a process that takes the last memory by SIGKILL.
            raise OutOfMemory(
                f"The engine ended while it loaded {Path(plan.base).name} ({child.how}); memory may be short.",
                "Close other programs, or choose a smaller context or base.",
            )
        self._suspect(child, [plan.base])
        raise _failure(child)

    # Explaining

    def _trust(self, files: Sequence[str]) -> None:
        if self._plan is not None:
            self._proven.update((self._plan.base, *files))

    def _suspect(self, child: EngineChild, files: Sequence[str]) -> None:
        """Remember the files that a child crashed over: adapters not seen to work so far; with none, such a base."""
        child.wait()
        if child.how not in _CRASHES or tells_of_memory(child.last_words):
            return
        base = [self._plan.base] if self._plan else []
        unproven = [file for file in files if file not in self._proven]
        for file in unproven or [file for file in base if file not in self._proven]:
            self._quarantine.add(file, f"{child.how} {child.last_words}".strip())


def _failure(child: EngineChild) -> RuntimeFailed:
    child.wait()
    return RuntimeFailed(
        f"The engine ended unexpectedly ({child.how}){': ' + child.last_words if child.last_words else ''}.",
        "Close other programs if memory is short, or choose a smaller base or context; then try again.",
    )
