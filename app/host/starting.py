"""Find the host of a home, or start one that goes on when its starter ends. For faces; knows no routes but liveness."""

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Final

import httpx
from filelock import FileLock, Timeout

from app.children import child_environment
from app.files import private_opener
from app.host.address import HostAddress, read_address
from app.paths import Paths, make_home
from engine.errors import AgentError, HomeBusy, RuntimeFailed
from engine.runtime import wire

_START_S: Final = 60.0
"""How long a host may take until it listens; the base is loaded after that. Slow disks and busy machines included."""
_ALIVE_S: Final = 10.0
_DETACHED_ON_WINDOWS: Final = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(
    subprocess, "CREATE_NO_WINDOW", 0
)


def find_host(paths: Paths) -> HostAddress | None:
    """The host that runs for this home and answers."""
    address = read_address(paths)
    return address if address is not None and _is_alive(address) else None


def ensure_host(paths: Paths, *, profile: str | None = None) -> HostAddress:
    """The host that runs, or a new one. Two faces that start at once get the same.

    Raises: AgentError with the reason why none could be started.
    """
    found = find_host(paths)
    if found is not None:
        return found
    make_home(paths)
    lock = FileLock(paths.host.with_suffix(".lock"), mode=0o600)
    try:
        with lock.acquire(timeout=_START_S):
            return find_host(paths) or _start(paths, profile)
    except Timeout as error:
        raise HomeBusy(
            f"Another program has been starting the host of {paths.home} for too long.", "Try again in a moment."
        ) from error


def _is_alive(address: HostAddress) -> bool:
    try:
        answer = httpx.get(f"{address.url}/health", timeout=_ALIVE_S, trust_env=False)
        return answer.status_code == 200 and answer.json().get("instance") == address.instance
    except (httpx.HTTPError, ValueError):
        return False


def _start(paths: Paths, profile: str | None) -> HostAddress:
    """Start it in a session of its own. It tells in one line on its standard output how that went."""
    command = [sys.executable, "-P", "-m", "app", "serve", "--background", "--home", str(paths.home)]
    if profile is not None:
        command += ["--profile", profile]
    with open(paths.host_log, "ab", opener=private_opener) as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=paths.home,
            env=child_environment(),
            # So that it neither ends with the terminal nor gets its Ctrl+C.
            start_new_session=True,
            creationflags=_DETACHED_ON_WINDOWS,
        )
    assert process.stdout is not None
    with process.stdout:
        line = process.stdout.readline()
    try:
        told = json.loads(line)
    except ValueError:
        told = {}
    # A host that ends before this program does must not stay in the table of processes.
    threading.Thread(target=process.wait, name="host", daemon=True).start()
    if "error" in told:
        raise wire.error_from_plain(told["error"])
    deadline = time.monotonic() + _ALIVE_S
    while told and time.monotonic() < deadline:
        if (address := find_host(paths)) is not None:
            return address
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        process.kill()
    raise RuntimeFailed(
        f"The host did not start{_last_words(paths)}.",
        f"Look into {paths.host_log}, or run `macaron serve` in a terminal to see what it says.",
    )


def _last_words(paths: Paths) -> str:
    try:
        lines = paths.host_log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return f": {lines[-1][:200]}" if lines else ""


def read_token(address: HostAddress) -> str:
    """Raises: AgentError when the secret of the faces cannot be read."""
    try:
        with open(address.token_file, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError) as error:
        raise AgentError(
            f"The host's token {address.token_file} cannot be read: {error}.",
            "Check that the home is yours; `macaron key rotate` makes a new one.",
        ) from error
