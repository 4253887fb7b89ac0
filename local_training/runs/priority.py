"""Let everything else on the machine go first. Light: no torch.

On Linux desktops the scheduler shares out the cores between sessions, and a process's niceness counts only within its
own; so the session is made nice too.
"""

import contextlib
import os
import sys
from pathlib import Path

import psutil


def yield_to_others(nice: int) -> None:
    """Make this process, and those it starts from now on, give way; 0 (like all) to 19. Asked twice it counts once."""
    if sys.platform == "win32":
        if nice:
            psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        return
    os.nice(max(0, nice - os.nice(0)))
    yield_session(os.getpid(), nice)


def yield_session(process_id: int, nice: int) -> None:
    """Make the session of a process give way, where the system has such a thing."""
    # There is no such file without session scheduling; a session that is not ours may not be changed.
    with contextlib.suppress(OSError):
        Path(f"/proc/{process_id}/autogroup").write_text(str(nice), encoding="ascii")
