"""Nothing outside a granted folder is reached, whatever a path says and whatever is exchanged meanwhile."""

import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

import engine.harness.builtin.files.opening as opening
from engine.errors import UsageProblem
from engine.harness.builtin.files.grants import Grant, GrantedFolders
from engine.harness.builtin.files.opening import Guard
from engine.harness.builtin.files.toolbox import FileToolbox

pytestmark = pytest.mark.skipif(not opening.IS_SUPPORTED, reason="needs handles of folders")

SECRET = "the secret outside"


@pytest.fixture(autouse=True)
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text(SECRET)
    return folder


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "notes/../../outside/secret.txt",
        "notes/./../../outside/secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "/windows/win.ini",
        "\\\\server\\share\\secret.txt",
        "notes\\..\\..\\outside\\secret.txt",
        "notes/%2e%2e%2foutside%2fsecret.txt",
        "~/.ssh/id_rsa",
        "file:///etc/passwd",
        "notes/a\x00/../../outside/secret.txt",
        "notes/\u202etxt.terces",
        "notes/\ud800",
        "notes/" + "x" * 256,
        "notes/" + "x/" * 3000,
        "",
        ".",
        "notes/..",
        "C:/secret.txt",
        "CON",
    ],
)
def test_B1_a_path_that_leads_elsewhere_is_refused_for_reading_and_writing(toolbox, tmp_path, call, path):
    before = sorted(str(entry) for entry in tmp_path.rglob("*"))
    for tool, arguments in (("read_file", {}), ("edit_file", {"old": SECRET, "new": ""}), ("undo_write", {})):
        result = toolbox.run(call(tool, path=path, **arguments))
        assert result.is_error, result.text
        assert SECRET not in result.text
    written = toolbox.run(call("write_file", path=path, text="x"))
    # What has no way out may be a name as good as any, in the folder that was granted.
    assert written.is_error or path == "notes/%2e%2e%2foutside%2fsecret.txt"
    after = sorted(str(entry) for entry in tmp_path.rglob("*"))
    assert all("/notes/" in entry or "/own/" in entry for entry in set(after) - set(before))
    assert (tmp_path / "outside" / "secret.txt").read_text() == SECRET


@pytest.mark.parametrize("way", ["file", "folder", "absolute", "chain"])
def test_B2_a_link_out_of_the_folder_is_neither_read_nor_written_nor_searched(toolbox, notes, outside, call, way):
    path = "notes/link"
    match way:
        case "file":
            (notes / "link").symlink_to(outside / "secret.txt")
        case "folder":
            (notes / "link").symlink_to(outside)
            path = "notes/link/secret.txt"
        case "absolute":
            (notes / "link").symlink_to(outside)
            path = str(notes / "link" / "secret.txt")
        case "chain":
            (notes / "second").symlink_to(outside / "secret.txt")
            (notes / "link").symlink_to(notes / "second")
    for tool, arguments in (
        ("read_file", {}),
        ("write_file", {"text": "x"}),
        ("edit_file", {"old": "the", "new": "x"}),
    ):
        result = toolbox.run(call(tool, path=path, **arguments))
        assert result.is_error
        assert "link" in result.text
    assert "0 lines" in toolbox.run(call("search_files", text="secret", path="notes")).text
    assert SECRET not in toolbox.run(call("list_files", path="notes")).text
    assert (outside / "secret.txt").read_text() == SECRET


def test_B2_a_hard_link_to_a_file_outside_is_refused(toolbox, notes, outside, call):
    os.link(outside / "secret.txt", notes / "link.txt")
    for tool, arguments in (("read_file", {}), ("write_file", {"text": "x"})):
        result = toolbox.run(call(tool, path="notes/link.txt", **arguments))
        assert "hard links" in result.text
    assert (outside / "secret.txt").read_text() == SECRET


def test_B2_a_file_exchanged_for_a_link_between_looking_and_writing_is_not_followed(notes, outside):
    folders = GrantedFolders([Grant(notes, "write")])
    place, guard = folders.place("notes/a.txt"), Guard()
    (notes / "a.txt").write_text("mine")
    before = opening.read(place, guard)
    (notes / "a.txt").unlink()
    (notes / "a.txt").symlink_to(outside / "secret.txt")
    with pytest.raises(UsageProblem, match="link"):
        opening.replace(place, guard, before, b"x")
    with pytest.raises(UsageProblem, match="link"):
        opening.remove(place, guard, before)
    assert (outside / "secret.txt").read_text() == SECRET


def test_B2_a_folder_that_is_exchanged_all_the_time_never_lets_anything_out(notes, outside):
    folders = GrantedFolders([Grant(notes, "write")])
    place, guard = folders.place("notes/box/secret.txt"), Guard()
    (notes / "real").mkdir()
    (notes / "real" / "secret.txt").write_text("inside")
    over = threading.Event()

    def exchange():
        while not over.is_set():
            for step in (
                lambda: os.symlink(outside, notes / "next"),
                lambda: os.rename(notes / "next", notes / "box"),
                lambda: time.sleep(0.001),
                lambda: os.unlink(notes / "box"),
                lambda: os.rename(notes / "real", notes / "box"),
                lambda: time.sleep(0.001),
                lambda: os.rename(notes / "box", notes / "real"),
            ):
                with suppress(OSError):  # a writer may have made the folder meanwhile
                    step()

    thread = threading.Thread(target=exchange)
    thread.start()
    seen, refused = set(), 0
    ends_s = time.monotonic() + 20
    try:
        while (len(seen) < 20 or refused < 20) and time.monotonic() < ends_s:
            try:
                before = opening.read(place, guard)
                seen.add(before)
                opening.replace(place, guard, before, f"inside {len(seen)}".encode())
            except UsageProblem:
                refused += 1
    finally:
        over.set()
        thread.join()
    assert refused
    assert seen
    assert all(text.startswith(b"inside") for text in seen)
    assert os.listdir(outside) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == SECRET


