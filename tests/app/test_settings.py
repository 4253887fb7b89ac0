"""Settings have a default each; whatever else the file says is refused with the name of what is wrong."""

from pathlib import Path

import pytest

from app.settings import Settings, load_settings, parse_settings, screen_language
from engine.errors import UsageProblem


def test_no_file_and_an_empty_file_give_the_defaults(tmp_path: Path):
    assert load_settings(tmp_path / "settings.toml") == Settings()
    assert parse_settings("# nothing yet\n", "settings.toml") == Settings(profile="starter", language="", threads=0)


def test_what_the_file_says_replaces_the_defaults(tmp_path: Path):
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xef\xbb\xbf" + 'profile = "我的"\nlanguage = "zh"\nthreads = 3\n'.encode())
    assert load_settings(path) == Settings(profile="我的", language="zh", threads=3)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("threads = 2\nthread = 2", "does not exist: thread", id="unknown name"),
        pytest.param("[model]\nthreads = 2", "does not exist: model", id="unknown table"),
        pytest.param('threads = "2"', "threads must be a whole number", id="text for a number"),
        pytest.param("threads = true", "threads must be a whole number", id="boolean for a number"),
        pytest.param("threads = 2.0", "threads must be a whole number", id="fraction for a number"),
        pytest.param("profile = 7", "profile must be a text in quotes", id="number for a text"),
        pytest.param("threads = -1", "threads is -1", id="negative threads"),
        pytest.param("threads = 513", "threads is 513", id="too many threads"),
        pytest.param("[memory]\nplans = 3", "Memory has no rule 'plans'", id="a rule of memory that there is not"),
        pytest.param("[memory]\nplan_days = 0", "plan_days of memory is 0", id="a plan that never counts"),
        pytest.param("[memory]\nstrength = nan", "strength of memory is nan", id="a rule that is no number"),
        pytest.param('[memory]\nsunk = "low"', "sunk of memory must be a number", id="a rule that is a text"),
        pytest.param('language = "de"', "language is 'de'", id="a language we do not have"),
        pytest.param("threads = ", "is not valid TOML", id="broken line"),
    ],
)
def test_anything_else_is_refused_by_name_with_a_way_out(text: str, named: str):
    with pytest.raises(UsageProblem) as caught:
        parse_settings(text, "settings.toml")
    assert named in caught.value.problem and "settings.toml" in caught.value.problem
    assert caught.value.hint


@pytest.mark.parametrize("make", [lambda path: path.write_bytes(b"\xff"), Path.mkdir], ids=["not UTF-8", "a folder"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, make):
    path = tmp_path / "settings.toml"
    make(path)
    with pytest.raises(UsageProblem, match="cannot be read"):
        load_settings(path)


def test_the_language_that_is_set_comes_before_that_of_the_environment():
    assert screen_language(Settings(), {"LANG": "zh_CN.UTF-8"}) == "zh"
    assert screen_language(Settings(), {}) == "en"
    assert screen_language(Settings(language="en"), {"LANG": "zh_CN.UTF-8"}) == "en"
