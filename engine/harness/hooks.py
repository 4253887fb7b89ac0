"""Hooks: programs of the user's that are run around turns and tool calls, and may forbid what is about to happen.

A hook reads one JSON object from its standard input. One that ends with anything but 0, or not in time, forbids the
turn or the call that it stands before; its last line on standard error says why. After a turn or a call there is
nothing left to forbid, and what went wrong is only told. Words are not read by a shell; what it prints is not read.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any, Final

from engine.errors import ScoringStopped
from engine.harness.config import HarnessConfig, HookMoment, PlacedHook
from engine.harness.environment import necessities
from engine.runtime.protocol import Stop

_LOOK_S: Final = 0.02
_MOST_REASON: Final = 500
"""Characters."""


class Hooks:
    """Those in force for one turn. Thread-safe."""

    def __init__(self, config: HarnessConfig, environment: Mapping[str, str], folder: str) -> None:
        """`folder` is where the home's own hooks run; a folder's run there."""
        self._config = config
        self._environment = necessities(environment)
        self._folder = folder

    def are_at(self, moment: HookMoment, tool: str = "") -> bool:
        return bool(self._config.hooks_at(moment, tool))

    def run(self, moment: HookMoment, facts: Mapping[str, Any], stop: Stop, tool: str = "") -> str:
        """Run them in their order up to the first that objects; what it says, empty where none does.

        Raises: ScoringStopped once `stop` is set.
        """
        said = json.dumps({"moment": moment, **facts}, ensure_ascii=False)
        for hook in self._config.hooks_at(moment, tool):
            if problem := self._run(hook, said, stop):
                return f"{_name(hook)}: {problem}"
        return ""

    def _run(self, hook: PlacedHook, said: str, stop: Stop) -> str:
        # Files and no pipes: a hook that reads nothing, or prints for ever, must make nobody wait.
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors:
            given.write(said.encode("utf-8", "replace"))
            given.seek(0)
            try:
                process = subprocess.Popen(
                    hook.command,
                    stdin=given,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    cwd=hook.place or self._folder,
                    env=self._environment,
                    start_new_session=sys.platform != "win32",  # one group, which can be ended whole
                )
            except OSError as error:
                return f"it cannot be started: {error.strerror or error}"
            try:
                code = _ended(process, hook.timeout_s, stop)
            finally:
                _end(process)
            if code is None:
                return f"it took longer than {hook.timeout_s:g} s"
            return "" if code == 0 else _last_line(errors) or f"it ended with {code}"


NO_HOOKS: Final = Hooks(HarnessConfig(), {}, "")


def _ended(process: "subprocess.Popen[bytes]", timeout_s: float, stop: Stop) -> int | None:
    """Its exit code; None where it took too long. Raises: ScoringStopped."""
    began = time.monotonic()
    while time.monotonic() - began < timeout_s:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK_S)
        if stop.is_set():
            raise ScoringStopped("The turn was stopped.", "Ask again.")
    return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Also what it started and left behind."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_line(stream: IO[bytes]) -> str:
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - 4 * _MOST_REASON))
    lines = stream.read().decode("utf-8", "replace").split("\n")
    return next((line.strip()[-_MOST_REASON:] for line in reversed(lines) if line.strip()), "")


def _name(hook: PlacedHook) -> str:
    """What a person knows it by: its program, or the file that an interpreter was given."""
    files = [word for word in hook.command if "/" in word or "\\" in word]
    return os.path.basename((files[-1] if files else hook.command[0]).replace("\\", "/"))