def test_a_granted_folder_that_becomes_a_link_is_refused(toolbox, notes, outside, call):
    notes.rmdir()
    notes.symlink_to(outside)
    assert "link" in toolbox.run(call("read_file", path="notes/secret.txt")).text
    assert "link" in toolbox.run(call("write_file", path="notes/x.txt", text="x")).text
    assert os.listdir(outside) == ["secret.txt"]


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
def test_what_is_no_file_is_refused_without_waiting(toolbox, notes, monkeypatch, call, kind):
    match kind:
        case "pipe":
            os.mkfifo(notes / "odd")
        case "socket":
            monkeypatch.chdir(notes)  # a path of a socket is short
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind("odd")
        case "folder":
            (notes / "odd").mkdir()
    assert toolbox.run(call("read_file", path="notes/odd")).is_error
    assert toolbox.run(call("write_file", path="notes/odd", text="x")).is_error
    assert not toolbox.run(call("search_files", text="x", path="notes")).is_error


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".ssh/id_ed25519",
            ".ssh/config",
            ".SSH/config",
            ".env",
            ".env.production",
            "server.key",
            "cert.PEM",
            "id_rsa",
        ),
        *(
            ".aws/credentials",
            ".netrc",
            ".git-credentials",
            ".gnupg/x",
            ".mozilla/firefox/x",
            "pass.kdbx",
            ".bash_history",
        ),
    ],
)
def test_E1_keys_and_passwords_are_kept_from_tools(toolbox, notes, call, name):
    path = notes / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SECRET)
    for tool, arguments in (
        ("read_file", {}),
        ("write_file", {"text": "x"}),
        ("edit_file", {"old": "the", "new": "x"}),
    ):
        result = toolbox.run(call(tool, path=f"notes/{name}", **arguments))
        assert result.is_error
        assert SECRET not in result.text
    assert "0 lines" in toolbox.run(call("search_files", text="secret", path="notes")).text
    listed = toolbox.run(call("list_files", path="notes")).text
    assert name.partition("/")[0] not in listed
    assert "left out" in listed
    assert path.read_text() == SECRET


def test_E1_a_private_key_under_a_harmless_name_is_not_read(toolbox, notes, call):
    (notes / "a.txt").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n")
    assert "private key" in toolbox.run(call("read_file", path="notes/a.txt")).text


def test_an_example_of_settings_is_no_secret(toolbox, notes, call):
    (notes / ".env.example").write_text("KEY=")
    assert toolbox.run(call("read_file", path="notes/.env.example")).text == "KEY="


def test_E1_the_programs_own_home_is_not_reached_within_a_granted_folder(tmp_path, own_home, call):
    toolbox = FileToolbox([Grant(tmp_path, "write")], own_home / "undo", [own_home])
    name = tmp_path.name
    assert "own data" in toolbox.run(call("read_file", path=f"{name}/own/macaron.db")).text
    assert "own data" in toolbox.run(call("write_file", path=f"{name}/own/x", text="x")).text
    assert "own data" in toolbox.run(call("list_files", path=f"{name}/own")).text
    assert "everything" not in toolbox.run(call("search_files", text="everything")).text.partition("\n")[2]
    assert "data of this program" in toolbox.run(call("list_files", path=name)).text


@pytest.mark.parametrize("which", ["own", "below", "whole_disk", "keys", "missing", "file"])
def test_what_cannot_be_granted_is_refused(tmp_path, own_home, which):
    (tmp_path / ".ssh").mkdir()
    (own_home / "deep").mkdir()
    folder = {
        "own": own_home,
        "below": own_home / "deep",
        "whole_disk": Path("/"),
        "keys": tmp_path / ".ssh",
        "missing": tmp_path / "missing",
        "file": own_home / "macaron.db",
    }[which]
    with pytest.raises(UsageProblem):
        FileToolbox([Grant(folder)], own_home / "undo", [own_home])


def test_a_folder_granted_by_a_link_means_where_it_led_then(tmp_path, notes, outside, own_home, call):
    (notes / "a.txt").write_text("one")
    (tmp_path / "link").symlink_to(notes)
    toolbox = FileToolbox([Grant(tmp_path / "link")], own_home)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(outside)
    assert toolbox.run(call("read_file", path="notes/a.txt")).text == "one"
    assert toolbox.run(call("read_file", path=str(tmp_path / "link" / "secret.txt"))).is_error


def test_the_store_of_a_version_control_is_not_written(toolbox, notes, call):
    (notes / ".git" / "hooks").mkdir(parents=True)
    result = toolbox.run(call("write_file", path="notes/.git/hooks/post-commit", text="#!/bin/sh\n"))
    assert "version control" in result.text
    assert os.listdir(notes / ".git" / "hooks") == []


def test_a_huge_file_is_refused_before_it_is_read(toolbox, notes, call):
    with open(notes / "huge.txt", "wb") as file:
        file.truncate(1 << 40)
    assert "larger than" in toolbox.run(call("read_file", path="notes/huge.txt")).text
    assert "left out" in toolbox.run(call("search_files", text="x", path="notes")).text
