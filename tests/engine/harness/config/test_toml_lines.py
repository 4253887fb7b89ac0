"""The line of a key, whatever way of writing TOML has."""

import tomllib

import pytest

from engine.harness.config.toml_lines import line_of

TEXT = '''# a comment
title = "one"

[budgets]
turn_seconds = 5
"quoted key" = 1
dotted.inner = 2

[[hooks]]
when = "a"
[[hooks]]
# [budgets]
when = """
[budgets]
fake = 1
"""
command = [
  "x",
  "y",
]
[mcpServers.one.env]
A = "1"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        pytest.param(("title",), 2, id="top"),
        pytest.param(("budgets",), 4, id="heading"),
        pytest.param(("budgets", "turn_seconds"), 5, id="in_a_table"),
        pytest.param(("budgets", "quoted key"), 6, id="quoted"),
        pytest.param(("budgets", "dotted", "inner"), 7, id="dotted"),
        pytest.param(("hooks", 0, "when"), 10, id="first_of_a_list"),
        pytest.param(("hooks", 1), 11, id="second_heading"),
        pytest.param(("hooks", 1, "when"), 13, id="text_of_several_lines"),
        pytest.param(("hooks", 1, "command"), 17, id="list_of_several_lines"),
        pytest.param(("hooks", 1, "command", 1), 17, id="item_of_a_list"),
        pytest.param(("mcpServers", "one", "env", "A"), 22, id="deep"),
        pytest.param(("budgets", "missing"), 4, id="missing_points_to_its_table"),
        pytest.param(("nowhere", "at all"), None, id="nothing_around_it"),
        pytest.param((), None, id="the_whole_file"),
    ],
)
def test_a_key_is_found_on_the_line_where_it_begins(path, line):
    assert line_of(TEXT, path) == line


def test_the_line_is_right_in_a_long_file():
    text = "\n".join(f"key{number} = {number}" for number in range(2_000))
    assert line_of(text, ("key1234",)) == 1235


def test_a_value_of_very_many_lines_has_no_line_rather_than_a_long_wait():
    text = 'a = """' + "\n" * 5_000 + '"""\nb = 1'
    assert tomllib.loads(text)["b"] == 1
    assert line_of(text, ("a",)) in (1, None)
