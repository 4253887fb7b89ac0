"""The sandbox: what a program in it cannot see or do, and that one which does not work counts as none."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.harness.sandbox import _tried, interpreter, minimal_root, own_packages_in, working_sandbox

ROOT = Path(__file__).parents[3]

linux = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")


@pytest.fixture
def untried() -> Iterator[None]:
    """Nothing that was found before, and nothing of this test is found later."""
    _tried.cache_clear()
    yield
    _tried.cache_clear()


def run_inside(source: str, *arguments: str) -> Any:
    """What `source` prints as JSON in the sandbox."""
    sandbox = working_sandbox()
    assert sandbox is not None
    command = [*sandbox, interpreter(), "-I", "-c", source, *arguments]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


@linux
def test_E1_E2_a_program_inside_sees_no_files_of_the_user_no_variables_and_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, require_program: Callable[[str], str]
):
    require_program("bwrap")
    monkeypatch.setenv("SECRET", "x")
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = run_inside(
            "import json, os, socket, sys\n"
            "print(json.dumps({\n"
            "    'secret': os.path.exists(sys.argv[1]),\n"
            "    'program': os.path.exists(sys.argv[2]),\n"
            "    'variables': sorted(set(os.environ) - {'PWD', 'LC_CTYPE'}),\n"
            "    'connects': socket.socket().connect_ex(('127.0.0.1', int(sys.argv[3]))) == 0,\n"
            "}))\n",
            str(secret),
            __file__,
            str(server.getsockname()[1]),
        )
    assert found == {"secret": False, "program": False, "variables": [], "connects": False}


@linux
def test_E1_a_program_inside_has_no_rights_and_sees_only_itself(require_program: Callable[[str], str]):
    require_program("bwrap")
    found = run_inside(
        "import json, os\n"
        "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "numbers = [int(name) for name in os.listdir('/proc') if name.isdigit()]\n"
        "print(json.dumps({'rights': status['CapEff'].strip(), 'processes': len(numbers), 'folder': os.getcwd()}))\n"
    )
    assert int(found["rights"], 16) == 0
    assert found["processes"] <= 2, "itself, and bubblewrap that waits for it"
    assert found["folder"] == "/tmp"


@linux
def test_E1_the_process_that_keeps_the_sandbox_shows_no_variables_of_the_one_that_started_it(
    monkeypatch: pytest.MonkeyPatch, require_program: Callable[[str], str]
):
    require_program("bwrap")
    monkeypatch.setenv("SECRET", "x")
    assert run_inside("import json\nprint(json.dumps(open('/proc/1/environ').read()))") == ""


@linux
def test_E3_only_a_scratch_folder_of_limited_size_can_be_written(require_program: Callable[[str], str]):
    require_program("bwrap")
    found = run_inside(
        "import json, os\n"
        "settings = ['/proc/sys/kernel/core_pattern', '/proc/self/oom_score_adj']\n"
        "places = [*settings, '/', '/dev', '/dev/shm', '/usr', '/tmp']\n"
        "state = os.statvfs('/tmp')\n"
        "writable = [place for place in places if os.access(place, os.W_OK)]\n"
        "print(json.dumps({'writable': writable, 'bytes': state.f_blocks * state.f_frsize}))\n"
    )
    assert found == {"writable": ["/tmp"], "bytes": 64 << 20}


@linux
def test_E1_our_packages_are_hidden_where_they_are_installed_into_the_python_that_is_brought_in(
    monkeypatch: pytest.MonkeyPatch, require_program: Callable[[str], str]
):
    program = require_program("bwrap")
    monkeypatch.setattr(sys, "base_prefix", str(ROOT))
    names = ("app", "engine", "local_training", "ui", "tests")
    command = [*minimal_root(program), "/bin/ls", *(str(ROOT / name) for name in names)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    shown = {part.partition(":")[0]: part.split()[1:] for part in listing.split("\n\n")}
    assert [bool(shown[str(ROOT / name)]) for name in names] == [False, False, False, False, True]


def test_where_they_are_not_brought_in_nothing_needs_hiding():
    assert own_packages_in(Path("/no/such/folder"), Path("/")) == []
    assert ROOT / "engine" in own_packages_in(ROOT.parent)


@linux
@pytest.mark.parametrize(
    ("prefix", "is_bound"),
    [("/opt/python", True), ("/usr/local", False), ("/usr", False), ("/", False), ("/usrlocal", True)],
)
def test_of_python_only_what_the_system_folders_lack_is_brought_in(
    monkeypatch: pytest.MonkeyPatch, prefix: str, is_bound: bool
):
    monkeypatch.setattr(sys, "base_prefix", prefix)
    command = minimal_root("bwrap")
    bound = [command[place + 1] for place, word in enumerate(command) if word == "--ro-bind"]
    assert (prefix in bound[1:]) == is_bound
    assert "/" not in bound


def test_without_bubblewrap_there_is_none(untried: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", "/nowhere")
    assert working_sandbox() is None


def test_on_another_system_there_is_none(untried: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert working_sandbox() is None


@linux
def test_what_one_program_did_says_nothing_about_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if working_sandbox() is None:
        pytest.skip("no working bubblewrap here")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert working_sandbox() is None


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
def test_one_that_does_not_start_counts_as_none(untried: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert working_sandbox() is None
