"""Checks of the home: is its database whole, can others read it, are there backups, a keyring, and free ports."""

import os
import re
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from app.doctor.check import Check, bad, ok, warning
from app.doctor.probing import ProbeFailed, ask_python
from app.opening import open_store
from app.paths import Paths
from engine.errors import AgentError, HomeBusy
from engine.store.forgetting import ForgettingStore

_MOST_FILES: Final = 20_000
_KEYRING_S: Final = 8.0
_OURS: Final = re.compile(r"\bmacaron\b|-m app\b|\bui\.browser\b")
"""In the command line of our processes."""
_PROBE_KEYRING: Final = """
import json, keyring, secrets
from keyring.errors import KeyringError
backend = keyring.get_keyring()
name = f"{type(backend).__module__}.{type(backend).__qualname__}"
try:
    secret = secrets.token_hex(8)
    keyring.set_password("macaron-tall-probe", "doctor", secret)
    kept = keyring.get_password("macaron-tall-probe", "doctor") == secret
    keyring.delete_password("macaron-tall-probe", "doctor")
    print(json.dumps({"backend": name, "problem": "" if kept else "it gave back something else than it got"}))
except (KeyringError, RuntimeError, OSError) as error:
    print(json.dumps({"backend": name, "problem": (str(error).strip() or "it refused").split(". ")[0]}))
"""


@dataclass(frozen=True, slots=True)
class HomeState:
    check: Check
    is_busy: bool = False
    """Another process, such as the host, holds the home."""
    newest: str | None = None
    """When something was last said, where that could be read."""


def database(paths: Paths) -> HomeState:
    try:
        with open_store(paths) as store:
            found = store.integrity()
            newest = store.conversations(limit=1)
            is_forgetting = bool(ForgettingStore(store.database, store.mender).steps())
    except HomeBusy as busy:
        detail = f"{busy.problem} `macaron verify` checks a copy of its database"
        return HomeState(ok("home", detail), is_busy=True)
    except AgentError as error:
        return HomeState(bad("home", error.problem, error.hint))
    if found != "ok":
        hint = "Put a backup back with `macaron restore FILE`, or save the rest with `macaron verify --salvage FILE`."
        return HomeState(bad("home", f"{paths.home}: {found}", hint))
    said_at = newest[0].updated_at if newest else None
    if is_forgetting:
        detail = f"{paths.home}: something that was forgotten still lies in files, as it could not be finished"
        return HomeState(
            warning("home", detail, "Free some space; every start of macaron tries again."), newest=said_at
        )
    return HomeState(ok("home", f"{paths.home}: ok"), newest=said_at)


def modes(paths: Paths) -> Check:
    """Nobody else may look into the home. Models, which hold nothing private, and links are not looked at."""
    if os.name != "posix":
        return ok("modes", "kept by the rights of your user folder")
    open_to_others = [path for path in _private_paths(paths) if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    if not open_to_others:
        return ok("modes", "only you can read it")
    first = open_to_others[0]
    # A home that nobody may enter keeps everything in it private.
    is_shut = paths.home not in open_to_others
    detail = f"{len(open_to_others)} of its files or folders are open to others, such as {first}"
    hint = f"Run `chmod -R go-rwx '{paths.home}'`."
    if is_shut:
        return ok("modes", f"only you can enter it ({detail})")
    return warning("modes", detail, hint)


def _private_paths(paths: Paths) -> Iterator[Path]:
    yield paths.home
    seen = 0
    for folder, names, files in os.walk(paths.home):
        if Path(folder) == paths.home:
            names[:] = [name for name in names if name not in (paths.models.name, paths.downloads.name)]
        for name in (*names, *files):
            path = Path(folder, name)
            seen += 1
            if seen > _MOST_FILES:
                return
            if not path.is_symlink():
                yield path


def backups(paths: Paths) -> Check:
    found = sorted(paths.backups.glob("*.zip"), key=lambda path: path.stat().st_mtime) if paths.backups.is_dir() else []
    if not found:
        return ok("backups", "none in the home yet; `macaron backup` makes one")
    size = sum(path.stat().st_size for path in found)
    return ok("backups", f"{len(found)}, the newest {found[-1].name}, {size / 2**20:,.1f} MB in all")


def keyring() -> Check:
    """Write, read and delete an entry, in a process of its own: a locked keyring may wait for someone for ever."""
    hint = (
        "Without it, give the token of the model hub as the environment variable HF_TOKEN, and secrets of MCP servers "
        "as ${env:NAME}. Nothing else needs it."
    )
    try:
        found = ask_python(_PROBE_KEYRING, _KEYRING_S)
    except ProbeFailed as failure:
        return warning("keyring", f"it cannot be used: {failure}", f"Unlock it, and try again. {hint}")
    if found["problem"]:
        return warning("keyring", f"{found['backend']}: {found['problem']}", hint)
    return ok("keyring", f"{found['backend']}, tried with an entry that is gone again")


def port(name: str, number: int, our_pid: int | None) -> Check:
    """Whether the port on loopback is free, ours, or another program's. `our_pid`: the host of this home."""
    if number == 0:
        return ok(name, "any that is free")
    if _is_free(number):
        return ok(name, f"{number} is free")
    holder = _holder(number)
    if holder is not None and holder[0] == our_pid:
        return ok(name, f"{number} is taken by the host of this home (process {our_pid})")
    who = f"{holder[1]} (process {holder[0]})" if holder else "another program"
    return warning(
        name,
        f"{number} is taken by {who}",
        f"A free port is taken instead; to choose one, set `{name}` in settings.toml.",
    )


def _is_free(number: int) -> bool:
    with socket.socket() as probe:
        if os.name == "posix":  # as servers do, or the remains of closed connections count
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError:
            return False
    return True


def _holder(number: int) -> tuple[int, str] | None:
    """(process, what it is); None where the system does not tell, as of another user's."""
    try:
        for found in psutil.net_connections(kind="tcp"):
            if found.status == psutil.CONN_LISTEN and found.laddr.port == number and found.pid:
                process = psutil.Process(found.pid)
                is_ours = _OURS.search(" ".join(process.cmdline()))
                return found.pid, "another macaron" if is_ours else f"the program {process.name()}"
    except psutil.Error:
        return None
    return None
