"""The doctor finds what is there, says where the model runs, and tells what to do about what is not well."""

import json
import os
import socket
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.doctor import engine, machine, sandbox
from app.doctor import home as home_checks
from app.doctor import host as host_checks
from app.doctor.check import Check
from app.doctor.harness import harness
from app.doctor.probing import ProbeFailed, ask_python
from app.doctor.run import run_doctor
from app.home_lock import hold_home
from app.host.address import HostAddress
from app.host.starting import find_host
from app.opening import open_store
from app.paths import Paths, make_home
from engine.values import TurnRecord
from tests.app.running import macaron, profile_like_starter, start, wait_until
from ui.strings import TEXTS

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
KEPT_IN_A_FILE = """
import json, pathlib
from keyring.backend import KeyringBackend

class Keyring(KeyringBackend):
    priority = 1
    file = pathlib.Path({file!r})

    def _read(self):
        return json.loads(self.file.read_text()) if self.file.exists() else {{}}

    def set_password(self, service, name, secret):
        self.file.write_text(json.dumps({{**self._read(), name: secret}}))

    def get_password(self, service, name):
        return self._read().get(name)

    def delete_password(self, service, name):
        self.file.write_text("{{}}")

class Hanging(Keyring):
    def set_password(self, service, name, secret):
        import time
        time.sleep(60)
"""


@pytest.fixture
def paths(home: Path) -> Paths:
    make_home(Paths(home))
    return Paths(home)


@pytest.mark.model
def test_a_healthy_home_is_found_healthy(home: Path) -> None:
    done = macaron("doctor", "--json")
    checks = {check["name"]: check for check in done.json["checks"]}
    assert done.code == 0
    assert done.json["ok"]
    assert {"system", "memory", "disk", "home", "llama_cpp", "profile", "base", "backend", "speed"} <= set(checks)
    assert {"modes", "clock", "packages", "gpu", "sandbox", "harness", "keyring", "port", "page_port", "hub"} <= set(
        checks
    )
    assert "CPU" in checks["backend"]["detail"]
    assert "GPU" in checks["backend"]["detail"], "it says why"
    assert all(check["hint"] for check in checks.values() if check["level"] != "ok")
    assert {f"doctor.{name}" for name in checks} <= set(TEXTS)


@pytest.mark.model
def test_a_missing_base_is_named_with_what_to_do(home: Path, tmp_path: Path) -> None:
    folder = profile_like_starter(tmp_path / "broken")
    settings = folder / "profile.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("Q4_1.gguf", "nowhere.gguf"), encoding="utf-8")

    done = macaron("doctor", "--profile", str(folder))

    assert done.code == 1
    assert "BAD  Engine" in done.out
    assert "models" in done.out, "it says where the file belongs"
    assert "ok   Memory" in done.out


def test_quick_loads_no_base_and_speaks_chinese(home: Path) -> None:
    done = macaron("doctor", "--quick", changes={"LC_ALL": "zh_CN.UTF-8"})
    assert done.code == 0
    assert "正常 系统" in done.out and "运行于" not in done.out


