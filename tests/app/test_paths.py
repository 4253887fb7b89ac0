"""One home holds everything; where it is, and that only its owner may look into it."""

import stat
from pathlib import Path

import pytest

from app.paths import HOME_VARIABLE, Paths, find_home, make_home
from engine.errors import AgentError, UsageProblem


def test_the_option_comes_before_the_variable_and_that_before_the_platform(tmp_path: Path):
    variable = {HOME_VARIABLE: str(tmp_path / "variable")}
    assert find_home(str(tmp_path / "option"), variable).home == tmp_path / "option"
    assert find_home(None, variable).home == tmp_path / "variable"
    assert find_home(None, {}).home.name == "macaron-tall"
    assert find_home(None, {HOME_VARIABLE: ""}) == find_home(None, {})


def test_a_relative_home_and_a_tilde_become_whole_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert find_home("here", {}).home == tmp_path / "here"
    assert find_home("~/agent", {}).home == tmp_path / "me" / "agent"


@pytest.mark.parametrize("option", ["", "  ", "~nobody-of-this-name/home"])
def test_an_option_that_names_no_folder_is_refused(option: str):
    with pytest.raises(UsageProblem) as caught:
        find_home(option, {})
    assert caught.value.hint


def test_everything_lies_in_the_home(tmp_path: Path):
    paths = Paths(tmp_path)
    assert {p.parent for p in (paths.database, paths.settings, paths.profiles, paths.models, paths.lock)} == {tmp_path}


def test_a_new_home_is_private_and_an_old_one_is_left_as_it_is(tmp_path: Path):
    new, old = Paths(tmp_path / "a" / "b"), Paths(tmp_path / "old")
    make_home(new)
    assert stat.S_IMODE(new.home.stat().st_mode) == 0o700
    old.home.mkdir(mode=0o755)
    old.settings.write_text("threads = 1")
    make_home(old)
    assert stat.S_IMODE(old.home.stat().st_mode) == 0o755
    assert old.settings.read_text() == "threads = 1"


def test_a_home_where_a_file_is_in_the_way_is_an_error_that_names_it(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(AgentError, match="cannot be made") as caught:
            make_home(Paths(home))
        assert str(home) in caught.value.problem and caught.value.exit_code == 1


def test_a_home_without_write_permission_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # The superuser may write everywhere, so the answer of the system is replaced.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(AgentError, match="cannot be written") as caught:
        make_home(Paths(tmp_path / "home"))
    assert caught.value.hint
