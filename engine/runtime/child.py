"""ChildRuntime: the Runtime protocol over a pipe to an engine child, which may crash, hang or run out of memory.

Every request carries its whole prompt, so a lost child costs time and nothing else: a new one is started, loads the
same base, and goes on with the requests where they broke off, their completions so far included. Imports no llama_cpp.
"""

import logging
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np

import engine
from engine.errors import OutOfMemory, RuntimeFailed
from engine.runtime import wire
from engine.runtime.memory_limit import tells_of_memory
from engine.runtime.protocol import (
    NEVER,
    Finished,
    LoadPlan,
    ModelInfo,
    Piece,
    Prefilled,
    Request,
    ScoreRequest,
    Scores,
    Stop,
    Token,
    Tokens,
    Usage,
)
from engine.runtime.quarantine import NO_QUARANTINE, Quarantine

_logger = logging.getLogger(__name__)

_POLL_S: Final = 0.02
_SILENCE_S: Final = 60.0
"""A child that sends no heartbeat for so long, or takes no notice of a stop, hangs and is ended. Machines that swap
are slow, so it is generous."""
_CLOSE_S: Final = 10.0
_ENDING_S: Final = 1.0
_RESTARTS: Final = 2
"""How often one call may lose its child before it fails."""
_CRASHES: Final = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP"})
_ENCODED_TEXTS: Final = 512


_INHERITED: Final = (
    "PATH",
    "HOME",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "LLAMA_CPP_LIB_PATH",
    "CUDA_VISIBLE_DEVICES",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "OMP_NUM_THREADS",
)
"""What the child gets of the host's environment: no secrets, no Python settings."""


class _Lost(Exception):
    """The child ended while it was asked something."""

    def __init__(self, child: "_Child") -> None:
        self.child = child


