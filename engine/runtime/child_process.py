"""One engine child from start to end: its process, the pipe to it, and how it went.

Knows frames and calls, not what is asked. When the child dies, hangs or talks nonsense, every call gets `ChildLost`.
"""

import itertools
import logging
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, cast

import engine
from engine.runtime import wire
from engine.runtime.protocol import Stop

_logger = logging.getLogger(__name__)

_POLL_S: Final = 0.02
_CLOSE_S: Final = 1.0
"""How long an idle one may take: it holds nothing that an orderly end would save, and somebody waits for it."""
_BUSY_CLOSE_S: Final = 0.2
"""How long one that is at work, such as loading a base, may take: nobody wants what it is doing any more."""
_ENDING_S: Final = 1.0
"""How long a child whose pipe closed may take to end by itself, so that its own reason is known."""

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

Build = Callable[[Any, bytes], Any]
"""Makes an answer of what came: plain data and a block. Raises: WireError when it is malformed."""


class ChildLost(Exception):
    """The child ended while it was asked something."""

    def __init__(self, child: "EngineChild") -> None:
        self.child = child


class EngineChild:
    """A running child. Calls may come from any thread; each waits for its own answers."""

    def __init__(self, *, memory_bytes: int, environment: Mapping[str, str], silence_s: float) -> None:
        """`silence_s`: a child that sends no heartbeat for so long, or ignores a stop, hangs and is ended."""
        self._silence_s = silence_s
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        self._process = _spawn(memory_bytes, environment, self._said)
        self._writing = threading.Lock()
        self._numbers = itertools.count(1)
        self._calls: dict[int, queue.SimpleQueue[Any]] = {}
        self._left: set[int] = set()
        """Calls that nobody waits for any more, and that the child is still at."""
        self._heard_at = time.monotonic()
        self._answered_at = 0.0
        self._end = threading.Event()
        self.memory_bytes = 0
        """Private memory at the last heartbeat."""
        self.how = ""
        """The signal or exit code that ended it; empty while it runs."""
        self.last_words = ""
        """The last line it wrote to standard error."""
        threading.Thread(target=self._listen, name="engine child", daemon=True).start()
        threading.Thread(target=self._watch, name="engine watch", daemon=True).start()

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it is gone, its streams are closed, and `how` and `last_words` hold."""
        return self._end.is_set()

    def wait(self) -> None:
        """Until it has ended."""
        self._end.wait()

    def close(self) -> None:
        """Let it end in order, or end it; all its memory is free when this returns."""
        try:
            self._send({"op": "close", "id": 0})
            self._process.wait(_BUSY_CLOSE_S if self._calls or self._left else _CLOSE_S)
        except (ChildLost, subprocess.TimeoutExpired):
            self._process.kill()
        self.wait()

    def ask(self, message: dict[str, Any], stop: Stop, build: Build) -> Iterator[Any]:
        """The answers to one call. Closing the iterator stops the call.

        Raises: ChildLost, and whatever error the child reports.
        """
        number = next(self._numbers)
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._calls[number] = answers
        told_at = 0.0
        over = False
        try:
            self._send({**message, "id": number})
            while True:
                if stop.is_set() and not told_at:
                    told_at = time.monotonic()
                    self._send({"op": "stop", "id": number})
                try:
                    answer = answers.get(timeout=_POLL_S)
                except queue.Empty:
                    if self.ended:
                        raise ChildLost(self) from None
                    if told_at and time.monotonic() - max(told_at, self._answered_at) > self._silence_s:
                        _logger.warning("the engine child took no notice of a stop and is ended")
                        self._process.kill()
                    continue
                if answer is None:
                    raise ChildLost(self)
                reply, block = answer
                if over := "value" not in reply:
                    if "error" in reply:
                        raise wire.error_from_plain(reply["error"])
                    return
                yield build(reply["value"], block)
        except wire.WireError as error:
            _logger.warning("the engine child talks nonsense and is ended: %s", error)
            self._process.kill()
            raise ChildLost(self) from None
        finally:
            self._calls.pop(number, None)
            if not (over or self.ended):
                self._left.add(number)
                if not told_at:
                    with suppress(ChildLost):
                        self._send({"op": "stop", "id": number})

    def _send(self, message: dict[str, Any]) -> None:
        try:
            with self._writing:
                wire.write_frame(cast(BinaryIO, self._process.stdin), message)
        except (OSError, ValueError):
            raise ChildLost(self) from None

    def _listen(self) -> None:
        source = cast(BinaryIO, self._process.stdout)
        try:
            while True:
                message, block = wire.read_frame(source)
                self._heard_at = time.monotonic()
                if "memory_bytes" in message:
                    self.memory_bytes = message["memory_bytes"]
                elif message.get("id") in self._left and "value" not in message:
                    self._left.discard(message["id"])
                elif answers := self._calls.get(message.get("id", 0)):
                    self._answered_at = self._heard_at
                    answers.put((message, block))
        except wire.WireError:
            # It is gone, or about to be: then its own end says more than ours. Or it talks nonsense.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDING_S)
            self._process.kill()
        code = self._process.wait()
        self.how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        self.last_words = _last_line(self._said)
        self._said.close()
        source.close()
        with self._writing, suppress(OSError):
            cast(BinaryIO, self._process.stdin).close()
        self._end.set()
        for answers in list(self._calls.values()):
            answers.put(None)

    def _watch(self) -> None:
        while not self._end.wait(min(1.0, self._silence_s / 4)):
            if time.monotonic() - self._heard_at > self._silence_s:
                _logger.warning("the engine child gave no sign for %d s and is ended", self._silence_s)
                self._process.kill()
                return


def _spawn(memory_bytes: int, environment: Mapping[str, str], said: IO[bytes]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "engine.runtime.engine_child", str(memory_bytes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        cwd=tempfile.gettempdir(),
        env={
            **{name: os.environ[name] for name in _INHERITED if name in os.environ},
            "PYTHONPATH": str(Path(engine.__file__).resolve().parents[1]),
            # Threads that spin for long take the cores of others; those that sleep at once make two slower than one.
            "OMP_WAIT_POLICY": "passive",
            "GOMP_SPINCOUNT": "2000",
            "GGML_NO_BACKTRACE": "1",  # a failed assertion starts a debugger otherwise, where there is one
            **environment,
        },
        start_new_session=True,  # Ctrl+C in the terminal is for the host, which ends the turn in order
    )


def _last_line(stream: IO[bytes]) -> str:
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - 2000))
    lines = stream.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""
