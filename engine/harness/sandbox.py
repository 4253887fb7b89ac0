"""The sandbox that programs of a model run in: the system's programs and this Python, read-only, and nothing else.

Builds the beginning of a bubblewrap command and says whether such a command works here. Linux only so far. Knows
neither what runs inside nor its limits, and takes no decision about doing without.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

_PROBE_S: Final = 10.0
_SYSTEM_FOLDERS: Final = ("bin", "lib", "lib32", "lib64", "sbin")
"""Beside /usr; on most systems they are links into it."""
_OWN_PACKAGES: Final = ("app", "engine", "local_training", "ui")
_SCRATCH_BYTES: Final = 64 << 20
"""Of /tmp inside, the one folder that can be written; it is held in memory."""


def minimal_root(program: str) -> list[str]:
    """What comes before a command that bubblewrap, found at `program`, runs: no home, no network, no rights.

    Needs a bubblewrap that can limit the size of a folder (0.7 or newer); an older one refuses the command.
    """
    # Bubblewrap itself stays in there as process 1, and /proc/1/environ shows what it was started with: nothing.
    command = ["/usr/bin/env", "-i", program, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    command += ["--cap-drop", "ALL", "--size", str(_SCRATCH_BYTES), "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"]
    for place in (Path("/", name) for name in _SYSTEM_FOLDERS):
        if place.is_symlink():
            command += ["--symlink", os.readlink(place), str(place)]
        elif place.is_dir():
            command += ["--ro-bind", str(place), str(place)]
    # A Python that calls the root its own must not bring all of it in.
    if sys.base_prefix != "/" and not Path(sys.base_prefix).is_relative_to("/usr"):
        command += ["--ro-bind", sys.base_prefix, sys.base_prefix]
    for folder in own_packages_in(Path("/usr"), Path(sys.base_prefix)):
        command += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    command += ["--proc", "/proc", "--dev", "/dev"]
    # Folders of memory without a limit otherwise; and settings of the kernel, which belong to root even without rights.
    for folder_of_memory in ("/proc", "/dev", "/"):
        command += ["--remount-ro", folder_of_memory]
    return [*command, "--chdir", "/tmp", "--"]


def own_packages_in(*bound: Path) -> list[Path]:
    """Folders of this program that lie where the sandbox can see them: installed into the Python it runs."""
    place = Path(__file__).resolve().parents[2]
    if not any(place.is_relative_to(folder.resolve()) for folder in bound if folder != Path("/")):
        return []
    return [place / name for name in _OWN_PACKAGES if (place / name).is_dir()]


def interpreter() -> str:
    """The Python below any virtual environment: the sandbox does not see those."""
    return os.path.realpath(sys.executable)


def working_sandbox() -> tuple[str, ...] | None:
    """The minimal root, after a program has run in it; None where there is none or none works. Each is tried once."""
    program = shutil.which("bwrap") if sys.platform == "linux" else None
    return None if program is None else _tried(program)


@cache
def _tried(program: str) -> tuple[str, ...] | None:
    command = minimal_root(program)
    try:
        probe = subprocess.run([*command, interpreter(), "-I", "-c", ""], capture_output=True, timeout=_PROBE_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return tuple(command) if probe.returncode == 0 else None