@dataclass(slots=True)
class _Child:
    """One running child: its process, and a queue per call that waits for frames."""

    process: subprocess.Popen[bytes]
    said: IO[bytes]
    """What it wrote to standard error."""
    calls: dict[int, "queue.SimpleQueue[Any]"] = field(default_factory=dict)
    heard_at: float = field(default_factory=time.monotonic)
    answered_at: float = 0.0
    """When it last sent more than a heartbeat."""
    memory_bytes: int = 0
    end: threading.Event = field(default_factory=threading.Event)
    """Set once it is gone, its streams are closed and the two fields below hold."""
    how: str = ""
    """The signal or exit code that ended it."""
    last_words: str = ""
    """The last line it wrote to standard error."""

    @property
    def ended(self) -> bool:
        return self.end.is_set()


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
        self._info: ModelInfo | None = None
        self._child: _Child | None = None
        self._numbers = iter(range(1, 1 << 62))
        self._encoded: dict[str, Tokens] = {}
        self._starting = threading.RLock()
        self._writing = threading.Lock()
        self._closed = False

    # The protocol

    def load(self, plan: LoadPlan) -> ModelInfo:
        self._quarantine.check(plan.base)
        with self._starting:
            self._plan = None
            self._encoded.clear()
            self._info = self._loaded(plan)
            self._plan = plan
            return self._info

    def generate(self, requests: Sequence[Request], stop: Stop = NEVER) -> Generator[Piece, None, None]:
        for request in requests:
            for adapter in request.adapters:
                self._quarantine.check(adapter.path)
        work = _Resumable(list(requests))
        files = [adapter.path for request in requests for adapter in request.adapters]
        for attempt in range(_RESTARTS + 1):
            message = {"op": "generate", "requests": wire.to_plain(work.remaining())}
            try:
                for piece in self._pieces(message, stop, lambda value, _: work.took(_piece_from_plain(value))):
                    if isinstance(piece, Token):
                        self._trust(files)
                    yield piece
                return
            except _Lost as lost:
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
        vectors = self._once({"op": "embed", "texts": list(texts)}, _vectors_from_plain)
        return cast("np.ndarray[Any, np.dtype[np.float32]]", vectors)

    def encode(self, text: str) -> Tokens:
        if (known := self._encoded.get(text)) is not None:
            return known
        tokens = cast(Tokens, self._once({"op": "encode", "text": text}, partial(_plain, Tokens)))
        if len(self._encoded) >= _ENCODED_TEXTS:
            self._encoded.pop(next(iter(self._encoded)), None)
        self._encoded[text] = tokens
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        return cast(str, self._once({"op": "decode", "tokens": list(tokens)}, partial(_plain, str)))

    def drop(self, cache_key_prefix: str) -> None:
        self._once({"op": "drop", "prefix": cache_key_prefix}, lambda value, _: value)

    def views(self) -> tuple[tuple[str, int], ...]:
        """(cache key, decoded tokens) of every view that is kept."""
        views = self._once({"op": "views"}, partial(_plain, tuple[tuple[str, int], ...]))
        return cast(tuple[tuple[str, int], ...], views)

    def close(self) -> None:
        """End the child and all its memory. Safe to call twice; a call that runs elsewhere fails."""
        with self._starting:
            self._closed = True
            child, self._child = self._child, None
        if child is None:
            return
        try:
            self._send(child, {"op": "close", "id": 0})
            child.process.wait(_CLOSE_S)
        except (OSError, subprocess.TimeoutExpired):
            child.process.kill()
        child.end.wait()

    def release(self) -> None:
        """End the child but stay usable: the next call starts another. For idle times and the night."""
        self.close()
        with self._starting:
            self._closed = False

    @property
    def process_id(self) -> int | None:
        """Of the child, while there is one."""
        child = self._child
        return child.process.pid if child and not child.ended else None

    @property
    def memory_bytes(self) -> int:
        """Private memory of the child at its last heartbeat."""
        return self._child.memory_bytes if self._child else 0

    # Asking

    def _once(self, message: dict[str, Any], build: "_Build", stop: Stop = NEVER, files: Sequence[str] = ()) -> Any:
        """One answer. Asked again in another child when this one is lost."""
        restarts = 0
        while True:
            try:
                (answer,) = self._pieces(message, stop, build)
                return answer
            except _Lost as lost:
                if restarts == _RESTARTS:
                    self._suspect(lost.child, files)
                    raise _failure(lost.child) from None
                restarts += 1

    def _pieces(self, message: dict[str, Any], stop: Stop, build: "_Build") -> Iterator[Any]:
        """Raises: _Lost when the child ends, and whatever error the child reports."""
        yield from self._ask(self._ready(), message, stop, build)

    def _ask(self, child: _Child, message: dict[str, Any], stop: Stop, build: "_Build") -> Iterator[Any]:
        number = next(self._numbers)
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        child.calls[number] = answers
        told_at = 0.0
        over = False
        try:
            self._send(child, {**message, "id": number})
            while True:
                if stop.is_set() and not told_at:
                    told_at = time.monotonic()
                    self._send(child, {"op": "stop", "id": number})
                try:
                    answer = answers.get(timeout=_POLL_S)
                except queue.Empty:
                    if child.ended:
                        raise _Lost(child) from None
                    if told_at and time.monotonic() - max(told_at, child.answered_at) > self._silence_s:
                        _logger.warning("the engine child took no notice of a stop and is ended")
                        child.process.kill()
                    continue
                if answer is None:
                    raise _Lost(child)
                reply, block = answer
                if over := "value" not in reply:
                    if "error" in reply:
                        raise wire.error_from_plain(reply["error"])
                    return
                yield build(reply["value"], block)
        except wire.WireError as error:
            _logger.warning("the engine child talks nonsense and is ended: %s", error)
            child.process.kill()
            raise _Lost(child) from None
        finally:
            child.calls.pop(number, None)
            if not (told_at or over or child.ended):
                self._send(child, {"op": "stop", "id": number}, lost_is_fine=True)

    def _send(self, child: _Child, message: dict[str, Any], *, lost_is_fine: bool = False) -> None:
        try:
            with self._writing:
                assert child.process.stdin is not None
                wire.write_frame(cast(Any, child.process.stdin), message)
        except (OSError, ValueError):
            if not lost_is_fine and message["op"] != "close":
                raise _Lost(child) from None

    # The child's life

    def _ready(self) -> _Child:
        """A child that has the base loaded."""
        with self._starting:
            if self._plan is None:
                raise RuntimeFailed("No base is loaded.", "Load one first.")
            if self._child is None or self._child.ended:
                self._loaded(self._plan)
            return self._living()

    def _living(self) -> _Child:
        if self._closed:
            raise RuntimeFailed("The runtime is closed.", "Restart the program.")
        if self._child is None or self._child.ended:
            self._child = self._start()
        return self._child

    def _loaded(self, plan: LoadPlan) -> ModelInfo:
        """Load `plan` into a living child; once more where it was killed, in case that had nothing to do with it."""
        child = self._living()
        for _ in range(_RESTARTS):
            child = self._living()
            try:
                message = {"op": "load", "plan": wire.to_plain(plan)}
                (info,) = self._ask(child, message, NEVER, lambda value, _: wire.from_plain(ModelInfo, value))
                return cast(ModelInfo, info)
            except _Lost:
                child.end.wait()
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

    def _start(self) -> _Child:
        said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        package_folder = str(Path(engine.__file__).resolve().parents[1])
        environment = {
            **{name: os.environ[name] for name in _INHERITED if name in os.environ},
            "PYTHONPATH": package_folder,
            "OMP_WAIT_POLICY": "passive",
            "GGML_NO_BACKTRACE": "1",  # a failed assertion starts a debugger otherwise, where there is one
            **self._environment,
        }
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "engine.runtime.engine_child", str(self._memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=tempfile.gettempdir(),
            env=environment,
            start_new_session=True,  # Ctrl+C in the terminal is for the host, which ends the turn in order
        )
        child = _Child(process, said)
        threading.Thread(target=self._listen, args=(child,), name="engine child", daemon=True).start()
        threading.Thread(target=self._watch, args=(child,), name="engine watch", daemon=True).start()
        return child

    def _listen(self, child: _Child) -> None:
        assert child.process.stdout is not None
        try:
            while True:
                message, block = wire.read_frame(cast(Any, child.process.stdout))
                child.heard_at = time.monotonic()
                if "memory_bytes" in message:
                    child.memory_bytes = message["memory_bytes"]
                elif answers := child.calls.get(message.get("id", 0)):
                    child.answered_at = child.heard_at
                    answers.put((message, block))
        except wire.WireError:
            # It is gone, or about to be: then its own end says more than ours. Or it talks nonsense.
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(_ENDING_S)
            child.process.kill()
        code = child.process.wait()
        child.how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        child.last_words = _last_line(child.said)
        child.said.close()
        child.process.stdout.close()
        with self._writing, suppress(OSError):
            assert child.process.stdin is not None
            child.process.stdin.close()
        child.end.set()
        for answers in list(child.calls.values()):
            answers.put(None)

    def _watch(self, child: _Child) -> None:
        while not child.end.wait(min(1.0, self._silence_s / 4)):
            if time.monotonic() - child.heard_at > self._silence_s:
                _logger.warning("the engine child gave no sign for %d s and is ended", self._silence_s)
                child.process.kill()
                return

    # Explaining

    def _trust(self, files: Sequence[str]) -> None:
        if self._plan is not None:
            self._proven.update((self._plan.base, *files))

    def _suspect(self, child: _Child, files: Sequence[str]) -> None:
        """Remember the files that a child crashed over: adapters not seen to work so far; with none, such a base."""
        child.end.wait()
        if child.how not in _CRASHES or tells_of_memory(child.last_words):
            return
        base = [self._plan.base] if self._plan else []
        unproven = [file for file in files if file not in self._proven]
        for file in unproven or [file for file in base if file not in self._proven]:
            self._quarantine.add(file, f"{child.how} {child.last_words}".strip())


