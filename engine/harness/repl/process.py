"""One Python process in the sandbox, its pipes and its signals. Linux only; knows no blocks and no tools.

Three pipes: frames in, frames out, and whatever is printed. None is ever waited for without end, whatever the process
does or leaves undone. Between blocks the process is held still, so that nothing it left running computes on.
"""

import json
import os
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from engine.errors import RuntimeFailed, boundary
from engine.harness.repl.handles import Handle, only_child, start_and_keep
from engine.harness.repl.output import HeadAndTail
from engine.harness.repl.syscalls import system_call_filter
from engine.harness.repl.values import Limits
from engine.harness.repl.wire import FrameReader, Message, Ready, WireBroken, frame
from engine.harness.sandbox import interpreter

_READ_BYTES: Final = 1 << 16
_DRAIN_READS: Final = 64
"""After a block has ended; what fits the pipe, and more for a thread of it that goes on printing."""
_END_S: Final = 5.0
"""For the kernel to clear a killed process away."""
_LAST_WORDS_S: Final = 0.5
"""For a process whose pipes are closed to end by itself and leave its exit code."""
_ENVIRONMENT: Final = {
    "HOME": "/tmp",
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    # Each thread's own pool of memory would count whole against the address space.
    "MALLOC_ARENA_MAX": "2",
}
_HINT: Final = "Free memory and disk, then try again; `macaron doctor` tells whether the sandbox works."


class ProcessGone(Exception):
    """The process ended, or was ended because it broke the rules of the wire; the text says how."""


