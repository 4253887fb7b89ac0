"""Files in granted folders are listed, read, searched and changed; a change is shown first and can be taken back."""

import os
import stat
import threading

import pytest

import engine.harness.builtin.files.opening as opening
from engine.errors import ScoringStopped, UsageProblem
from engine.harness.builtin.files.grants import Grant
from engine.harness.builtin.files.looking import MOST_MATCHES
from engine.harness.builtin.files.toolbox import READ_CHARACTERS, FileToolbox

pytestmark = pytest.mark.skipif(not opening.IS_SUPPORTED, reason="needs handles of folders")


def text_of(toolbox, invocation):
    result = toolbox.run(invocation)
    assert not result.is_error, result.text
    return result.text


def test_only_reading_is_offered_where_only_reading_was_granted(books, own_home):
    names = {spec.tool.name for spec in FileToolbox([Grant(books)], own_home).specs()}
    assert names == {"list_files", "read_file", "search_files"}
    assert FileToolbox([], own_home).specs() == ()


def test_the_granted_folders_are_listed_by_name(toolbox, call):
    assert text_of(toolbox, call("list_files")) == "Granted folders:\nnotes/  read and write\nbooks/  read"


def test_a_folder_is_listed_with_folders_first(toolbox, notes, call):
    (notes / "b").mkdir()
    (notes / "a.txt").write_text("hello")
    lines = text_of(toolbox, call("list_files", path="notes")).splitlines()
    assert lines[:2] == ["notes/", "b/"]
    assert lines[2].startswith("a.txt  5 bytes, ")


def test_a_file_is_read_in_parts_with_numbers_on_request(toolbox, notes, call):
    (notes / "a.txt").write_text("one\ntwo\nthree\n")
    assert text_of(toolbox, call("read_file", path="notes/a.txt")) == "one\ntwo\nthree"
    part = text_of(toolbox, call("read_file", path="notes/a.txt", first_line=2, lines=1, with_numbers=True))
    assert part == "2\ttwo\n(Lines 2 to 2 of 3.)"
    assert "only 3 lines" in toolbox.run(call("read_file", path="notes/a.txt", first_line=9)).text


def test_a_long_file_is_cut_and_says_so(toolbox, notes, call):
    (notes / "a.txt").write_text("x" * 99 + "\n" + "y" * 2 * READ_CHARACTERS)
    text = text_of(toolbox, call("read_file", path="notes/a.txt"))
    assert len(text) < 200
    assert text.endswith("(Lines 1 to 1 of 2.)")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param("咖啡".encode(), "咖啡", id="utf8"),
        pytest.param("\ufeff咖啡".encode(), "咖啡", id="utf8_with_mark"),
        pytest.param(b"\xff\xfe" + "咖啡".encode("utf-16-le"), "咖啡", id="utf16"),
        pytest.param("拿铁，咖啡".encode("gb18030"), "拿铁，咖啡", id="gb18030"),
        pytest.param(b"", "(empty)", id="empty"),
    ],
)
def test_text_is_read_in_its_encoding(toolbox, notes, call, data, text):
    (notes / "a.txt").write_bytes(data)
    assert text_of(toolbox, call("read_file", path="notes/a.txt")) == text


@pytest.mark.parametrize(
    "data", [b"\x00\x01", b"\x89PNG\r\n\x1a\n", "é".encode("latin-1")], ids=["nul", "png", "latin"]
)
def test_what_is_no_text_is_refused(toolbox, notes, call, data):
    (notes / "a.bin").write_bytes(data)
    assert "not a text file" in toolbox.run(call("read_file", path="notes/a.bin")).text
    refused = toolbox.run(call("write_file", path="notes/a.bin", text="x"))
    assert refused.is_error
    assert (notes / "a.bin").read_bytes() == data


def test_text_is_found_in_files_by_lines_whatever_its_case(toolbox, notes, books, call):
    (notes / "deep").mkdir()
    (notes / "deep" / "a.md").write_text("one\nA Latte, 拿铁咖啡\n")
    (books / "b.txt").write_text("no latte here")
    found = text_of(toolbox, call("search_files", text="LATTE"))
    assert "notes/deep/a.md:2: A Latte, 拿铁咖啡" in found
    assert "books/b.txt:1: no latte here" in found
    assert "deep/a.md" in text_of(toolbox, call("search_files", text="铁咖", path="notes"))
    assert "0 lines" in text_of(toolbox, call("search_files", text="latte", path="notes", names="*.txt"))


