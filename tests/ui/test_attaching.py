"""Text files that go with a message: which a text names, which a folder offers, and what is refused."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.values import Attachment
from ui import attaching
from ui.attaching import (
    MAX_BYTES,
    NotAttached,
    attach,
    attach_below,
    files_below,
    looks_like_text,
    mention_of,
    mentioned,
    open_mention,
    shown_size,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three text files, one of them in a folder of its own and one with a blank in its name."""
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "notes.txt").write_text("milk", encoding="utf-8")
    (folder / "src" / "main.py").write_text("x = 1", encoding="utf-8")
    (folder / "my list.md").write_text("# 清单", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("read @notes.txt please", ("notes.txt",), id="in a sentence"),
        pytest.param("@notes.txt", ("notes.txt",), id="alone"),
        pytest.param("compare (@notes.txt), @src/main.py.", ("notes.txt", "src/main.py"), id="signs behind it"),
        pytest.param("看看@notes.txt，谢谢", ("notes.txt",), id="Chinese around it"),
        pytest.param('read @"my list.md" twice: @"my list.md"', ("my list.md",), id="quoted, once"),
        pytest.param("write to me@notes.txt", (), id="an address"),
        pytest.param("@L2 hello @alice", (), id="no such file"),
        pytest.param("@../work/notes.txt", (), id="above the folder"),
        pytest.param("@/etc/passwd", (), id="absolute"),
        pytest.param("@notes.txtual", (), id="a longer name"),
        pytest.param("@", (), id="nothing behind it"),
        pytest.param("@a\0b @" + "x" * 5000, (), id="impossible names"),
        pytest.param("in @src.", ("src",), id="a folder is named too, and refused later"),
    ],
)
def test_a_message_names_files_behind_an_at_sign(folder: Path, text: str, names: tuple[str, ...]) -> None:
    assert mentioned(text, folder) == names


@pytest.mark.parametrize(
    ("before", "typed"),
    [
        ("see @no", ("no", "@no")),
        ("@", ("", "@")),
        ("看@笔", ("笔", "@笔")),
        ('a @"my l', ("my l", '@"my l')),
        ("me@no", None),
        ("@a b", None),
        ("", None),
    ],
)
def test_a_path_is_being_typed_right_behind_an_at_sign(before: str, typed: tuple[str, str] | None) -> None:
    assert open_mention(before) == typed


def test_a_name_with_a_blank_is_quoted() -> None:
    assert (mention_of("a/b.txt"), mention_of("my list.md")) == ("@a/b.txt", '@"my list.md"')


def test_a_text_file_is_read(folder: Path) -> None:
    assert attach_below(folder, "src/main.py", "en") == Attachment("src/main.py", "x = 1")
    assert attach(folder / "my list.md", "zh") == Attachment("my list.md", "# 清单")


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_text(folder: Path) -> None:
    (folder / "notes.txt").write_bytes(b"\xef\xbb\xbfa\r\nb")
    assert attach(folder / "notes.txt", "en").text == "a\nb"


def make_link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "There is no file bad."),
    "a link": (make_link, "bad is a link"),
    "a folder": (Path.mkdir, "bad is a folder."),
    "a pipe": (os.mkfifo, "bad is a device or a pipe"),
    "a socket": (make_socket, "bad is a device or a pipe"),
    "binary": (lambda path: path.write_bytes(b"GIF89a\0"), "bad is not a text file."),
    "another encoding": (lambda path: path.write_bytes("é".encode("latin-1")), "bad is not UTF-8."),
    "too big": (lambda path: path.write_bytes(b"x" * (MAX_BYTES + 1)), "bad is larger than 512 KB."),
}


@pytest.mark.parametrize(("make", "problem"), KINDS.values(), ids=KINDS.keys())
def test_what_is_no_text_file_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket may have about a hundred characters
    make(Path("bad"))
    for read in (lambda: attach(Path("bad"), "en"), lambda: attach_below(tmp_path, "bad", "en")):
        with pytest.raises(NotAttached) as refused:
            read()
        assert problem in refused.value.problem
        assert refused.value.hint


def test_a_device_is_refused_at_once() -> None:
    with pytest.raises(NotAttached, match="a device or a pipe"):
        attach(Path("/dev/zero"), "en")


