"""What a hostile block cannot see or reach. Each attack is run for real, in the sandbox that users get."""

import ast
import base64
import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.harness.repl.session import Repl
from engine.harness.repl.values import Limits

ROOT = Path(engine.__file__).parents[1]
LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"


@pytest.fixture(scope="module")
def attacker(sandboxed: None) -> Iterator[Repl]:
    """A namespace of a program with a secret in its environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_OF_THE_PROGRAM", "plum-4711")
        repl = Repl(Limits(wall_s=30))
        yield repl
        repl.close()


def found(repl: Repl, code: str, **given: Any) -> Any:
    """What the last line of `code`, an expression that JSON can hold, comes to."""
    before = "import json, os\n" + "".join(f"{name} = {value!r}\n" for name, value in given.items())
    *lines, last = (before + code).strip().splitlines()
    result = repl.run("\n".join([*lines, f"print(json.dumps({last}))"]))
    assert result.ending == "finished", result
    return json.loads(result.output.splitlines()[-1])


def fails(repl: Repl, code: str, **given: Any) -> str:
    """The last line of the exception with which `code` ends."""
    result = repl.run("import os\n" + "".join(f"{name} = {value!r}\n" for name, value in given.items()) + code)
    assert result.ending == "raised", result
    return result.error.splitlines()[-1]


# E-1


def test_E1_no_file_of_the_user_or_of_this_program_is_there(attacker: Repl, tmp_path: Path, home: Path):
    home.mkdir()
    private = [tmp_path / ".ssh" / "id_ed25519", home / "macaron.db", home / "token", tmp_path / "chat.json"]
    for path in private:
        path.parent.mkdir(exist_ok=True)
        path.write_text("plum-4711", encoding="utf-8")
    real = [Path.home() / ".ssh", Path.home() / ".mozilla", Path.home() / ".config", ROOT, Path(__file__)]
    paths = [str(path) for path in (*private, *real, Path("/etc/passwd"), Path("/etc/shadow"), Path("/root/.ssh"))]
    assert found(attacker, "[path for path in paths if os.path.exists(path)]", paths=paths) == []


def test_E1_a_walk_through_everything_it_sees_meets_no_folder_of_a_user(attacker: Repl):
    top = set(found(attacker, "os.listdir('/')"))
    python = Path(sys.base_prefix).parts[1]
    assert top <= {"usr", "bin", "lib", "lib32", "lib64", "sbin", "proc", "dev", "tmp", python}


def test_E1_no_environment_of_any_process_holds_a_secret(attacker: Repl):
    code = """
seen = {}
for name in [*filter(str.isdigit, os.listdir("/proc")), "self", parent]:
    for file in ("environ", "cmdline", "mem", "maps"):
        try:
            with open(f"/proc/{name}/{file}", "rb") as opened:
                seen[f"{name}/{file}"] = opened.read(1 << 20).decode("latin-1")
        except OSError:
            pass
[sorted(key for key, text in seen.items() if "plum-4711" in text), seen["1/environ"], len(seen) > 2]
"""
    assert found(attacker, code, parent=str(os.getpid())) == [[], "", True]


def test_E1_it_sees_no_process_but_its_own(attacker: Repl):
    assert len(found(attacker, "[name for name in os.listdir('/proc') if name.isdigit()]")) == 2
    assert "ProcessLookupError" in fails(attacker, "os.kill(pid, 9)", pid=os.getpid())


def test_E1_neither_our_packages_nor_installed_ones_can_be_imported(attacker: Repl):
    code = """
sys.path += places
tried = []
for name in ("engine", "app", "ui", "local_training", "llama_cpp", "pydantic", "psutil"):
    try:
        __import__(name)
        tried.append(name)
    except ImportError:
        pass
tried
"""
    places = [str(ROOT), *(place for place in sys.path if "site-packages" in place and sys.prefix in place)]
    assert found(attacker, "import sys\n" + code, places=places) == []


def test_E1_nothing_can_be_traced_and_no_memory_of_others_be_changed(attacker: Repl):
    code = f"""
{LIBC}
def opened(path, mode):
    try:
        open(path, mode)
    except OSError:
        return False
    return True
traced = [libc.ptrace(16, pid, 0, 0) for pid in (1, os.getppid(), parent)]
copied = [libc.process_vm_readv(1, 0, 0, 0, 0, 0), libc.process_vm_writev(1, 0, 0, 0, 0, 0)]
[traced, copied, opened("/proc/1/mem", "r+b"), opened("/proc/self/mem", "r+b")]
"""
    assert found(attacker, code, parent=os.getpid()) == [[-1, -1, -1], [-1, -1], False, False]


def test_E1_the_memory_of_the_process_that_keeps_the_sandbox_holds_no_secret(attacker: Repl):
    code = """
text, parts = b"", 0
for line in open("/proc/1/maps"):
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    try:
        with open("/proc/1/mem", "rb", buffering=0) as memory:
            memory.seek(start)
            text += memory.read(min(end - start, 1 << 22)) or b""
            parts += 1
    except (OSError, OverflowError):
        pass
