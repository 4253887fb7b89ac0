"""`ui.teaching.Teacher` for faces: each lesson is worked on by a process of its own, which ends with the face."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from pydantic import TypeAdapter, ValidationError

from app.children import child_environment
from app.paths import Paths
from app.profiles import load_chosen_profile
from app.settings import load_settings
from app.teaching.folder import find_lesson
from app.teaching.proposing import propose
from app.teaching.using import undo, use_lesson
from app.training.trainer import OUR_TRAINER, TrainerProgram
from engine.adapters.records import Swap
from engine.errors import AgentError, RuntimeFailed, boundary
from ui.client import Client
from ui.teaching import Proposal, Taught, TeachProgress

OUR_COMMAND: Final = (sys.executable, "-P", "-m", "app", "teach")
_TICK_S: Final = 1.0
"""How often it is told again where the lesson is; no sooner can the listener end it."""
_END_S: Final = 30.0
"""How long one that shall end may take to leave everything in order."""
_DRAIN_S: Final = 1.0
"""How long what a dead process wrote may take to arrive; its pipe may be held open by a child of its own."""
_PROGRESS: Final = TypeAdapter(TeachProgress)
_TAUGHT: Final = TypeAdapter(Taught)
_DETACHED_ON_WINDOWS: Final = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


def profile_in_use(client: Client, paths: Paths, given: str | None) -> Callable[[], str]:
    """What says which profile answers: the one that was given, or set, or the one that was chosen since.

    Only the former can be a folder. `given` is what the face was started with. What is returned waits for the base.
    """

    def find() -> str:
        first, now = given or load_settings(paths.settings).profile, client.about().profile
        return first if load_chosen_profile(paths, first).name == now else now

    return find


class SpawningTeacher:
    """Starts `macaron teach` for each lesson. `profile` says which one is in use when something is proposed."""

    def __init__(
        self,
        paths: Paths,
        environment: Mapping[str, str],
        profile: Callable[[], str | None],
        *,
        command: Sequence[str] = OUR_COMMAND,
        end_s: float = _END_S,
        trainer: TrainerProgram = OUR_TRAINER,
    ) -> None:
        self._paths, self._environment, self._profile = paths, environment, profile
        self._command, self._end_s, self._trainer = command, end_s, trainer

    def propose(self, expert: str | None = None, *, minutes: float = 10.0, language: str | None = None) -> Proposal:
        self._trainer.require()  # before the user agrees to what cannot be done
        folder = propose(
            self._paths,
            self._environment,
            profile=self._profile(),
            expert=expert,
            minutes=minutes,
            language=language,
        )
        return folder.read().proposal

    def teach(
        self, lesson_id: str, *, use: bool, language: str | None = None
    ) -> Generator[TeachProgress | Taught, None, None]:
        """Raises: UnknownName, RuntimeFailed when the process ends without a word; what it says was wrong."""
        find_lesson(self._paths, lesson_id)
        options = ["--lesson", lesson_id, "--yes", "--json", "--follow-input", "--home", str(self._paths.home)]
        options += ["--use" if use else "--no-use", *(["--language", language] if language else [])]
        with boundary(RuntimeFailed, "The lesson cannot be started", "Close other programs and try again."):
            process = subprocess.Popen(
                [*self._command, *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=child_environment(PYTHONUTF8="1"),
                # Ctrl+C is for the face, which stops the lesson in order.
                start_new_session=True,
                creationflags=_DETACHED_ON_WINDOWS,
            )
        lines = _Lines(process)
        try:
            yield from _told(lines, process)
        finally:
            _end(process, self._end_s)
            lines.close()

    def use(self, lesson_id: str) -> Swap:
        return use_lesson(self._paths, lesson_id)

    def undo(self, lesson_id: str) -> Swap:
        return undo(self._paths, lesson_id)[1]


class _Lines:
    """What a process writes, read by a thread of its own, so that it never waits to be heard."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._came: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="lesson-lines", daemon=True)
        self._reader.start()

    def __iter__(self) -> Iterator[bytes]:
        """Line by line; empty ones when nothing came for a while. Ends when the process has and all was heard."""
        ended = False
        while True:
            try:
                line = self._came.get(timeout=_DRAIN_S if ended else _TICK_S)
            except queue.Empty:
                if ended:
                    return
                ended = self._process.poll() is not None
                yield b""
                continue
            if line is None:
                return
            yield line

    def close(self) -> None:
        """Call it when the process has ended."""
        self._reader.join(_DRAIN_S)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            for line in self._process.stdout or ():
                self._came.put(line)
        self._came.put(None)


def _told(lines: _Lines, process: "subprocess.Popen[bytes]") -> Iterator[TeachProgress | Taught]:
    last = TeachProgress("loading")
    for line in lines:
        told = _read(line) if line else last
        if isinstance(told, TeachProgress):
            last = told
        if told is not None:
            yield told
        if isinstance(told, Taught):
            return
    with suppress(subprocess.TimeoutExpired):
        process.wait(_DRAIN_S)
    raise RuntimeFailed(
        f"The lesson ended without a result (exit code {process.poll()}).",
        "Teach it in a terminal to see why: `macaron teach`.",
    )


def _read(line: bytes) -> TeachProgress | Taught | None:
    """None for what is neither. Raises: AgentError that the process told of."""
    with suppress(ValueError, ValidationError):
        values = json.loads(line)
        if isinstance(values, dict) and isinstance(error := values.get("error"), dict):
            raise AgentError(str(error.get("problem")), str(error.get("hint")))
        kind = values.get("kind") if isinstance(values, dict) else None
        if kind == "progress":
            return _PROGRESS.validate_python(values)
        if kind == "taught":
            return _TAUGHT.validate_python(values)
    return None


def _end(process: "subprocess.Popen[bytes]", end_s: float) -> None:
    """Its input closed, it ends in order; where that takes too long, at once, and what it started with it."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(end_s)
    except subprocess.TimeoutExpired:
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