def _failure(child: _Child) -> RuntimeFailed:
    child.end.wait()
    return RuntimeFailed(
        f"The engine ended unexpectedly ({child.how}){': ' + child.last_words if child.last_words else ''}.",
        "Close other programs if memory is short, or choose a smaller base or context; then try again.",
    )


def _last_line(stream: IO[bytes]) -> str:
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - 2000))
    lines = stream.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


class _Resumable:
    """Requests under way, kept so that another child can go on where one broke off."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests
        self._said: list[list[int]] = [[] for _ in requests]
        self._done = [False] * len(requests)
        self._indices: list[int] = list(range(len(requests)))
        self._before = [0] * len(requests)

    @property
    def said_anything(self) -> bool:
        return any(self._said)

    def remaining(self) -> list[Request]:
        """What is left to do, as requests of their own."""
        self._indices = [index for index, done in enumerate(self._done) if not done]
        self._before = [len(said) for said in self._said]
        return [self._rest(index) for index in self._indices]

    def took(self, piece: Piece) -> Piece:
        """The piece as the caller knows it: by its own index, and with what came before a break counted.

        Raises: WireError when it belongs to no request.
        """
        if not 0 <= piece.index < len(self._indices):
            raise wire.WireError(f"a piece came for request {piece.index} of {len(self._indices)}")
        index = self._indices[piece.index]
        if isinstance(piece, Token):
            self._said[index].append(piece.token)
        elif isinstance(piece, Finished):
            self._done[index] = True
            if before := self._before[index]:
                usage = piece.usage
                usage = replace(
                    usage,
                    prompt_tokens=usage.prompt_tokens - before,
                    reused_tokens=min(usage.reused_tokens, usage.prompt_tokens - before),
                    completion_tokens=usage.completion_tokens + before,
                )
                piece = replace(piece, usage=usage)
        return replace(piece, index=index)

    def stopped(self) -> Iterator[Finished]:
        for index, done in enumerate(self._done):
            if not done:
                usage = Usage(len(self._requests[index].tokens), 0, len(self._said[index]))
                yield Finished(index, "stopped", usage)

    def _rest(self, index: int) -> Request:
        request, said = self._requests[index], tuple(self._said[index])
        return replace(
            request,
            tokens=request.tokens + said,
            said=request.said + said,
            max_tokens=request.max_tokens - len(said),
        )


_Top = tuple[tuple[int, float], ...]
_Build = Callable[[Any, bytes], Any]
"""Makes an answer of what came: plain data and a block. Raises: WireError when it is malformed."""


def _plain(kind: Any, value: Any, _: bytes) -> Any:
    return wire.from_plain(kind, value)


def _vectors_from_plain(shape: Any, block: bytes) -> Any:
    try:
        return np.frombuffer(block, np.float32).reshape(shape).copy()
    except (ValueError, TypeError) as error:
        raise wire.WireError(f"vectors came malformed: {error}") from error


def _piece_from_plain(value: Any) -> Piece:
    match value:
        case ["T", int(index), int(token), str(text), float() | int() | None as logprob, list(top)]:
            return Token(index, token, text, logprob, cast(Any, wire.from_plain(_Top, top)))
        case ["P", int(index), int(done), int(total), int(reused)]:
            return Prefilled(index, done, total, reused)
        case ["F", plain]:
            return cast(Finished, wire.from_plain(Finished, plain))
    raise wire.WireError(f"a piece came malformed: {value!r:.80}")
