"""Which files are read, and which are refused: links out, what is no file, too many, too large, too deep."""

import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from app.harness import reading
from app.harness.reading import MOST_BYTES, MOST_FILE_BYTES, MOST_FILES, MOST_LEVELS, read_source, stamp_of
from tests.app.harness.folders import skill, write

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files.")


def read(place: Path) -> tuple[list[str], list[str]]:
    """(the paths that were read, the complaints)"""
    source = read_source(place)
    return sorted(source.files), said(source)


def said(source) -> list[str]:
    return [complaint.text for complaint in source.complaints]


def test_two_files_and_two_folders_are_the_configuration_and_nothing_else(proj):
    write(
        proj,
        table="",
        agents="a",
        **{"hooks/sub/x.sh": "b", "README.md": "c", "src/main.py": "d", "skills/note.txt": "e", ".env": "f"},
        **skill("pdf"),
    )
    found, complaints = read(proj)
    assert found == ["AGENTS.md", "harness.toml", "hooks/sub/x.sh", "skills/note.txt", "skills/pdf/SKILL.md"]
    assert complaints == []


def test_bytes_are_taken_as_they_are(proj):
    write(proj, agents=b"\xff\r\n\x00")
    assert read_source(proj).files["AGENTS.md"] == b"\xff\r\n\x00"


def test_a_folder_without_configuration_has_none(proj):
    assert read(proj) == ([], [])
    assert read(proj / "missing") == ([], [])


def test_what_other_programs_leave_behind_is_passed_over(proj):
    write(proj, **{"skills/.DS_Store": "x", "hooks/__pycache__/a.pyc": "x", "skills/a/.git/config": "x"}, **skill("a"))
    assert read(proj) == (["skills/a/SKILL.md"], [])


@pytest.mark.parametrize(
    ("link", "target"),
    [
        pytest.param("AGENTS.md", "../secret.txt", id="file"),
        pytest.param("skills", "../outside", id="folder"),
        pytest.param("skills/a", "../../outside/b", id="skill"),
        pytest.param("hooks/run.sh", "/etc/hostname", id="absolute"),
    ],
)
@needs_posix
def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path, proj, link, target):
    (tmp_path / "secret.txt").write_text("secret")
    write(tmp_path / "outside", **{"b/SKILL.md": "x", "SKILL.md": "x"})
    (proj / link).parent.mkdir(exist_ok=True)
    (proj / link).symlink_to(target)
    found, complaints = read(proj)
    assert found == []
    assert complaints == [f"{proj}/{link}: It is a link that leads out of the folder."]


@needs_posix
def test_a_link_to_a_neighbour_whose_name_begins_alike_leads_out(tmp_path, proj):
    write(tmp_path / "proj-evil", agents="x")
    (proj / "AGENTS.md").symlink_to("../proj-evil/AGENTS.md")
    assert read(proj)[0] == []


@needs_posix
def test_a_link_within_the_folder_is_followed_and_its_bytes_count(proj):
    write(proj, **{"docs/agents.md": "Use tabs."})
    (proj / "AGENTS.md").symlink_to("docs/agents.md")
    before = read_source(proj)
    assert before.files == {"AGENTS.md": b"Use tabs."}
    write(proj, **{"docs/agents.md": "Use dots."})
    assert read_source(proj).content_hash != before.content_hash


@needs_posix
def test_links_in_a_ring_and_to_nothing_are_refused(proj):
    write(proj, agents="a", **{"hooks/x": "x"})
    (proj / "hooks/ring").symlink_to("ring")
    (proj / "hooks/nothing").symlink_to("gone")
    (proj / "hooks/up").symlink_to("../hooks")
    found, complaints = read(proj)
    assert {"AGENTS.md", "hooks/x"} <= set(found)
    assert any("hooks/ring: It cannot be read" in text for text in complaints)
    assert any("hooks/nothing: It is a link to nothing" in text for text in complaints)
    assert any("folders deep" in text for text in complaints)


@needs_posix
def test_what_is_no_file_is_refused_without_waiting_for_it(proj):
    write(proj, agents="a", **{"hooks/x": "x"})
    os.mkfifo(proj / "harness.toml")
    # The path of a socket may not be long.
    with tempfile.TemporaryDirectory(prefix="s") as short, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{short}/s")
        os.rename(f"{short}/s", proj / "hooks/socket")
        found, complaints = read(proj)
    assert found == ["AGENTS.md", "hooks/x"]
    assert complaints == [
        f"{proj}/harness.toml: It is neither a file nor a folder.",
        f"{proj}/hooks/socket: It is neither a file nor a folder.",
    ]


@needs_posix
def test_a_name_that_is_not_utf8_is_refused(proj):
    write(proj, **{"hooks/x": "x"})
    try:
        os.close(os.open(os.fsencode(proj) + b"/hooks/\xff", os.O_CREAT))
    except OSError:
        return  # a file system that takes no such names has no such files
    found, complaints = read(proj)
    assert found == ["hooks/x"]
    assert len(complaints) == 1 and "not UTF-8" in complaints[0]
    complaints[0].encode()


def test_a_file_that_vanishes_while_files_are_read_is_complained_of(proj, monkeypatch):
    write(proj, agents="a", **{"hooks/x": "x"})
    real = reading._survey

    def late(place, is_home):
        found = real(place, is_home)
        (proj / "AGENTS.md").unlink()
        return found

    monkeypatch.setattr(reading, "_survey", late)
    source = read_source(proj)
    assert list(source.files) == ["hooks/x"]
    assert said(source) == [f"{proj}/AGENTS.md: It cannot be read: No such file or directory."]


def test_a_file_that_is_too_large_is_refused(proj):
    write(proj, agents=b"x" * (MOST_FILE_BYTES + 1), **{"hooks/x": b"y" * MOST_FILE_BYTES})
    found, complaints = read(proj)
    assert found == ["hooks/x"]
    assert complaints == [f"{proj}/AGENTS.md: It is too large."]


def test_files_that_are_too_large_together_are_refused(proj):
    many = MOST_BYTES // MOST_FILE_BYTES + 2
    write(proj, **{f"hooks/{number:02d}": b"x" * MOST_FILE_BYTES for number in range(many)})
    found, complaints = read(proj)
    assert len(found) == many - 2
    assert len(complaints) == 2


def test_more_files_than_anybody_could_look_at_are_refused(proj):
    write(proj, **{f"hooks/{number:04d}": "" for number in range(MOST_FILES + 20)})
    found, complaints = read(proj)
    assert len(found) == MOST_FILES
    assert len(complaints) == 1 and f"more than {MOST_FILES} files" in complaints[0]


def test_a_folder_that_is_too_deep_is_refused(proj):
    write(proj, **{"hooks/" + "a/" * MOST_LEVELS + "x": "x", "hooks/y": "y"})
    found, complaints = read(proj)
    assert found == ["hooks/y"]
    assert f"more than {MOST_LEVELS} folders deep" in complaints[0]


def test_a_stamp_changes_with_every_file(proj):
    write(proj, agents="a", **{"hooks/x": "x"})
    first = stamp_of(proj)
    assert stamp_of(proj) == first
    write(proj, **{"hooks/y": "y"})
    second = stamp_of(proj)
    assert second != first
    (proj / "hooks/y").unlink()
    write(proj, agents="ab")
    assert stamp_of(proj) not in (first, second)