def test_a_file_of_exactly_the_limit_is_read(folder: Path) -> None:
    (folder / "notes.txt").write_bytes(b"x" * MAX_BYTES)
    assert len(attach_below(folder, "notes.txt", "en").text) == MAX_BYTES


def test_a_file_that_may_not_be_read_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")  # the superuser, as in a container, may read everything

    monkeypatch.setattr(attaching.os, "open", refuse)
    with pytest.raises(NotAttached, match=r"cannot be read: .*Permission denied"):
        attach(folder / "notes.txt", "en")


def test_the_reason_is_told_in_chinese(folder: Path) -> None:
    with pytest.raises(NotAttached, match="没有文件 x。"):
        attach_below(folder, "x", "zh")


def test_B2_a_folder_on_the_way_that_is_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("key", encoding="utf-8")
    (folder / "way").symlink_to(outside)
    with pytest.raises(NotAttached, match="link"):
        attach_below(folder, "way/secret.txt", "en")
    with pytest.raises(NotAttached):
        attach_below(folder, "../outside/secret.txt", "en")


def test_B2_a_file_exchanged_for_a_link_before_it_is_opened_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("key", encoding="utf-8")
    assert mentioned("@notes.txt", folder) == ("notes.txt",)
    really_open = os.open

    def exchange_and_open(path: str, flags: int, **options: int) -> int:
        if path == "notes.txt":
            (folder / "notes.txt").unlink()
            (folder / "notes.txt").symlink_to(secret)
        return really_open(path, flags, **options)

    monkeypatch.setattr(attaching.os, "open", exchange_and_open)
    monkeypatch.setattr(attaching.os, "supports_dir_fd", {exchange_and_open})
    with pytest.raises(NotAttached, match="link"):
        attach_below(folder, "notes.txt", "en")


def test_B2_a_hard_link_to_a_file_elsewhere_is_refused_unless_it_is_named_on_purpose(
    folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("key", encoding="utf-8")
    (folder / "innocent.txt").hardlink_to(secret)
    with pytest.raises(NotAttached, match="hard link") as refused:
        attach_below(folder, "innocent.txt", "en")
    assert "/attach innocent.txt" in refused.value.hint
    assert attach(folder / "innocent.txt", "en").text == "key"


def test_a_folder_offers_its_files_nearest_first(folder: Path) -> None:
    assert files_below(folder) == ("my list.md", "notes.txt", "src/main.py")


def test_hidden_files_links_and_odd_names_are_not_offered(folder: Path, tmp_path: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "config").touch()
    (folder / ".env").touch()
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "x.js").touch()
    (folder / "out").symlink_to(tmp_path)
    (folder / "passwd").symlink_to("/etc/passwd")
    (folder / "evil\x1b[2J.txt").touch()
    (folder / "turn\u202egpj.txt").touch()
    (folder / os.fsdecode(b"bad\xff.txt")).touch()
    assert files_below(folder) == ("my list.md", "notes.txt", "src/main.py")


def test_a_huge_folder_is_not_looked_through_to_its_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attaching, "MAX_LOOKED_AT", 2)
    assert files_below(folder) == ("my list.md", "notes.txt")


def test_folders_are_looked_into_to_a_certain_depth(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 12)
    deep.mkdir(parents=True)
    (deep / "low.txt").touch()
    (tmp_path / "d" / "high.txt").touch()
    assert files_below(tmp_path) == ("d/high.txt",)


@pytest.mark.parametrize(
    ("content", "is_text"),
    [
        (b"plain", True),
        (b"", True),
        ("汉".encode() * 1000, True),
        (b"\x89PNG\r\n\x1a\n\0", False),
        (b"\xff\xfe" + b"x" * 9, False),
    ],
    ids=["text", "empty", "cut inside a character", "picture", "not UTF-8"],
)
def test_the_first_bytes_tell_text_from_the_rest(tmp_path: Path, content: bytes, is_text: bool) -> None:
    (tmp_path / "f").write_bytes(content)
    assert looks_like_text(tmp_path, "f") is is_text


def test_a_pipe_is_no_text_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    assert not looks_like_text(tmp_path, "f")


@pytest.mark.parametrize(("text", "size"), [("", "0 B"), ("汉", "3 B"), ("x" * 1536, "1.5 KB")])
def test_a_size_is_told_in_bytes_or_kilobytes(text: str, size: str) -> None:
    assert shown_size(text) == size
