"""Run Python in a process of its own, with limits on time, memory, files and output, and without network.

Never in this process: what runs was written by a model. On Linux bubblewrap keeps it from files, network and other
processes; where that is missing nothing runs unless the caller allows it. Knows no rewards.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from engine.errors import RuntimeFailed, boundary
from engine.harness.sandbox import interpreter, working_sandbox

_MATCH_S: Final = 5.0
"""Generous: on a busy machine starting Python alone takes a second."""
_MATCH: Final = """
import json, re, sys
pattern, text = json.load(sys.stdin)
sys.stdout.write("yes" if re.fullmatch(pattern, text) else "no")
"""
# Each limit is soft and hard alike, so that what runs afterwards cannot raise it again.
_LIMITS: Final = """
import resource
for _name, _most in (("RLIMIT_CPU", {cpu_s}), ("RLIMIT_AS", {memory_bytes}), ("RLIMIT_FSIZE", {output_bytes}),
                     ("RLIMIT_NOFILE", 64), ("RLIMIT_NPROC", 0), ("RLIMIT_CORE", 0)):
    resource.setrlimit(getattr(resource, _name), (_most, _most))
"""


class MatchTimedOut(Exception):
    """A regular expression did not come to an end in time."""


@dataclass(frozen=True, slots=True)
class Limits:
    time_s: float = 5.0
    """Wall clock; processor time is limited to the next whole second."""
    memory_bytes: int = 512 << 20
    output_bytes: int = 1 << 20
    """Of every file it writes, standard output included."""


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    output: str
    exit_code: int
    timed_out: bool
    last_words: str
    """The last line on standard error."""


def run_python(source: str, standard_input: str, limits: Limits, *, may_be_unconfined: bool = False) -> ProgramEnd:
    """Run `source` with `standard_input` and wait for its end.

    Raises: RuntimeFailed when there is no sandbox and none may be done without, or no process can be started.
    """
    before = _LIMITS.format(
        cpu_s=int(limits.time_s) + 1, memory_bytes=limits.memory_bytes, output_bytes=limits.output_bytes
    )
    command = [*_confinement(may_be_unconfined), interpreter(), "-I", "-P", "-X", "utf8", "-c", before + source]
    with boundary(RuntimeFailed, "A program of an answer could not be tried", "Free memory and disk, then try again."):
        return _run(command, standard_input, limits)


def _run(command: Sequence[str], standard_input: str, limits: Limits) -> ProgramEnd:
    with (
        tempfile.TemporaryDirectory(prefix="macaron-program-") as folder,
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as said,
        tempfile.TemporaryFile() as complained,
    ):
        # Files rather than pipes: their size is limited, and nobody has to read while the program writes.
        given.write(standard_input.encode("utf-8"))
        given.seek(0)
        process = subprocess.Popen(
            command, stdin=given, stdout=said, stderr=complained, cwd=folder, env={}, start_new_session=True
        )
        timed_out = False
        try:
            process.wait(limits.time_s)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            _end(process)
        lines = _content(complained, limits.output_bytes).strip().splitlines()
        return ProgramEnd(
            _content(said, limits.output_bytes), process.returncode, timed_out, lines[-1] if lines else ""
        )


def matches(pattern: str, text: str) -> bool:
    """Whether the whole of `text` matches. In a process of its own, since `re` itself cannot be interrupted.

    Raises: MatchTimedOut; RuntimeFailed when it could not be tried at all.
    """
    command = [sys.executable, "-I", "-P", "-X", "utf8", "-c", _MATCH]
    try:
        done = subprocess.run(
            command, input=json.dumps([pattern, text]).encode(), capture_output=True, timeout=_MATCH_S
        )
    except subprocess.TimeoutExpired:
        raise MatchTimedOut from None
    if done.returncode != 0:
        raise RuntimeFailed("A pattern could not be tried on an answer.", "Free memory, or simplify the pattern.")
    return done.stdout == b"yes"


def _end(process: "subprocess.Popen[bytes]") -> None:
    """The process and whatever it started and left behind in its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _content(file: IO[bytes], most_bytes: int) -> str:
    file.seek(0)
    return file.read(most_bytes).decode("utf-8", errors="replace")


def _confinement(may_be_unconfined: bool) -> tuple[str, ...]:
    prefix = working_sandbox()
    if prefix is not None:
        return prefix
    if may_be_unconfined and os.name == "posix":
        return ()
    raise RuntimeFailed(
        "A program that a model wrote cannot be run here: there is no sandbox to run it in.",
        "On Linux install bubblewrap; `macaron doctor` tells whether it works. Or leave out tasks with program tests.",
    )
