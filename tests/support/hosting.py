"""Hosts in tests: end the one of a home, in order or by force, so that no test leaves a process behind."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import psutil

from app.host.address import read_address
from app.paths import Paths

_ORDERLY_S = 20.0


def host_pid(home: Path) -> int | None:
    address = read_address(Paths(home))
    return address.pid if address else None


def end_host(home: Path) -> None:
    """End the host of this home, if one runs, as a signal from the system would; by force if it takes no notice."""
    pid = host_pid(home)
    if pid is None:
        return
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        assert "serve" in process.cmdline(), "host.json names a process that is no host"
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_ORDERLY_S)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(_ORDERLY_S)


def kill_host(home: Path) -> int:
    """kill -9, and wait until it is gone. Its pid."""
    pid = host_pid(home)
    assert pid is not None, "no host runs"
    os.kill(pid, signal.SIGKILL)
    with suppress(psutil.NoSuchProcess, ChildProcessError):
        psutil.Process(pid).wait(_ORDERLY_S)
    return pid
