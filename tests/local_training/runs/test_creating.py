"""A run begins with all it is made of frozen in a folder, or it does not begin."""

import json
import os
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import pytest

from engine.errors import AgentError, ModelMissing, ModelProblem, UsageProblem
from engine.runtime.identity import fingerprint
from local_training.runs.creating import PART_PREFIX, check_frozen, create_run, default_run_folder
from local_training.runs.folder import RunFolder, RunState
from tests.support.requirements import require_program

ROOT = Path(__file__).parents[3]
RECIPE = 'kind = "sft"  # 泡茶\r\ndata = "数据/问答.jsonl"\r\nsteps = 2\r\n'
AT = datetime(2026, 11, 29, 10, 30)


@dataclass(frozen=True, slots=True)
class Sources:
    """What a run is made from, and the folder it goes to."""

    recipe: Path
    data: Path
    base: Path
    adapter: Path
    runs: Path

    @property
    def folder(self) -> Path:
        return self.runs / "first"

    def create(self, *, folder: Path | None = None, with_adapter: bool = True) -> RunFolder:
        adapter = self.adapter if with_adapter else None
        at = folder or self.folder
        return create_run(at, self.recipe, profile=self.runs.parent, base=self.base, expert_adapter=adapter)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    found = Sources(
        tmp_path / "简短.toml",
        tmp_path / "数据" / "问答.jsonl",
        tmp_path / "base.gguf",
        tmp_path / "expert.gguf",
        tmp_path / "runs",
    )
    found.data.parent.mkdir()
    found.recipe.write_bytes(RECIPE.encode())
    lines = [{"id": f"e-{n}", "prompt": "泡多久？", "expert": "L0", "answer": f"{n} 分钟"} for n in range(20)]
    found.data.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    found.base.write_bytes(b"GGUF base")
    found.adapter.write_bytes(b"GGUF adapter")
    return found


def nothing_was_made(sources: Sources) -> bool:
    return not sources.runs.exists() or list(sources.runs.iterdir()) == []


def test_a_new_run_has_exact_copies_of_its_recipe_and_data(sources: Sources):
    run = sources.create()
    assert run.recipe.read_bytes() == sources.recipe.read_bytes()
    assert run.data.read_bytes() == sources.data.read_bytes()
    state = run.read_state()
    assert state == RunState("new", updated_at=state.updated_at)
    assert [path.name for path in sources.runs.iterdir()] == ["first"]


def test_a_new_run_says_what_it_was_made_of(sources: Sources):
    frozen = sources.create().read_frozen()
    assert (frozen.kind, frozen.title, frozen.expert) == ("sft", "简短", "L0")
    assert (frozen.base, frozen.base_hash) == (str(sources.base), fingerprint(sources.base))
    assert (frozen.expert_adapter, frozen.expert_adapter_hash) == (str(sources.adapter), fingerprint(sources.adapter))
    assert frozen.recipe_hash == sha256(RECIPE.encode()).hexdigest()
    assert frozen.data_hash == sha256(sources.data.read_bytes()).hexdigest()
    assert frozen.versions.keys() == {"torch", "transformers", "peft", "llama-cpp-python"}
    assert frozen.versions["llama-cpp-python"].startswith("0.3.")


def test_a_run_keeps_the_sources_that_its_data_name(sources: Sources):
    lines = [json.loads(line) for line in sources.data.read_text(encoding="utf-8").splitlines()]
    assert sources.create().read_frozen().sources == {}
    given = "".join(json.dumps({**line, "source": "t-1"}, ensure_ascii=False) + "\n" for line in lines)
    sources.data.write_text(given, encoding="utf-8")
    (kept,) = sources.create(folder=sources.runs / "second").read_frozen().sources.items()
    assert kept[0] == "t-1" and len(kept[1]) == 64


def test_an_expert_without_an_adapter_has_neither_path_nor_hash(sources: Sources):
    frozen = sources.create(with_adapter=False).read_frozen()
    assert (frozen.expert_adapter, frozen.expert_adapter_hash) == ("", "")


