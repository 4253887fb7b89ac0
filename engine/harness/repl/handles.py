"""Processes as Linux sees them: starting one that stays, finding its child, and signals that hit no other."""

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

import psutil


class Handle:
    """A process of this system, by a descriptor: never another one that has got its number since."""

    def __init__(self, pid: int) -> None:
        self._descriptor = os.pidfd_open(pid)

    def send_signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, number)

    def close(self) -> None:
        os.close(self._descriptor)


def start_and_keep(command: Sequence[str], given: Sequence[int], printed: int) -> "subprocess.Popen[bytes]":
    """Start it from a thread that stays: the sandbox ends with the thread that started it, as well as with us."""
    started: SimpleQueue[subprocess.Popen[bytes] | OSError] = SimpleQueue()

    def keep() -> None:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                pass_fds=given,
                env={},
                cwd="/",
                start_new_session=True,
            )
        except OSError as problem:
            started.put(problem)
            return
        started.put(process)
        process.wait()

    threading.Thread(target=keep, name="sandboxed-python", daemon=True).start()
    outcome = started.get()
    if isinstance(outcome, OSError):
        raise outcome
    return outcome


def only_child(pid: int) -> int:
    """The one process that the first of the sandbox has started."""
    try:
        children = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
    except FileNotFoundError:  # a kernel built without it; looking at all processes takes longer
        children = [each.pid for each in psutil.Process(pid).children()]
    (child,) = children
    return child
