"""The profile in use is one line of settings.toml; everything else in it stays."""

import shutil
import stat
from pathlib import Path

import pytest

from app.models.adding import add_model
from app.models.choosing import use_profile, with_profile
from app.models.fit import Machine
from app.models.records import Record, record_path, write_record
from app.models.removing import plan_removal, remove_profile
from app.paths import Paths
from app.settings import load_settings, parse_settings
from engine.errors import ModelMissing, UnknownName, UsageProblem


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", 'profile = "new"\n'),
        ('profile = "old"\n', 'profile = "new"\n'),
        ("# mine\nprofile='old' # why\nthreads = 2\n", '# mine\nprofile="new" # why\nthreads = 2\n'),
        ("threads = 2\n", 'profile = "new"\nthreads = 2\n'),
        ('[keys]\n"chat.new" = "ctrl+o"\n', 'profile = "new"\n[keys]\n"chat.new" = "ctrl+o"\n'),
        ('language = "zh"\r\nprofile = "o\\"ld"\r\n', 'language = "zh"\r\nprofile = "new"\r\n'),
    ],
)
def test_only_the_line_of_the_profile_changes(text: str, changed: str):
    assert with_profile(text, "new", parse_settings(text, "settings.toml")) == changed


@pytest.mark.parametrize(
    "text", ['"profile" = "old"\n', 'profile = """\nold"""\n', 'keys = { a = "b" }\n"profile" = "x"\n']
)
def test_a_line_that_is_written_in_another_way_is_left_to_the_user(text: str):
    with pytest.raises(UsageProblem) as caught:
        with_profile(text, "new", parse_settings(text, "settings.toml"))
    assert 'profile = "new"' in caught.value.hint


def test_the_chosen_profile_is_used_from_then_on(paths: Paths, machine: Machine, starter_base: Path):
    add_model(paths, {}, machine, str(starter_base), name="mine")
    paths.settings.write_text("# kept\nthreads = 1\n", encoding="utf-8")
    assert use_profile(paths, "mine").name == "mine"
    settings = load_settings(paths.settings)
    assert (settings.profile, settings.threads) == ("mine", 1)
    assert "# kept" in paths.settings.read_text(encoding="utf-8")
    assert stat.S_IMODE(paths.settings.stat().st_mode) == 0o600


def test_a_profile_that_cannot_answer_is_not_chosen(paths: Paths, machine: Machine, tmp_path: Path, tiny_moe: Path):
    file = shutil.copyfile(tiny_moe, tmp_path / "m.gguf")
    add_model(paths, {}, machine, str(file), name="mine")
    file.unlink()
    with pytest.raises(ModelMissing):
        use_profile(paths, "mine")
    with pytest.raises(UnknownName):
        use_profile(paths, "none")
    assert not paths.settings.exists()


# Removing


@pytest.fixture
def fetched(paths: Paths, tiny_moe: Path) -> Path:
    """A model that this program fetched."""
    paths.models.mkdir(parents=True)
    file = shutil.copyfile(tiny_moe, paths.models / "m.gguf")
    write_record(file, Record("owner/repo", "m.gguf", "main", "0" * 64, file.stat().st_size, "mit"))
    return file


def test_a_profile_goes_with_the_file_that_was_fetched_for_it(paths: Paths, machine: Machine, fetched: Path):
    add_model(paths, {}, machine, "m.gguf", name="mine")
    removal = plan_removal(paths, "mine")
    assert removal.fate == "deleted" and removal.freed_bytes > fetched.stat().st_size
    remove_profile(paths, removal)
    assert not fetched.exists() and not record_path(fetched).exists()
    assert list(paths.profiles.iterdir()) == []
    assert [path.name for path in paths.home.iterdir() if path.name.startswith(".")] == []


def test_a_file_that_another_profile_needs_stays(paths: Paths, machine: Machine, fetched: Path):
    for name in ("mine", "yours"):
        add_model(paths, {}, machine, "m.gguf", name=name)
    removal = plan_removal(paths, "mine")
    assert removal.fate == "shared"
    remove_profile(paths, removal)
    assert fetched.exists()
    assert plan_removal(paths, "yours").fate == "deleted"


def test_a_file_of_another_program_is_never_deleted(
    paths: Paths, machine: Machine, tmp_path: Path, tiny_moe: Path, fetched: Path
):
    theirs = shutil.copyfile(tiny_moe, tmp_path / "theirs.gguf")
    put_there = shutil.copyfile(tiny_moe, paths.models / "put-there.gguf")
    linked = paths.models / "linked.gguf"
    linked.symlink_to(theirs)
    write_record(linked, Record("owner/repo", "m.gguf", "main", "0" * 64, 1, "mit"))
    for name, file in (("a", str(theirs)), ("b", "put-there.gguf"), ("c", "linked.gguf")):
        add_model(paths, {}, machine, file, name=name)
        removal = plan_removal(paths, name)
        assert removal.fate == "foreign"
        remove_profile(paths, removal)
    assert theirs.exists() and put_there.exists() and linked.exists()


def test_what_comes_with_the_program_and_what_is_in_use_stays(paths: Paths, machine: Machine, fetched: Path):
    with pytest.raises(UsageProblem, match="comes with the program"):
        plan_removal(paths, "starter")
    add_model(paths, {}, machine, "m.gguf", name="mine")
    use_profile(paths, "mine")
    with pytest.raises(UsageProblem, match="in use"):
        plan_removal(paths, "mine")


@pytest.mark.parametrize("name", ["", ".", "..", "../models", "a/b", "/etc", "none", "a\0b"])
def test_B1_a_name_leads_to_nothing_outside_the_profiles(paths: Paths, fetched: Path, name: str):
    with pytest.raises(UnknownName):
        plan_removal(paths, name)


def test_B2_a_profile_that_is_a_link_loses_the_link_only(paths: Paths, machine: Machine, tmp_path: Path, fetched: Path):
    made = add_model(paths, {}, machine, "m.gguf", name="mine").made
    theirs = made.folder.rename(tmp_path / "theirs")
    made.folder.symlink_to(theirs)
    remove_profile(paths, plan_removal(paths, "mine"))
    assert (theirs / "lora.md").exists() and not made.folder.exists()
