"""A diff turns the old file into exactly the new one."""

import os
import random
import subprocess

import pytest

from engine.harness.builtin.files.differences import changed_lines, unified_diff

TEXTS = [
    pytest.param("a\nb\nc\n", "a\nB\nc\n", id="one_line"),
    pytest.param("a\nb", "a\nb\n", id="a_newline_at_the_end_comes"),
    pytest.param("a\nb\n", "a\nb", id="a_newline_at_the_end_goes"),
    pytest.param("a\r\nb\r\n", "a\r\nc\r\n", id="carriage_returns"),
    pytest.param("a\x0cb\u2028c\n", "a\x0cb\u2028d\n", id="what_other_programs_take_for_line_ends"),
    pytest.param(
        "".join(f"{n}\n" for n in range(60)), "".join(f"{n}\n" for n in range(60) if n not in (3, 50)), id="two_places"
    ),
    pytest.param(
        "".join(f"{n}\n" for n in range(9)),
        "0\n0b\n" + "".join(f"{n}\n" for n in range(1, 8)) + "8b\n",
        id="near_places",
    ),
    pytest.param("咖啡\n茶\n", "咖啡\n绿茶\n", id="chinese"),
    pytest.param("x\n" * 1500, "y\n" * 1500, id="too_much_to_compare"),
]


def applied(tmp_path, before, diff):
    (tmp_path / "f.txt").write_bytes(before.encode())
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        input=diff.encode(),
        cwd=tmp_path,
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)},
    )
    return (tmp_path / "f.txt").read_bytes().decode()


@pytest.mark.parametrize(("before", "after"), TEXTS)
def test_git_makes_the_new_text_of_the_old_one(tmp_path, require_program, before, after):
    require_program("git")
    assert applied(tmp_path, before, unified_diff(before, after, "f.txt")) == after


def test_git_makes_the_new_text_of_many_random_ones(tmp_path, require_program):
    require_program("git")
    choices = random.Random(7)
    for _ in range(30):
        before = [choices.choice("abc\n") for _ in range(choices.randrange(40))]
        after = [c for c in before if choices.random() > 0.2] + choices.choices("ab\n", k=choices.randrange(4))
        before, after = "".join(before) + "x", "".join(after) + "y"
        assert applied(tmp_path, before, unified_diff(before, after, "f.txt")) == after


def test_a_new_file_and_one_that_goes_are_told_from_an_empty_one():
    assert unified_diff(None, "a\n", "f.txt") == "--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+a\n"
    assert unified_diff("a\n", None, "f.txt") == "--- a/f.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert unified_diff("a", "a", "f.txt") == ""


def test_lines_are_counted():
    assert changed_lines("a\nb\nc\n", "a\nx\ny\nc\n") == (1, 2)
    assert changed_lines(None, "a\nb") == (0, 2)
