"""A process that restores a backup and is killed at one of its steps on the disk.

Run as `python -m tests.app.restoring HOME BACKUP STEP`. Every call that changes names or content on the disk is a step;
at step number STEP the process kills itself before the call. Ends with code 0 when there are fewer steps.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from app.backup import run_restore
from app.paths import find_home

CHANGES = ("rename", "replace", "link", "unlink", "remove", "rmdir", "mkdir", "fsync")


def main(home: str, backup: str, step: int) -> int:
    left = step

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return change(*arguments, **options)

        return call

    for name in CHANGES:
        setattr(os, name, counted(getattr(os, name)))
    return run_restore(find_home(home, {}), backup, as_json=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