class SandboxedPython:
    """A running process, for one thread at a time."""

    def __init__(self, sandbox: Sequence[str], limits: Limits) -> None:
        """Start it and wait until it listens. Raises: RuntimeFailed."""
        self.printed = HeadAndTail(limits.output_characters)
        self._limits = limits
        self._reader = FrameReader()
        self._unsent = bytearray()
        self._selector = selectors.DefaultSelector()
        self._open_ends: list[int] = []
        self._handles: list[Handle] = []
        self._process: subprocess.Popen[bytes] | None = None
        try:
            with boundary(RuntimeFailed, "Python could not be started in the sandbox", _HINT):
                self._start(sandbox)
                self._wait_until_ready()
                self._python_pid = only_child(self._first_pid)
                self._python = self._handle(self._python_pid)
        except RuntimeFailed:
            self.close()
            raise

    def begin(self) -> None:
        """Let it go on, and forget what was printed before."""
        self.printed = HeadAndTail(self._limits.output_characters)
        self._python.send_signal(signal.SIGCONT)

    def hold(self) -> None:
        """Let nothing in it compute until `begin`."""
        self._python.send_signal(signal.SIGSTOP)

    def interrupt(self) -> None:
        """What Ctrl+C does."""
        self._python.send_signal(signal.SIGINT)

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message; `receive` writes it as far as the process reads."""
        self._unsent += frame(message)

    def receive(self, timeout_s: float) -> Message | None:
        """The next message, or None when there is none in time. Raises: ProcessGone."""
        try:
            message = self._reader.next()
            if message is None:
                self._pump(timeout_s)
                message = self._reader.next()
        except WireBroken as problem:
            raise ProcessGone(f"{problem}, which breaks the rules, and was ended") from None
        # It waits for every answer; one that does not would have us keep answers without end.
        if message is not None and self._unsent:
            raise ProcessGone("it talked on without reading the answer, which breaks the rules, and was ended")
        return message

    def finish(self) -> None:
        """Read what else was printed, and check that nothing follows the last message. Raises: ProcessGone."""
        for _ in range(_DRAIN_READS):
            data = _read(self._printing)
            if not data:
                break
            self.printed.feed(data)
        if not self._reader.is_empty:
            raise ProcessGone("it went on talking after its end, which breaks the rules, and was ended")

    def scratch_files(self) -> int:
        """How many files and folders are in its scratch folder, whose size alone is limited by the sandbox."""
        try:
            state = os.statvfs(f"/proc/{self._python_pid}/root/tmp")
        except OSError:  # it is just ending
            return 0
        return state.f_files - state.f_ffree

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End it and everything in its sandbox, and wait until it is gone. Safe to repeat."""
        if self._process is not None:
            self._process.kill()
        # The first process of a sandbox takes all others with it, whatever signals they ignore.
        for handle in self._handles:
            handle.send_signal(signal.SIGKILL)
            handle.close()
        self._handles.clear()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
        self._selector.close()
        while self._open_ends:
            os.close(self._open_ends.pop())

    # Starting

    def _start(self, sandbox: Sequence[str]) -> None:
        theirs_in, self._writing = self._pipe()
        self._reading, theirs_out = self._pipe()
        self._printing, printed = self._pipe()
        telling, told = self._pipe()
        rules, filling = self._pipe()
        settings = json.dumps(self._child_settings(theirs_in, theirs_out))
        options = ["--info-fd", str(told)]
        if (program := system_call_filter()) is not None:
            os.write(filling, program)
            options += ["--seccomp", str(rules)]
        for name, value in _ENVIRONMENT.items():
            options += ["--setenv", name, value]
        python = [interpreter(), "-I", "-S", "-P", "-X", "utf8", "-c", _child_source(), settings]
        given = (theirs_in, theirs_out, told, rules)
        self._let_go(filling)
        self._process = start_and_keep([*sandbox[:-1], *options, sandbox[-1], *python], given, printed)
        self._let_go(*given, printed)
        self._first_pid = self._told_pid(telling)
        self._handle(self._first_pid)
        for end in (self._reading, self._writing, self._printing):
            os.set_blocking(end, False)
        self._selector.register(self._reading, selectors.EVENT_READ)
        self._selector.register(self._printing, selectors.EVENT_READ)

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open_ends += ends
        return ends

    def _let_go(self, *ends: int) -> None:
        for end in ends:
            self._open_ends.remove(end)
            os.close(end)

    def _handle(self, pid: int) -> Handle:
        self._handles.append(Handle(pid))
        return self._handles[-1]

    def _child_settings(self, read_end: int, write_end: int) -> dict[str, Any]:
        limits = {
            "RLIMIT_AS": self._limits.memory_bytes,
            "RLIMIT_CPU": self._limits.cpu_s,
            "RLIMIT_NOFILE": 64,
            # Threads; the filter of system calls refuses processes.
            "RLIMIT_NPROC": self._limits.threads,
            "RLIMIT_CORE": 0,
        }
        most = 4 * self._limits.output_characters
        return {"read_end": read_end, "write_end": write_end, "limits": limits, "most_characters": most}

    def _told_pid(self, telling: int) -> int:
        """What bubblewrap says is the first process of the sandbox, as this system counts it."""
        about = b""
        end = time.monotonic() + self._limits.start_s
        poller = select.poll()
        poller.register(telling, select.POLLIN)
        while not about.rstrip().endswith(b"}"):
            ready = poller.poll(1000 * max(0.0, end - time.monotonic()))
            data = os.read(telling, _READ_BYTES) if ready else b""
            if not data:
                raise RuntimeFailed(f"Python did not start in the sandbox: {self._last_words()}.", _HINT)
            about += data
        self._let_go(telling)
        return int(json.loads(about)["child-pid"])

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + self._limits.start_s
        try:
            while time.monotonic() < end:
                if isinstance(self.receive(0.1), Ready):
                    return
        except ProcessGone:
            pass
        raise RuntimeFailed(f"Python did not start in the sandbox: {self._last_words()}.", _HINT)

    def _last_words(self) -> str:
        os.set_blocking(self._printing, False)
        self.printed.feed(_read(self._printing) or b"")
        lines = self.printed.text().strip().splitlines()
        return lines[-1].rstrip(".") if lines else f"no sign of it within {self._limits.start_s:g} seconds"

    # Moving bytes

    def _pump(self, timeout_s: float) -> None:
        """Once, as soon as any pipe allows it. Raises: ProcessGone."""
        if self._unsent and self._writing not in self._selector.get_map():
            self._selector.register(self._writing, selectors.EVENT_WRITE)
        ready = {key.fd for key, _ in self._selector.select(timeout_s)}
        if self._printing in ready:
            data = _read(self._printing)
            if data == b"":
                self._selector.unregister(self._printing)
            self.printed.feed(data or b"")
        if self._writing in ready:
            self._write_unsent()
        if self._reading in ready:
            data = _read(self._reading)
            if data == b"":
                raise ProcessGone(self._way_out())
            self._reader.feed(data or b"")

    def _write_unsent(self) -> None:
        try:
            del self._unsent[: os.write(self._writing, self._unsent)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise ProcessGone(self._way_out()) from None
        if not self._unsent:
            self._selector.unregister(self._writing)

    def _way_out(self) -> str:
        """How a process ended whose pipes are closed."""
        assert self._process is not None
        try:
            code = self._process.wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            return "it closed its pipes, which breaks the rules, and was ended"
        return way_out(code, self._limits)


def way_out(exit_code: int, limits: Limits) -> str:
    """What an exit code of the sandbox says about the process in it."""
    number = exit_code - 128
    if number == signal.SIGKILL:
        return f"the system ended it: its {limits.cpu_s} seconds of processor time were used up, or memory ran out"
    if number > 0:
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return f"it crashed ({name})"
    return f"it ended itself with exit code {exit_code}"


@cache
def _child_source() -> str:
    return Path(__file__).with_name("child.py").read_text(encoding="utf-8")


def _read(end: int) -> bytes | None:
    """What the pipe holds now, as far as one read goes; empty at its end, None when there is nothing yet."""
    try:
        return os.read(end, _READ_BYTES)
    except BlockingIOError:
        return None