@pytest.mark.skipif(os.name != "posix", reason="only here has a file an owner's mode")
def test_only_its_owner_may_read_a_run(sources: Sources):
    run = sources.create()
    for path in (run.path, *run.path.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_paths_are_kept_whole_wherever_the_run_was_begun(sources: Sources, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(sources.recipe.parent)
    run = create_run(
        Path("here"), Path(sources.recipe.name), profile=Path(), base=Path("base.gguf"), expert_adapter=None
    )
    assert run.path == sources.recipe.parent / "here"
    assert run.read_frozen().base == str(sources.base)
    assert run.read_frozen().profile == str(sources.recipe.parent)


def test_a_run_may_begin_in_an_empty_folder(sources: Sources):
    sources.folder.mkdir(parents=True)
    assert sources.create().read_state().state == "new"


@pytest.mark.parametrize("what", ["a file in it", "a file", "a broken link"])
def test_what_lies_where_a_run_is_to_be_is_left_alone(sources: Sources, what: str):
    sources.runs.mkdir()
    if what == "a file in it":
        sources.folder.mkdir()
        (sources.folder / "notes.txt").write_text("mine")
    elif what == "a file":
        sources.folder.write_text("mine")
    else:
        sources.folder.symlink_to("nowhere")
    before = sorted((path, path.is_symlink() or path.stat().st_mtime_ns) for path in sources.runs.rglob("*"))
    with pytest.raises(UsageProblem, match="is there already and not an empty folder") as caught:
        sources.create()
    assert caught.value.hint
    assert sorted((path, path.is_symlink() or path.stat().st_mtime_ns) for path in sources.runs.rglob("*")) == before


def test_a_second_run_never_replaces_the_first(sources: Sources):
    before = sources.create().read_frozen()
    with pytest.raises(UsageProblem, match="is there already"):
        sources.create()
    assert RunFolder(sources.folder).read_frozen() == before


def test_a_folder_that_is_taken_is_said_before_anything_is_read(sources: Sources):
    sources.create()
    sources.recipe.unlink()
    with pytest.raises(UsageProblem, match="is there already"):
        sources.create()


def test_a_wrong_recipe_makes_no_run(sources: Sources):
    sources.recipe.write_text(RECIPE.replace("steps = 2", "steps = 0"), encoding="utf-8")
    with pytest.raises(UsageProblem, match=r"^简短\.toml has 1 wrong or missing"):
        sources.create()
    assert nothing_was_made(sources)


def test_a_wrong_line_of_data_makes_no_run_and_is_named_by_the_file_that_has_it(sources: Sources):
    sources.data.write_bytes(sources.data.read_bytes() + b"{}\n")
    with pytest.raises(UsageProblem, match=r"^问答\.jsonl has 1 fault:\n  line 21: `id` is missing"):
        sources.create()
    assert nothing_was_made(sources)


def test_data_for_another_expert_makes_no_run(sources: Sources):
    sources.recipe.write_text(RECIPE + 'expert = "L1"\n', encoding="utf-8")
    with pytest.raises(UsageProblem, match="there are 20 for L0, but the recipe trains L1"):
        sources.create()
    assert nothing_was_made(sources)


def test_data_that_leaves_nothing_to_evaluate_makes_no_run(sources: Sources):
    sources.recipe.write_text(RECIPE + "[evaluation]\nheld_out = 0\n", encoding="utf-8")
    with pytest.raises(UsageProblem, match=r"evaluation\.held_out is 0"):
        sources.create()
    assert nothing_was_made(sources)


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        ("recipe", UsageProblem, "The recipe .* cannot be read"),
        ("data", UsageProblem, "cannot be read"),
        ("base", ModelMissing, "The base .* cannot be read"),
        ("adapter", ModelMissing, "The expert's adapter .* cannot be read"),
    ],
)
def test_without_one_of_its_sources_there_is_no_run(sources: Sources, source: str, error: type[AgentError], said: str):
    getattr(sources, source).unlink()
    with pytest.raises(error, match=said):
        sources.create()
    assert nothing_was_made(sources)


@pytest.mark.skipif(os.name != "posix", reason="only here has a folder an owner's mode")
def test_a_place_where_no_folder_can_be_made_is_named(sources: Sources):
    sources.runs.write_text("in the way")
    with pytest.raises(AgentError, match="cannot be written"):
        sources.create()
    assert sources.runs.read_text() == "in the way"


CREATES = """
import os, signal, sys
from pathlib import Path
from engine.errors import AgentError
from local_training.runs.creating import create_run

renames_left = int(sys.argv[3])
def kill_at_rename(event, arguments):
    global renames_left
    if event == "os.rename":
        renames_left -= 1
        if renames_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(kill_at_rename)
folder, recipe = Path(sys.argv[1]), Path(sys.argv[2])
try:
    create_run(folder, recipe, profile=recipe, base=recipe.parent / "base.gguf", expert_adapter=None)
except AgentError as error:
    print(type(error).__name__, error.problem, sep="|")
"""


