"""The trainer's process: `python -m local_training.runs FOLDER`. Events on standard output, everything else aside.

Ends when its standard input does, with what it has. Ctrl+C is for whoever started it.
"""

import contextlib
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, TextIO

from engine.errors import AgentError, DiskFull, HomeBusy, RuntimeFailed, boundary
from local_training.runs.events import Ended, Event, event_line
from local_training.runs.folder import RunFolder, now
from local_training.runs.stored import to_json

STOPPED: Final = 130


def main() -> int:
    # Threads that spin while they wait would take the engine's core; torch reads this when it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    events = _own_output()
    folder = RunFolder(Path(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: folder.stop.touch())

    def emit(event: Event) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more; the folder holds the same
            print(event_line(event), file=events, flush=True)

    ended = _trained(folder, emit)
    emit(ended)
    return ended.exit_code


def _own_output() -> TextIO:
    """The real standard output; whatever libraries print goes to standard error from now on."""
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return events


def _trained(folder: RunFolder, emit: Callable[[Event], None]) -> Ended:
    try:
        with boundary(RuntimeFailed, "The trainer failed unexpectedly", f"Its last words are in {folder.log.name}."):
            from local_training.runs.trainer import train

            result = train(folder, emit, watch_parent=True)
    except AgentError as error:
        step = folder.read_state().step
        if not isinstance(error, HomeBusy):  # then the folder is another's
            shutil.rmtree(folder.work, ignore_errors=True)  # on a full disk, room for the words that say so
            _put_down(folder, error)
        with contextlib.suppress(OSError):  # the log is on the same disk
            traceback.print_exc()
        return Ended("failed", step, error.problem, error.hint, error.exit_code)
    return Ended(result.state, result.step, result.reason, exit_code=0 if result.state == "finished" else STOPPED)


def _put_down(folder: RunFolder, error: AgentError) -> None:
    """Let the folder say how the run failed; over what it said before, where the disk has no room for another file."""
    state = replace(
        folder.read_state(), state="failed", problem=error.problem, hint=error.hint, pid=0, updated_at=now()
    )
    with contextlib.suppress(AgentError, OSError):
        try:
            folder.write_state(state)
        except DiskFull:
            with folder.state.open("r+b") as file:
                file.write(to_json(state).encode())
                file.truncate()


if __name__ == "__main__":
    sys.exit(main())
