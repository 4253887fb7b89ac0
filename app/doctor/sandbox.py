"""Is there a sandbox for tools, proved by running a small program in one: it may see neither the home nor a network."""

import hashlib
import os
import secrets
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from app.doctor.check import Check, bad, ok, warning
from app.doctor.probing import ProbeFailed, ask
from app.paths import Paths
from engine.harness.sandbox import interpreter, minimal_root

_TIMEOUT_S: Final = 10.0
_WITHOUT: Final = "Until then every run of a tool will ask you first."
_INSTALL: Final = (
    "Install bubblewrap: `sudo apt install bubblewrap`, `sudo dnf install bubblewrap` or `sudo pacman -S bubblewrap`."
)
_APPARMOR_FIX: Final = """AppArmor keeps programs from making sandboxes. Allow it for bubblewrap alone:
sudo tee /etc/apparmor.d/bwrap >/dev/null <<'END'
abi <abi/4.0>,
include <tunables/global>
profile bwrap {program} flags=(unconfined) {{
  userns,
}}
END
sudo apparmor_parser -r /etc/apparmor.d/bwrap"""
_KERNEL_SETTINGS: Final = {
    "kernel/apparmor_restrict_unprivileged_userns": "1",
    "kernel/unprivileged_userns_clone": "0",
    "user/max_user_namespaces": "0",
}
"""Settings below /proc/sys, and the value with which they keep users from making sandboxes."""

_INSIDE: Final = """
import hashlib, json, os, socket, sys
secret, port, parent, environ_hash = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]

def can(action):
    try:
        action()
    except OSError:
        return False
    return True

def read_parent():
    with open(f"/proc/{parent}/environ", "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != environ_hash:
            raise OSError("another process has this number in here")

def connect(address, kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.settimeout(2)
        probe.connect(address)

print(json.dumps({
    "reads_home": can(lambda: open(secret).read()),
    "sees_parent": can(read_parent),
    "reaches_host": can(lambda: connect(("127.0.0.1", port), socket.SOCK_STREAM)),
    "has_route": can(lambda: connect(("192.0.2.1", 9), socket.SOCK_DGRAM)),
    "writes_system": can(lambda: open("/usr/.macaron-probe", "w")),
    "variables": sorted(set(os.environ) - {"LC_CTYPE", "PATH", "PWD"}),
}))
"""


def sandbox(paths: Paths) -> Check:
    if sys.platform == "linux":
        return _bubblewrap(paths)
    if sys.platform == "darwin":
        if shutil.which("sandbox-exec"):
            return ok("sandbox", "sandbox-exec is there; it is not tried on this system yet")
        return warning("sandbox", "sandbox-exec is missing", _WITHOUT)
    return warning("sandbox", "there is none for this system yet", "Every run of a tool will ask you first.")


def _bubblewrap(paths: Paths) -> Check:
    program = shutil.which("bwrap")
    if program is None:
        return warning("sandbox", "bubblewrap is not installed", f"{_INSTALL} {_WITHOUT}")
    token = secrets.token_hex(16)
    secret = paths.home / f".probe-{token[:8]}"
    with socket.create_server(("127.0.0.1", 0)) as server:
        descriptor = os.open(secret, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.write(descriptor, token.encode())
            os.close(descriptor)
            own_environ = hashlib.sha256(Path("/proc/self/environ").read_bytes()).hexdigest()
            inside = [str(secret), str(server.getsockname()[1]), str(os.getpid()), own_environ]
            found = ask([*minimal_root(program), interpreter(), "-I", "-c", _INSIDE, *inside], _TIMEOUT_S)
        except ProbeFailed as failure:
            detail, hint = explain(str(failure), program, kernel_settings())
            return warning("sandbox", detail, f"{hint}\n{_WITHOUT}")
        finally:
            secret.unlink(missing_ok=True)
    return judge(found)


def judge(found: Mapping[str, object]) -> Check:
    """What the program inside could do, against what it must not."""
    holes = {
        "reads_home": "reads your home",
        "sees_parent": "reads the environment of other programs",
        "reaches_host": "reaches programs on this machine",
        "has_route": "reaches the network",
        "writes_system": "writes to the system",
    }
    open_holes = [words for name, words in holes.items() if found.get(name) is not False]
    if found.get("variables"):
        open_holes.append("sees variables of your environment")
    if open_holes:
        return bad(
            "sandbox",
            f"bubblewrap runs, but a program in it {', '.join(open_holes)}",
            "Update bubblewrap and the kernel. Do not let tools run until this is gone.",
        )
    return ok("sandbox", "bubblewrap: a program in it saw neither your home nor other programs nor any network")


def kernel_settings() -> Mapping[str, str]:
    """Those that keep users from making sandboxes, as they are here."""
    found = {}
    for name in _KERNEL_SETTINGS:
        try:
            found[name] = Path("/proc/sys", name).read_text(encoding="ascii").strip()
        except OSError:
            continue
    return found


def explain(failure: str, program: str, settings: Mapping[str, str]) -> tuple[str, str]:
    """(what is wrong, what to do) when the sandbox does not start."""
    blocking = [name for name, value in settings.items() if _KERNEL_SETTINGS.get(name) == value]
    detail = f"bubblewrap does not start: {failure}"
    if not blocking:
        return detail, (
            "In a container, allow it to make user namespaces (Docker: `--security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined`); otherwise update bubblewrap."
        )
    name = blocking[0]
    detail = f"{detail} ({name.replace('/', '.')} is {settings[name]})"
    if name.startswith("kernel/apparmor"):
        return detail, _APPARMOR_FIX.format(program=program)
    value = "1" if name.startswith("kernel/") else "15000"
    setting = f"{name.replace('/', '.')}={value}"
    return detail, f"Run `echo {setting} | sudo tee /etc/sysctl.d/60-macaron.conf && sudo sysctl --system`."
