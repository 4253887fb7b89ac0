"""Where an export keeps its conversations, and what a hostile one does not get read."""

import os
import stat
import zipfile
from pathlib import Path

import pytest

from app.chatgpt.files import is_export, open_export
from engine.errors import UsageProblem


def archive_of(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def read(path: Path) -> dict[str, bytes | str]:
    """By file its content, or why it is not read."""
    with open_export(path) as files:
        return {file.name: file.problem or b"".join(file.read()) for file in files}


def test_split_files_are_read_in_their_order_and_nothing_else_is(tmp_path: Path):
    entries = {
        "conversations-10.json": b"[10]",
        "conversations-002.json": b"[2]",
        "conversations.json": b"[]",
        "shared_conversations.json": b"[]",
        "user.json": b"{}",
        "chat.html": b"",
        "__MACOSX/._conversations.json": b"?",
    }
    in_order = {"conversations.json": b"[]", "conversations-002.json": b"[2]", "conversations-10.json": b"[10]"}
    archive = archive_of(tmp_path / "export.zip", entries)
    folder = tmp_path / "export"
    folder.mkdir()
    for name, data in entries.items():
        (folder / Path(name).name).write_bytes(data)
    assert is_export(archive) and is_export(folder)
    assert list(read(archive).items()) == list(read(folder).items()) == list(in_order.items())


def test_an_archive_may_hold_the_export_in_a_folder(tmp_path: Path):
    archive = archive_of(tmp_path / "export.zip", {"My export/conversations.json": b" [1]"})
    assert is_export(archive) and read(archive) == {"My export/conversations.json": b" [1]"}


@pytest.mark.parametrize(
    ("name", "data", "is_one"),
    [
        ("any.txt", b"\xef\xbb\xbf [", True),
        ("conversations.json", b'{"format": "macaron-conversation"}', False),
        ("lines.jsonl", b"[", False),
        ("empty.json", b"", False),
    ],
)
def test_a_bare_file_is_told_by_its_content(tmp_path: Path, name: str, data: bytes, is_one: bool):
    file = tmp_path / name
    file.write_bytes(data)
    assert is_export(file) is is_one


def test_an_archive_of_our_own_files_is_no_export_whatever_they_are_called(tmp_path: Path):
    assert not is_export(archive_of(tmp_path / "own.zip", {"conversations.json": b'{"format": "macaron"}'}))
    assert not is_export(archive_of(tmp_path / "other.zip", {"a.json": b"[]"}))


def test_a_folder_without_conversations_says_what_to_give(tmp_path: Path):
    with pytest.raises(UsageProblem, match=r"no conversations\.json") as caught:
        read(tmp_path)
    assert "zip" in caught.value.hint


@pytest.mark.parametrize(
    "name", ["../conversations.json", "/conversations.json", "..\\conversations.json", "a/../conversations.json"]
)
def test_B4_an_entry_whose_name_leads_elsewhere_is_not_read(tmp_path: Path, name: str):
    archive = archive_of(tmp_path / "slip.zip", {name: b"[1]", "conversations-1.json": b"[2]"})
    assert is_export(archive)
    found = list(read(archive).values())
    assert "name leads out" in str(found[0]) and found[1] == b"[2]"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["slip.zip"]


def test_B4_links_and_other_things_that_are_no_files_are_not_read(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"[1]")
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "conversations.json").symlink_to(secret)
    os.mkfifo(folder / "conversations-1.json")
    assert set(read(folder).values()) == {"it is no file"}
    link = zipfile.ZipInfo("conversations.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert read(tmp_path / "link.zip") == {"conversations.json": "it is no file"}


def test_a_link_that_the_user_gave_is_followed(tmp_path: Path):
    (tmp_path / "export.json").write_bytes(b"[1]")
    (tmp_path / "link.json").symlink_to(tmp_path / "export.json")
    assert read(tmp_path / "link.json") == {"": b"[1]"}


def test_B4_all_files_of_an_archive_together_unfold_to_no_more_than_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.chatgpt.files._MOST_UNPACKED_BYTES", 3 << 20)
    archive = archive_of(tmp_path / "bombs.zip", {f"conversations-{n}.json": bytes(2 << 20) for n in range(3)})
    with pytest.raises(UsageProblem, match="holds more than"):
        read(archive)


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_B4_an_archive_that_is_cut_is_refused(tmp_path: Path, keep: float):
    archive = archive_of(tmp_path / "export.zip", {"conversations.json": os.urandom(5000)})
    archive.write_bytes(archive.read_bytes()[: int(archive.stat().st_size * keep)])
    with pytest.raises(UsageProblem, match="damaged"):
        is_export(archive)