@pytest.mark.parametrize("rename", range(1, 6))
def test_a_kill_leaves_no_half_run_and_is_no_hindrance_to_the_next(sources: Sources, rename: int):
    # Four files get their names, then the folder does.
    command = [sys.executable, "-c", CREATES, str(sources.folder), str(sources.recipe), str(rename)]
    ran = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert [path.name.startswith(PART_PREFIX) for path in sources.runs.iterdir()] == [True]
    assert sources.create().read_state().state == "new"


def test_a_disk_without_room_is_said_and_left_empty(sources: Sources):
    with sources.data.open("a", encoding="utf-8") as file:
        file.writelines(
            json.dumps({"id": f"long-{n}", "prompt": "?", "expert": "L0", "answer": "茶" * 1000}) + "\n"
            for n in range(100)
        )
    script = CREATES + "print(list(Path('/mnt').rglob('*')))"
    sandbox = [require_program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    disk = ["--size", "200000", "--tmpfs", "/mnt", "--setenv", "PYTHONPATH", str(ROOT)]
    command = [*sandbox, *disk, sys.executable, "-c", script, "/mnt/runs/first", str(sources.recipe), "0"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    refused, left = ran.stdout.splitlines()
    assert refused.startswith("DiskFull|The disk that holds /mnt/runs/")
    assert left == "[PosixPath('/mnt/runs')]"


def test_a_run_goes_on_while_nothing_it_was_made_of_changed(sources: Sources):
    run = sources.create()
    sources.recipe.unlink()
    sources.data.unlink()
    os.utime(sources.base)
    check_frozen(run)


@pytest.mark.parametrize(
    ("source", "said"), [("base", r"The base .*base\.gguf changed"), ("adapter", "The expert's adapter .* changed")]
)
def test_weights_that_changed_are_named(sources: Sources, source: str, said: str):
    run = sources.create()
    getattr(sources, source).write_bytes(b"GGUF other")
    with pytest.raises(ModelProblem, match=f"{said} since the run first began") as caught:
        check_frozen(run)
    assert "Put the file back" in caught.value.hint


@pytest.mark.parametrize("source", ["base", "adapter"])
def test_weights_that_are_gone_are_named(sources: Sources, source: str):
    run = sources.create()
    getattr(sources, source).unlink()
    with pytest.raises(ModelMissing, match=r"\.gguf cannot be read: No such file"):
        check_frozen(run)


@pytest.mark.parametrize("which", ["recipe", "data"])
def test_a_frozen_input_that_changed_or_is_gone_is_named(sources: Sources, which: str):
    run = sources.create()
    copy: Path = getattr(run, which)
    copy.write_bytes(copy.read_bytes() + b"\n")
    with pytest.raises(UsageProblem, match=f"The frozen {which} of the run first changed since it began"):
        check_frozen(run)
    copy.unlink()
    with pytest.raises(UsageProblem, match=f"The frozen {which} .* cannot be read"):
        check_frozen(run)


def test_what_is_no_run_has_nothing_to_go_on_with(tmp_path: Path):
    with pytest.raises(UsageProblem, match="is no run"):
        check_frozen(RunFolder(tmp_path))


@pytest.mark.parametrize(
    ("recipe", "name"),
    [
        ("recipes/brief.toml", "2026-11-29-1030-brief"),
        ("简短 回答.toml", "2026-11-29-1030-简短-回答"),
        ("a/../b: <c>|d.v2.toml", "2026-11-29-1030-b-c-d-v2"),
        (".toml", "2026-11-29-1030-toml"),
        ("——.toml", "2026-11-29-1030-run"),
        (f"{'茶' * 80}.toml", f"2026-11-29-1030-{'茶' * 40}"),
        (os.fsdecode(b"caf\xe9.toml"), "2026-11-29-1030-caf"),
        ("cafe\u0301.toml", "2026-11-29-1030-caf\u00e9"),
    ],
)
def test_a_run_is_named_after_its_minute_and_its_recipe(tmp_path: Path, recipe: str, name: str):
    assert default_run_folder(tmp_path / "runs", Path(recipe), AT) == tmp_path / "runs" / name


def test_runs_of_one_minute_are_numbered(tmp_path: Path):
    for _ in range(3):
        default_run_folder(tmp_path, Path("brief.toml"), AT).mkdir()
    names = ["2026-11-29-1030-brief", "2026-11-29-1030-brief-2", "2026-11-29-1030-brief-3"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