def test_while_another_process_holds_the_home_its_base_is_not_loaded_twice(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    with hold_home(paths):
        code = run_doctor(paths, as_json=True, extra=lambda: [Check("backend", "ok", "CPU, as the host says")])
    checks = {check["name"]: check["detail"] for check in json.loads(capsys.readouterr().out)["checks"]}
    assert code == 0
    assert "not loaded a second time" in checks["host"]
    assert checks["backend"] == "CPU, as the host says" and "speed" not in checks


def test_a_warning_does_not_change_the_exit_code_and_something_bad_does(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    for level, code in (("warning", 0), ("bad", 1)):
        check = Check("from_the_host", level, "\x1b[2Jdetail", "first\nsecond")
        assert run_doctor(paths, quick=True, extra=lambda check=check: [check]) == code
        out = capsys.readouterr().out
        assert "from_the_host: detail\n    first\n    second\n" in out and "\x1b" not in out


def test_a_damaged_database_is_bad_and_the_hint_names_restore(paths: Paths) -> None:
    paths.database.write_bytes(b"no database at all")
    state = home_checks.database(paths)
    assert state.check.level == "bad" and state.check.hint


def test_configuration_that_is_wrong_or_waits_is_named_with_what_to_do(paths: Paths, tmp_path: Path) -> None:
    table, folder = paths.home / "harness.toml", (tmp_path / "papers").resolve()
    assert harness(paths).level == "ok"
    granted = f"[[folders]]\npath = {json.dumps(str(folder))}\n"
    table.write_text(granted + "[mcpServers.clock]\ncommand = 'clock'\n", encoding="utf-8")
    assert (harness(paths).level, harness(paths).hint) == ("warning", "`macaron servers approve clock`")
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    assert harness(paths).hint == f"Read them: `macaron tools trust {folder}`."
    table.write_text("[mcpServers.saved]\ncommand = 'clock'\n", encoding="utf-8")
    assert harness(paths).detail.startswith("saved: ")
    table.write_text("[budgets]\nturn_seconds = 'long'\n", encoding="utf-8")
    assert harness(paths).level == "bad" and "line 2" in harness(paths).detail


def test_K4_files_that_others_may_read_are_named_with_the_command_that_closes_them(paths: Paths) -> None:
    assert home_checks.modes(paths).level == "ok"
    paths.settings.write_text("")
    paths.settings.chmod(0o644)
    assert home_checks.modes(paths).level == "ok", "nobody else can get into the folder"
    paths.home.chmod(0o755)
    found = home_checks.modes(paths)
    assert found.level == "warning" and f"chmod -R go-rwx '{paths.home}'" in found.hint
    os.system(found.hint.split("`")[1])
    assert stat.S_IMODE(paths.settings.stat().st_mode) == 0o600
    assert home_checks.modes(paths).level == "ok"


def test_models_may_be_read_by_others(paths: Paths) -> None:
    paths.models.mkdir()
    (paths.models / "base.gguf").touch(0o644)
    paths.home.chmod(0o711)
    paths.models.chmod(0o755)
    assert "1 of its files or folders" in home_checks.modes(paths).detail, "only the home itself"


def test_a_full_disk_and_little_memory_are_bad(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    usage = shutil.disk_usage(paths.home)
    monkeypatch.setattr("shutil.disk_usage", lambda place: usage._replace(free=8 << 30))
    assert machine.disk(paths).level == "ok"
    monkeypatch.setattr("shutil.disk_usage", lambda place: usage._replace(free=1 << 30))
    assert machine.disk(paths).level == "bad"
    assert machine.memory(available_bytes=1 << 20).level == "bad"


@pytest.mark.parametrize(
    ("newest", "now", "level"),
    [
        pytest.param(None, NOW, "ok", id="empty home"),
        pytest.param("2026-11-29T11:59:00+00:00", NOW, "ok", id="just now"),
        pytest.param("2026-11-29T12:05:00+00:00", NOW, "ok", id="a little skew"),
        pytest.param("2027-01-01T00:00:00+00:00", NOW, "warning", id="set back"),
        pytest.param(None, datetime(1970, 1, 1, tzinfo=UTC), "warning", id="no clock"),
    ],
)
def test_a_clock_that_is_wrong_is_noticed(newest: str | None, now: datetime, level: str) -> None:
    assert machine.clock(newest, now).level == level


def test_the_clock_is_held_against_what_was_last_said(paths: Paths, earlier: TurnRecord) -> None:
    assert home_checks.database(paths).newest == open_newest(paths)


def open_newest(paths: Paths) -> str:
    with open_store(paths) as store:
        return store.conversations(1)[0].updated_at


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.packages().level == "ok"
    monkeypatch.setattr(machine, "_NEEDED", ("click", "no-such-package"))
    found = machine.packages()
    assert found.level == "bad" and "pip install no-such-package" in found.hint


@pytest.mark.parametrize(
    ("environment", "encoding", "level", "words"),
    [
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "UTF-8", "ok", "all colours"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "utf8", "ok", "no colours"),
        ({"TERM": "xterm"}, "ISO-8859-1", "warning", "ISO-8859-1"),
        ({"TERM": "dumb"}, "UTF-8", "warning", "dumb"),
        ({}, "UTF-8", "ok", "unknown"),
    ],
)
def test_a_terminal_that_cannot_show_everything_is_noticed(environment, encoding, level, words) -> None:
    found = machine.terminal(environment, encoding=encoding)
    assert found.level == level and words in found.detail


@pytest.mark.skipif(sys.platform != "linux", reason="asks for the variables of Linux desktops")
def test_without_a_desktop_the_address_is_to_be_opened_by_hand() -> None:
    assert "--no-browser" in machine.browser({}).hint


def test_the_hub_is_named_with_who_chose_it_and_never_contacted() -> None:
    assert machine.hub("https://mirror.example", {}).detail.startswith("https://mirror.example, from settings.toml")
    assert machine.hub("http://mirror.example", {}).level == "warning"


def test_ports_are_free_or_it_is_said_who_has_them() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        taken = home_checks.port("port", number, None)
        assert taken.level == "warning" and f"process {os.getpid()}" in taken.detail and "`port`" in taken.hint
        assert home_checks.port("port", number, os.getpid()).level == "ok"
    assert home_checks.port("port", number, None).level == "ok"
    assert home_checks.port("page_port", 0, None).level == "ok"


def use_keyring(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str) -> Path:
    """Make `name` of the module above the keyring of child processes; the file it keeps secrets in."""
    file = folder / "secrets.json"
    (folder / "kept_in_a_file.py").write_text(KEPT_IN_A_FILE.format(file=str(file)))
    monkeypatch.setattr("app.doctor.probing._ROOT", str(folder))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", name)
    return file


def test_a_keyring_that_works_is_left_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = use_keyring(monkeypatch, tmp_path, "kept_in_a_file.Keyring")
    found = home_checks.keyring()
    assert found.level == "ok" and "kept_in_a_file" in found.detail
    assert file.read_text() == "{}"


def test_without_a_keyring_the_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_keyring(monkeypatch, tmp_path, "keyring.backends.fail.Keyring")
    found = home_checks.keyring()
    assert found.level == "warning" and "HF_TOKEN" in found.hint


def test_a_keyring_that_waits_for_a_person_does_not_hold_the_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keyring(monkeypatch, tmp_path, "kept_in_a_file.Hanging")
    monkeypatch.setattr(home_checks, "_KEYRING_S", 1.0)
    found = home_checks.keyring()
    assert found.level == "warning" and "no answer within 1 second" in found.detail and "HF_TOKEN" in found.hint


@pytest.mark.parametrize("source", ["print('no json')", "raise SystemExit(3)", "import os; os.abort()", ""])
def test_a_probe_that_goes_wrong_is_a_finding_and_no_crash(source: str) -> None:
    with pytest.raises(ProbeFailed):
        ask_python(source, 20.0)


@pytest.mark.parametrize(
    ("built", "drivers", "level", "words"),
    [
        pytest.param(engine.Built((("CUDA0", "H200"),), True), ("NVIDIA",), "ok", "CUDA0 (H200)", id="used"),
        pytest.param(engine.Built((), False), (), "ok", "none here", id="none"),
        pytest.param(engine.Built((), True), (), "ok", "was built for one", id="built for one that is not there"),
        pytest.param(engine.Built((), False), ("NVIDIA",), "warning", "GGML_CUDA=on", id="cpu build beside nvidia"),
        pytest.param(engine.Built((), False), ("AMD",), "warning", "GGML_HIP=on", id="cpu build beside amd"),
        pytest.param(engine.Built((), False), ("Apple",), "warning", "GGML_METAL=on", id="cpu build beside apple"),
        pytest.param(engine.Built((), True), ("NVIDIA",), "warning", "CUDA_VISIBLE_DEVICES", id="not seen"),
    ],
)
def test_a_gpu_that_is_there_and_not_used_comes_with_what_to_do(built, drivers, level: str, words: str) -> None:
    found = engine.judge_gpu(built, drivers)
    assert found.level == level and words in f"{found.detail} {found.hint}"


def test_llama_cpp_is_really_asked_for_its_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "gpu_drivers", lambda: ())
    assert engine.gpu().level == "ok"
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", "/nowhere")
    assert engine.gpu().level == "bad"


HELD = {"reads_home": False, "sees_parent": False, "reaches_host": False, "has_route": False, "writes_system": False}


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_E1_E2_the_sandbox_is_really_tried_and_shows_neither_home_nor_network(paths: Paths, require_program) -> None:
    require_program("bwrap")
    found = sandbox.sandbox(paths)
    assert found.level == "ok", found
    assert [path.name for path in paths.home.iterdir()] == []


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
@pytest.mark.parametrize(
    ("opened", "words"),
    [
        pytest.param(("--bind", "{home}", "{home}"), "reads your home", id="home"),
        pytest.param(("--share-net",), "reaches programs on this machine", id="network"),
        pytest.param(("--setenv", "SECRET", "x"), "variables of your environment", id="environment"),
    ],
)
def test_E1_E2_a_sandbox_with_a_hole_is_found_out(
    opened: tuple[str, ...], words: str, paths: Paths, monkeypatch: pytest.MonkeyPatch, require_program
) -> None:
    require_program("bwrap")
    closed = sandbox.minimal_root

    def with_a_hole(program: str) -> list[str]:
        command = closed(program)
        return [*command[:-1], *(part.format(home=paths.home) for part in opened), "--"]

    monkeypatch.setattr(sandbox, "minimal_root", with_a_hole)
    found = sandbox.sandbox(paths)
    assert found.level == "bad" and words in found.detail


@pytest.mark.parametrize("hole", HELD)
def test_whatever_a_program_inside_can_do_makes_the_sandbox_bad(hole: str) -> None:
    assert sandbox.judge({**HELD, "variables": []}).level == "ok"
    assert sandbox.judge({**HELD, hole: True}).level == "bad"
    assert sandbox.judge({name: value for name, value in HELD.items() if name != hole}).level == "bad", "never told"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel/apparmor_restrict_unprivileged_userns": "1"}, "sudo apparmor_parser -r /etc/apparmor.d/bwrap"),
        ({"kernel/unprivileged_userns_clone": "0"}, "kernel.unprivileged_userns_clone=1"),
        ({"user/max_user_namespaces": "0"}, "user.max_user_namespaces=15000"),
        ({"user/max_user_namespaces": "15000"}, "Docker"),
        ({}, "Docker"),
    ],
)
def test_when_the_sandbox_does_not_start_the_exact_fix_is_named(settings: dict[str, str], words: str) -> None:
    detail, hint = sandbox.explain("setting up uid map: Permission denied", "/usr/bin/bwrap", settings)
    assert "uid map" in detail and words in hint


def test_without_bubblewrap_it_is_said_how_to_get_it(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("PATH", "/nowhere")
    found = sandbox.sandbox(paths)
    assert found.level == "warning" and "apt install bubblewrap" in found.hint and "ask you first" in found.hint


def test_a_sandbox_that_does_not_start_is_a_warning(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = sandbox.sandbox(paths)
    assert found.level == "warning" and "uid map" in found.detail
    assert list(paths.home.iterdir()) == []


def test_a_host_that_runs_tells_what_it_holds(home: Path) -> None:
    with start("serve") as host:
        try:
            wait_until(lambda: find_host(Paths(home)) is not None, "the host answers")
            done = macaron("doctor", "--json")
        finally:
            host.terminate()
            host.communicate(timeout=30)
    checks = {check["name"]: check for check in done.json["checks"]}
    assert done.code == 0
    assert f"process {host.pid} on port" in checks["host"]["detail"]
    assert "speed" not in checks and checks["home"]["level"] == "ok"


def test_a_host_that_does_not_answer_is_a_warning(paths: Paths) -> None:
    address = HostAddress(os.getpid(), 1, "none", "0", str(paths.face_token))
    (found,) = host_checks.host(paths, address)
    assert found.level == "warning" and "does not answer" in found.detail
