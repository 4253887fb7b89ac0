"""One trainer from start to end: a process of its own that tells events on its standard output.

Knows lines and signals, not what is trained. Its standard input is a pipe that stays open as long as this program
lives: a trainer that finds it closed ends in order, so that none is left behind, however this program ends.
"""

import importlib.util
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from app.children import child_environment
from app.files import private_opener, written
from engine.errors import RuntimeFailed, UsageProblem, boundary
from local_training.runs.events import Event, read_event
from local_training.runs.folder import RunFolder

NEEDED: Final = ("torch", "transformers", "peft")
"""What the extra `train` brings."""
_TICK_S: Final = 0.2
_DRAIN_S: Final = 1.0
"""How long what a dead trainer wrote may take to arrive; its pipe may be held open by a child of its own."""
_END_S: Final = 30.0
"""How long one that said its last word may take to end."""
_MOST_LINE_BYTES: Final = 1 << 20
_DETACHED_ON_WINDOWS: Final = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


@dataclass(frozen=True, slots=True)
class TrainerProgram:
    """A program that trains: how it is started for a run, and what must be there before a run is made for it."""

    command: Callable[[RunFolder], Sequence[str]]
    require: Callable[[], None]
    """Raises: UsageProblem."""


def require_libraries() -> None:
    """Raises: UsageProblem with the command that installs what training needs. Imports nothing."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageProblem(
            f"Training needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed.",
            'Run `pip install "macaron-tall[train]"`.',
        )


OUR_TRAINER: Final = TrainerProgram(
    command=lambda run: [sys.executable, "-P", "-m", "local_training.runs", str(run.path)], require=require_libraries
)


@contextmanager
def start_trainer(command: Sequence[str], run: RunFolder) -> Iterator["Trainer"]:
    """What it writes to standard error goes to the run's log. It is ended at once where it still runs in the end.

    Raises: DiskFull, AgentError.
    """
    with written(run.log):
        log = open(run.log, "ab", opener=private_opener)  # noqa: SIM115 - closed below, once the child has it
    with log, boundary(RuntimeFailed, "The trainer cannot be started", "Close other programs and try again."):
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=run.path,
            env=child_environment(PYTHONUTF8="1", HF_HUB_OFFLINE="1"),
            # Ctrl+C is for this program, which asks the trainer to end in order.
            start_new_session=True,
            creationflags=_DETACHED_ON_WINDOWS,
        )
    trainer = Trainer(process)
    try:
        yield trainer
    finally:
        trainer.close()


class Trainer:
    """A running trainer."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="trainer", daemon=True)
        self._reader.start()

    def events(self) -> Iterator[Event | None]:
        """What it tells, when it tells it, and None every now and then, for the caller to look around.

        Ends when the trainer has ended and everything was heard.
        """
        dead_since: float | None = None
        while True:
            try:
                line = self._lines.get(timeout=_TICK_S)
            except queue.Empty:
                line = ""
            if line is None:
                break
            yield read_event(line) if line else None
            if self._process.poll() is not None:
                dead_since = dead_since or time.monotonic()
                if not line and time.monotonic() - dead_since > _DRAIN_S:
                    return
        while self._process.poll() is None:  # it closed its output and goes on
            time.sleep(_TICK_S)
            yield None

    def hang_up(self) -> None:
        """Close its standard input, which asks it to end. Needs no room on any disk."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def kill(self) -> None:
        """End it and its children at once."""
        if self._process.poll() is None:
            with suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()

    def wait(self) -> int:
        """Its exit code, negative for a signal. Ends it where it does not end by itself in time."""
        try:
            return self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()

    def close(self) -> None:
        self.kill()
        self._process.wait()
        self.hang_up()
        self._reader.join(_DRAIN_S)
        if not self._reader.is_alive() and self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):
            while line := self._process.stdout.readline(_MOST_LINE_BYTES):
                self._lines.put(line.decode("utf-8", errors="replace"))
        self._lines.put(None)