def test_a_search_is_bounded_and_can_be_stopped(toolbox, notes, call):
    (notes / "a.txt").write_text("x\n" * 3 * MOST_MATCHES)
    found = text_of(toolbox, call("search_files", text="x", path="notes"))
    assert found.count("a.txt:") == MOST_MATCHES
    assert "left out" in found

    class AfterTheFirstLook:
        looks = 0

        def is_set(self):
            self.looks += 1
            return self.looks > 1

    with pytest.raises(ScoringStopped):
        toolbox.run(call("search_files", text="x", path="notes", stop=AfterTheFirstLook()))


def test_a_search_takes_its_text_literally(toolbox, notes, call):
    (notes / "a.txt").write_text("aaaa\n(a+)+$\n")
    assert "a.txt:2: (a+)+$" in text_of(toolbox, call("search_files", text="(a+)+$", path="notes"))


def test_a_file_is_made_with_its_folders_and_shown_as_a_diff_first(toolbox, notes, call):
    made = call("write_file", path="notes/new/plan.md", text="Tea\n")
    preview = toolbox.preview(made)
    assert preview.title == "Make the file notes/new/plan.md (1 lines)"
    assert preview.detail == "--- /dev/null\n+++ b/notes/new/plan.md\n@@ -0,0 +1 @@\n+Tea\n"
    assert not (notes / "new").exists()
    assert "undo_write" in text_of(toolbox, made)
    assert (notes / "new" / "plan.md").read_text() == "Tea\n"


def test_an_edit_replaces_one_exact_piece_and_keeps_encoding_line_ends_and_mode(toolbox, notes, call):
    path = notes / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    path.chmod(0o640)
    edit = call("edit_file", path="notes/a.txt", old="one\ntwo", new="1\n2\n3")
    assert "-two\r\n+1\r\n+2\r\n+3\r\n" in toolbox.preview(edit).detail
    text_of(toolbox, edit)
    assert path.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n3\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in notes.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("old", "said"),
    [pytest.param("three", "does not hold", id="missing"), pytest.param("o", "2 times", id="twice")],
)
def test_an_edit_that_is_not_exact_changes_nothing(toolbox, notes, call, old, said):
    (notes / "a.txt").write_text("one\ntwo\n")
    edit = call("edit_file", path="notes/a.txt", old=old, new="x")
    with pytest.raises(UsageProblem, match=said):
        toolbox.preview(edit)
    assert toolbox.run(edit).is_error
    assert (notes / "a.txt").read_text() == "one\ntwo\n"


def test_an_edit_can_replace_every_place(toolbox, notes, call):
    (notes / "a.txt").write_text("one\ntwo\n")
    text_of(toolbox, call("edit_file", path="notes/a.txt", old="o", new="0", replace_all=True))
    assert (notes / "a.txt").read_text() == "0ne\ntw0\n"


def test_what_would_change_nothing_is_refused(toolbox, notes, call):
    (notes / "a.txt").write_text("one")
    assert "nothing would change" in toolbox.run(call("write_file", path="notes/a.txt", text="one")).text


def test_a_write_is_taken_back_and_done_again_also_after_a_restart(toolbox, notes, books, own_home, call):
    (notes / "a.txt").write_text("one")
    text_of(toolbox, call("write_file", path="notes/a.txt", text="two"))
    again = FileToolbox([Grant(notes, "write")], own_home / "undo", [own_home])
    undo = call("undo_write", path="notes/a.txt")
    assert "-two" in again.preview(undo).detail
    text_of(again, undo)
    assert (notes / "a.txt").read_text() == "one"
    text_of(again, call("undo_write", path="notes/a.txt"))
    assert (notes / "a.txt").read_text() == "two"


