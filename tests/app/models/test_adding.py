"""Any model file becomes a profile: linked, named safely, there whole or not at all."""

import os
import shutil
from pathlib import Path

import pytest

from app.bases import find_base
from app.models.adding import add_model
from app.models.fit import Machine
from app.models.headers import part_names, read_base, whole_name
from app.models.making import profile_toml
from app.models.naming import is_plain_name, profile_name, safe_name, title_of
from app.paths import Paths
from app.profiles import load_chosen_profile
from engine.errors import AgentError, BadModelFile, BadText, UnknownName, UsageProblem
from tests.app.models.test_scanning import ollama


def test_a_file_becomes_a_profile_that_finds_it_and_is_not_copied(paths: Paths, machine: Machine, starter_base: Path):
    added = add_model(paths, {}, machine, str(starter_base))
    profile = load_chosen_profile(paths, added.made.name)
    assert find_base(profile, paths) == starter_base
    assert profile.family == "chatml" and profile.context_tokens == 8192
    assert profile.expert_ids == ("L0", "L1", "L2", "L3") and all(one.adapter is None for one in profile.experts)
    assert added.is_linked
    assert sum(path.stat().st_size for path in paths.home.rglob("*") if path.is_file()) < 10_000


def test_a_model_of_ollama_is_added_by_its_name(paths: Paths, machine: Machine, tiny_moe: Path, tmp_path: Path):
    blob = ollama(tmp_path / "o", "registry.ollama.ai/library/tiny/latest", tiny_moe)
    added = add_model(paths, {"OLLAMA_MODELS": str(tmp_path / "o"), "HOME": str(tmp_path)}, machine, "tiny")
    assert added.made.name == "tiny"
    assert find_base(load_chosen_profile(paths, "tiny"), paths) == blob


def test_a_file_of_the_home_is_named_alone_so_that_the_home_can_move(paths: Paths, machine: Machine, tiny_moe: Path):
    paths.models.mkdir(parents=True)
    shutil.copyfile(tiny_moe, paths.models / "mine.gguf")
    added = add_model(paths, {}, machine, "mine.gguf")
    assert not added.is_linked
    moved = Paths(paths.home.rename(paths.home.with_name("moved")))
    assert find_base(load_chosen_profile(moved, "mine"), moved) == moved.models / "mine.gguf"


def test_a_name_that_is_taken_stays_unless_it_is_forced(
    paths: Paths, machine: Machine, starter_base: Path, tiny_moe: Path
):
    add_model(paths, {}, machine, str(starter_base), name="mine")
    for taken in ("mine", "MINE", "starter", "Tall"):
        with pytest.raises(UsageProblem, match="already"):
            add_model(paths, {}, machine, str(tiny_moe), name=taken)
    add_model(paths, {}, machine, str(tiny_moe), name="mine", force=True)
    assert find_base(load_chosen_profile(paths, "mine"), paths) == tiny_moe
    assert [path.name for path in paths.home.iterdir()] == ["profiles"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\win.ini", "win.ini"),
        ("/abs/olute", "olute"),
        ("con", "base-con"),
        ("LPT1.txt", "base-LPT1.txt"),
        ("name. ", "name"),
        ("a\0b\nc", "a-b-c"),
        ("x" * 300, "x" * 64),
        ("\u202egnp.exe", "gnp.exe"),
        ("我的 模型", "我的-模型"),
        ("%2e%2e%2fx", "2e-2e-2fx"),
    ],
)
def test_B1_a_name_from_outside_becomes_one_safe_name(given: str, name: str):
    assert safe_name(given) == name
    assert is_plain_name(safe_name(given))


@pytest.mark.parametrize("given", ["", "..", "/", "...", " ", "\u200b", "<>|?*"])
def test_B1_a_name_of_which_nothing_is_left_is_refused(given: str):
    with pytest.raises(UsageProblem):
        safe_name(given)


def test_a_profile_is_named_after_its_model():
    assert profile_name("Qwen3-4B-Q4_K_M.gguf") == "qwen3-4b-q4_k_m"
    assert profile_name("hf.co/owner/repo:Q4_K_M") == "repo-q4_k_m"
    assert profile_name("llama3.2:3b") == "llama3.2-3b"


def test_a_title_from_a_file_is_one_printable_line():
    assert title_of("A\x1b[31m\nname\u202e", "x") == "A [31m name"
    assert title_of(3, "x") == "x" and title_of(" \n", "x") == "x" and len(title_of("y" * 500, "x")) == 80


def test_names_of_split_models_go_together():
    assert part_names("m-00002-of-00003.gguf") == tuple(f"m-0000{n}-of-00003.gguf" for n in (1, 2, 3))
    assert whole_name("m-00002-of-00003.gguf") == "m.gguf" and part_names("m.gguf") == ("m.gguf",)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        pytest.param(lambda path: path.write_bytes(b"GGUF"), BadModelFile, "24|only 4", id="tiny"),
        pytest.param(lambda path: path.write_bytes(b"PK" + bytes(99)), BadModelFile, "not a GGUF", id="zip"),
        pytest.param(lambda path: path.mkdir(), UsageProblem, "folder", id="folder"),
        pytest.param(lambda path: None, UnknownName, "no model file", id="nothing"),
    ],
)
def test_what_can_be_no_base_makes_no_profile(
    paths: Paths, machine: Machine, tmp_path: Path, make: object, error: type[AgentError], says: str
):
    file = tmp_path / "file.gguf"
    make(file)  # type: ignore[operator]
    with pytest.raises(error, match=says):
        add_model(paths, {"HOME": str(tmp_path)}, machine, str(file))
    assert not paths.profiles.exists()


def test_a_part_of_a_split_model_says_what_to_do(paths: Paths, machine: Machine, tmp_path: Path, tiny_moe: Path):
    part = shutil.copyfile(tiny_moe, tmp_path / "m-00001-of-00002.gguf")
    with pytest.raises(BadModelFile, match="part 1") as caught:
        add_model(paths, {}, machine, str(part))
    assert "merge" in caught.value.hint


def test_a_model_with_a_vision_part_inside_is_refused(tmp_path: Path, tiny_moe: Path):
    # As Ollama writes some; the name of a tensor is changed in place, at equal length.
    content = tiny_moe.read_bytes().replace(b"output_norm.weight", b"v.utput_nor.weight")
    (tmp_path / "v.gguf").write_bytes(content)
    with pytest.raises(BadModelFile, match="vision part"):
        read_base(tmp_path / "v.gguf")


def test_a_path_with_any_readable_character_survives_the_profile(
    paths: Paths, machine: Machine, tmp_path: Path, tiny_moe: Path
):
    folder = tmp_path / 'my "models" \\ 模型 \x7f\''
    folder.mkdir()
    file = shutil.copyfile(tiny_moe, folder / "m.gguf")
    added = add_model(paths, {}, machine, str(file))
    assert find_base(load_chosen_profile(paths, added.made.name), paths) == file


def test_a_path_that_is_no_text_is_refused(paths: Paths, tmp_path: Path, tiny_moe: Path):
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.gguf"))
    shutil.copyfile(tiny_moe, file)
    with pytest.raises(BadText):
        profile_toml(read_base(file), paths, 2048, is_published=False)