["plum-" + "4711" in text.decode("latin-1"), "SECRET_OF" + "_THE" in text.decode("latin-1")]
"""
    assert found(attacker, code) == [False, False]


def test_E1_it_has_no_rights_and_can_get_none(attacker: Repl):
    code = """
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
[status[key].strip() for key in ("CapEff", "CapPrm", "CapInh", "CapBnd", "NoNewPrivs", "Seccomp")]
"""
    capabilities = "0" * 16
    assert found(attacker, code) == [*[capabilities] * 4, "1", "2"]


def test_E1_no_socket_of_the_desktop_or_of_a_container_service_and_no_graphics_card(attacker: Repl):
    places = [
        "/run/dbus/system_bus_socket",
        "/var/run/docker.sock",
        "/run/user",
        "/run",
        "/var",
        "/sys",
        "/tmp/.X11-unix",
    ]
    assert found(attacker, "[place for place in places if os.path.exists(place)]", places=places) == []
    devices = set(found(attacker, "os.listdir('/dev')"))
    plain = {"null", "zero", "full", "random", "urandom", "tty"}
    assert devices - plain <= {"stdin", "stdout", "stderr", "fd", "core", "pts", "ptmx", "shm", "console"}


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/modprobe",
            "/proc/sysrq-trigger",
            "/proc/self/oom_score_adj",
        ),
        *("/usr/bin/python3", "/bin/sh", "/etc/ld.so.preload", "/dev/mem", "/dev/x", "/dev/shm/x", "/x", "/run/x"),
    ],
)
def test_E1_outside_its_scratch_folder_nothing_can_be_written(attacker: Repl, path: str):
    assert fails(attacker, f"open({path!r}, 'r+b' if os.path.exists({path!r}) else 'wb')").partition(":")[0] in (
        "OSError",
        "PermissionError",
        "FileNotFoundError",
    )


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param("libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0)", id="mount"),
        pytest.param("libc.umount2(b'/proc', 2)", id="unmount"),
        pytest.param("libc.unshare(0x10000000)", id="a user namespace"),
        pytest.param("libc.setns(0, 0)", id="the namespace of another"),
        pytest.param("libc.chroot(b'/tmp')", id="another root"),
        pytest.param("libc.syscall(425, 8, 0)", id="io_uring"),
        pytest.param("libc.syscall(321, 0, 0, 0)", id="bpf"),
        pytest.param("libc.syscall(250, 0, 0, 0, 0)", id="the keyring of the kernel"),
        pytest.param("libc.memfd_create(b'x', 0)", id="memory beside its limit"),
        pytest.param("libc.shmget(0, 1 << 20, 0o1600)", id="shared memory"),
        pytest.param("libc.syscall(0x40000000 | 57)", id="fork under another number"),
        pytest.param("libc.setuid(0) or libc.setresuid(1000, 1000, 1000)", id="another user"),
    ],
)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86-64")
def test_E1_the_doors_of_the_kernel_are_shut(attacker: Repl, attack: str):
    assert found(attacker, f"{LIBC}{attack}") == -1


def test_E1_the_limits_cannot_be_raised(attacker: Repl):
    code = "import resource\nresource.setrlimit(resource.{0}, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))"
    for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_NPROC"):
        assert "not allowed to raise" in fails(attacker, code.format(name))


def test_E1_links_lead_to_nothing_outside(attacker: Repl, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("plum-4711", encoding="utf-8")
    code = "os.symlink(target, '/tmp/link')\nopen('/tmp/link').read()"
    assert "FileNotFoundError" in fails(attacker, code, target=str(secret))
    outside = f"/proc/1/root{secret}"
    assert not found(attacker, "os.path.exists(outside)", outside=outside)


# E-2


@pytest.mark.parametrize("family", [1, 2, 10, 16, 17, 38, 40], ids=str)
def test_E2_no_socket_of_any_family_can_be_made(attacker: Repl, family: int):
    """Local, IPv4, IPv6, netlink, packets, kernel cryptography, the host of a virtual machine."""
    code = f"import socket\nsocket.socket({family}, kind)"
    assert {fails(attacker, code, kind=kind).partition(":")[0] for kind in (1, 2, 3)} == {"PermissionError"}


def test_E2_our_own_port_names_and_local_sockets_are_out_of_reach(attacker: Repl, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0macaron-test-abstract")
        abstract.listen()
        server.settimeout(0.2)
        port = server.getsockname()[1]
        for attempt in (
            f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)",
            f"import urllib.request\nurllib.request.urlopen('http://127.0.0.1:{port}/', timeout=2)",
            "import urllib.request\nurllib.request.urlopen('http://169.254.169.254/', timeout=2)",
            "import socket\nsocket.getaddrinfo('example.org', 80)[0]",
            "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0macaron-test-abstract')",
        ):
            assert fails(attacker, attempt).partition(":")[0].rpartition(".")[2] in (
                *("PermissionError", "URLError", "gaierror", "OSError"),
            )
        with pytest.raises(TimeoutError):
            server.accept()


def test_E2_the_only_descriptors_it_has_are_its_own_pipes(attacker: Repl):
    code = """
import pathlib
kinds = set()
for link in pathlib.Path("/proc/self/fd").iterdir():
    try:
        kinds.add(os.readlink(link).partition(":")[0])
    except FileNotFoundError:  # the one that listed the folder
        pass
sorted(kinds)
"""
    assert set(found(attacker, code)) == {"pipe", "/dev/null"}


# E-4


def test_E4_there_is_no_secret_to_print_in_any_disguise(attacker: Repl):
    code = "import base64\nbase64.b64encode(repr(dict(os.environ)).encode()).decode()"
    environment = base64.b64decode(found(attacker, code)).decode()
    assert "plum" not in environment
    assert set(ast.literal_eval(environment)) <= {"HOME", "PATH", "LANG", "PWD", "MALLOC_ARENA_MAX", "LC_CTYPE"}