def test_taking_back_a_new_file_removes_it(toolbox, notes, call):
    text_of(toolbox, call("write_file", path="notes/a.txt", text="one"))
    text_of(toolbox, call("undo_write", path="notes/a.txt"))
    assert not (notes / "a.txt").exists()
    text_of(toolbox, call("undo_write", path="notes/a.txt"))
    assert (notes / "a.txt").read_text() == "one"


def test_a_write_is_not_taken_back_over_a_later_change_of_the_user(toolbox, notes, call):
    text_of(toolbox, call("write_file", path="notes/a.txt", text="one"))
    (notes / "a.txt").write_text("mine")
    assert "changed by others" in toolbox.run(call("undo_write", path="notes/a.txt")).text
    assert (notes / "a.txt").read_text() == "mine"
    assert "No write" in toolbox.run(call("undo_write", path="notes/b.txt")).text


def test_what_is_kept_for_taking_back_is_private(toolbox, notes, own_home, call):
    text_of(toolbox, call("write_file", path="notes/a.txt", text="one"))
    (kept,) = (own_home / "undo").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_E5_a_file_that_changed_since_the_diff_was_shown_is_not_written(toolbox, notes, call):
    (notes / "a.txt").write_text("one\n")
    edit = call("edit_file", path="notes/a.txt", old="one", new="two")
    toolbox.preview(edit)
    (notes / "a.txt").write_text("one\nmore\n")
    assert "changed since" in toolbox.run(edit).text
    assert (notes / "a.txt").read_text() == "one\nmore\n"


def test_writing_where_only_reading_was_granted_is_refused(toolbox, books, call):
    (books / "a.txt").write_text("one")
    assert "not written" in toolbox.run(call("write_file", path="books/a.txt", text="two")).text
    assert (books / "a.txt").read_text() == "one"


def test_names_in_any_language_and_spelling_of_accents_are_found(toolbox, notes, call):
    (notes / "cafe\u0301 咖啡 ☕.txt").write_text("yes")
    assert text_of(toolbox, call("read_file", path="notes/caf\u00e9 咖啡 ☕.txt")) == "yes"
    text_of(toolbox, call("edit_file", path="notes/caf\u00e9 咖啡 ☕.txt", old="yes", new="no"))
    assert len(list(notes.iterdir())) == 1


def test_a_name_as_long_as_the_disk_takes_is_written(toolbox, notes, call):
    name = "长" * 83 + ".txt"
    text_of(toolbox, call("write_file", path=f"notes/{name}", text="x"))
    assert (notes / name).read_text() == "x"


def test_a_path_may_be_absolute_or_without_the_name_of_the_only_folder(notes, own_home, call):
    (notes / "a.txt").write_text("one")
    toolbox = FileToolbox([Grant(notes)], own_home)
    assert text_of(toolbox, call("read_file", path=str(notes / "a.txt"))) == "one"
    assert text_of(toolbox, call("read_file", path="a.txt")) == "one"


def test_two_folders_of_one_name_are_told_apart(tmp_path, own_home, call):
    for parent in ("x", "y"):
        (tmp_path / parent / "notes").mkdir(parents=True)
        (tmp_path / parent / "notes" / "a.txt").write_text(parent)
    toolbox = FileToolbox([Grant(tmp_path / parent / "notes") for parent in ("x", "y")], own_home)
    assert text_of(toolbox, call("read_file", path="notes/a.txt")) == "x"
    assert text_of(toolbox, call("read_file", path="notes-2/a.txt")) == "y"


def test_writers_at_once_leave_one_whole_text(toolbox, notes, call):
    (notes / "a.txt").write_text("start")
    texts = [str(number) * 20_000 for number in range(8)]
    threads = [
        threading.Thread(target=toolbox.run, args=[call("write_file", path="notes/a.txt", text=text)]) for text in texts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (notes / "a.txt").read_text() in texts
    assert os.listdir(notes) == ["a.txt"]


def test_what_others_wrote_is_tainted_and_our_own_words_are_not(toolbox, notes, call):
    (notes / "a.txt").write_text("one")
    assert toolbox.run(call("read_file", path="notes/a.txt")).is_tainted
    assert toolbox.run(call("list_files", path="notes")).is_tainted
    assert not toolbox.run(call("write_file", path="notes/b.txt", text="x")).is_tainted
