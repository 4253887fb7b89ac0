"""`macaron adapters import` as its user meets it: what it says, in English, Chinese and JSON, and what it keeps."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.adapters import adapters
from app.opening import open_store
from app.paths import Paths
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord, Source
from engine.assets import asset_path
from engine.errors import AdapterMismatch, AgentError, BadModelFile, ModelMissing, UnknownName, UsageProblem
from engine.runtime.gguf import read_header
from engine.runtime.identity import fingerprint
from local_training.runs.folder import Frozen, RunFolder, RunState
from tests.engine.adapters.samples import peft_tensors, write_folder
from tests.support.adapters import write_random_adapter


@pytest.fixture
def folder(starter_base: Path, tmp_path: Path) -> Path:
    return write_folder(tmp_path / "trained", peft_tensors(read_header(starter_base), ["attn_q", "ffn_up"]))


def run(*arguments: str) -> int:
    code: int = adapters.main(["import", *arguments], prog_name="macaron adapters", standalone_mode=False)
    return code


def test_an_imported_adapter_lies_in_the_home_and_the_output_says_where(
    folder: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert run(str(folder)) == 0
    (file,) = Paths(home).adapters.iterdir()
    said = capsys.readouterr().out
    assert "4 weights changed, rank 4" in said and str(file) in said


def test_importing_again_says_that_it_is_here_in_the_users_language(
    folder: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run(str(folder)) == run(str(folder)) == 0
    said = capsys.readouterr().out
    assert said.index("已为") < said.index("已存在")
    assert len(list(Paths(home).adapters.iterdir())) == 1


def test_scripts_get_one_object(folder: Path, home: Path, capsys: pytest.CaptureFixture[str], starter_base: Path):
    assert run(str(folder), "--json", "--type", "q8_0") == 0
    answer = json.loads(capsys.readouterr().out)
    assert Path(answer["path"]) == Paths(home).adapters / f"{answer['sha256']}.gguf"
    assert (answer["kind"], answer["is_new"], answer["weights"], answer["ranks"]) == ("peft", True, 4, [4, 4])
    assert answer["base"] == str(starter_base)
    assert answer["size_bytes"] == Path(answer["path"]).stat().st_size


@pytest.mark.parametrize(
    ("name", "error"), [("none", ModelMissing), ("trained/adapter_config.json", BadModelFile), (".", BadModelFile)]
)
def test_what_is_no_adapter_is_said_and_not_kept(
    folder: Path, home: Path, tmp_path: Path, name: str, error: type[AgentError]
):
    with pytest.raises(error) as caught:
        run(str(tmp_path / name))
    assert caught.value.hint
    assert list(Paths(home).adapters.iterdir()) == []


def catalogued(home: Path) -> tuple[AdapterRecord, ...]:
    with open_store(Paths(home)) as store:
        return Catalogue(store.database).page()


def test_what_is_imported_waits_in_the_catalogue_for_the_expert_that_was_named(
    folder: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, starter_base: Path
):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert run(str(folder), "--expert", "l1") == 0
    (record,) = catalogued(home)
    assert (record.expert, record.profile, record.kind, record.state) == ("L1", "starter", "imported", "candidate")
    assert (record.base_hash, record.rank, record.note) == (fingerprint(starter_base), 4, "trained")
    assert f"macaron adapters promote {record.content_hash[:12]}" in capsys.readouterr().out


def test_without_a_word_on_it_an_adapter_is_for_the_profiles_default_expert(folder: Path, home: Path):
    run(str(folder))
    assert [record.expert for record in catalogued(home)] == ["L0"]


def test_an_expert_that_there_is_not_is_refused(folder: Path, home: Path):
    with pytest.raises(UnknownName, match="no expert L9"):
        run(str(folder), "--expert", "L9")
    assert catalogued(home) == ()


def test_the_same_adapter_for_another_expert_is_refused(folder: Path, home: Path):
    run(str(folder), "--expert", "L1")
    with pytest.raises(UsageProblem, match="here already, for L1"):
        run(str(folder), "--expert", "L2")
    assert [record.expert for record in catalogued(home)] == ["L1"]


# Results of runs


@pytest.fixture
def finished_run(home: Path, starter_base: Path) -> RunFolder:
    """A run of the home with a result, for L2 of the starter."""
    folder = RunFolder(Paths(home).runs / "2026-short")
    frozen = Frozen(
        kind="rl",
        title="short-answers",
        expert="L2",
        profile=str(asset_path("profiles", "starter")),
        base=str(starter_base),
        base_hash=fingerprint(starter_base),
        expert_adapter="L2.gguf",
        expert_adapter_hash="e" * 32,
        recipe_hash="1" * 64,
        data_hash="2" * 64,
        created_at=1.0,
        versions={},
    )
    folder.path.mkdir(parents=True)
    folder.write_frozen(frozen)
    folder.write_state(RunState("finished", 8))
    write_random_adapter(starter_base, folder.adapter_gguf, rank=2, kinds=("attn_q",))
    return folder


@pytest.mark.parametrize("named", ["name", "folder", "file"])
def test_the_result_of_a_run_comes_in_with_its_origin(finished_run: RunFolder, home: Path, named: str):
    path = {"name": Path("2026-short"), "folder": finished_run.path, "file": finished_run.adapter_gguf}[named]
    assert run(str(path)) == 0
    (record,) = catalogued(home)
    assert (record.kind, record.expert, record.profile, record.rank) == ("personal", "L2", "starter", 2)
    assert (record.parent_hash, record.recipe_hash, record.data_hash) == ("e" * 32, "1" * 64, "2" * 64)
    assert record.note == "short-answers (rl), 2026-short"


def test_the_turns_that_a_run_learned_from_are_the_sources_of_its_adapter(finished_run: RunFolder, home: Path):
    finished_run.write_frozen(replace(finished_run.read_frozen(), sources={"t-1": "a" * 64, "t-2": "b" * 64}))
    assert run("2026-short") == 0
    with open_store(Paths(home)) as store:
        catalogue = Catalogue(store.database)
        (record,) = catalogue.find_by_source("t-2")
        assert catalogue.details(record.content_hash).sources == (Source("t-1", "a" * 64), Source("t-2", "b" * 64))
        assert catalogue.find_by_source("t-3") == ()


def test_a_run_without_a_result_says_how_to_go_on(finished_run: RunFolder, home: Path):
    finished_run.adapter_gguf.unlink()
    with pytest.raises(UsageProblem, match="has no adapter yet") as caught:
        run("2026-short")
    assert "macaron train resume 2026-short" in caught.value.hint


def test_the_result_of_a_run_on_another_base_is_refused(finished_run: RunFolder, home: Path):
    frozen = json.loads(finished_run.frozen.read_text(encoding="utf-8"))
    finished_run.frozen.write_text(json.dumps({**frozen, "base_hash": "f" * 32}), encoding="utf-8")
    with pytest.raises(AdapterMismatch, match="trained on another base"):
        run("2026-short")
    assert list(Paths(home).adapters.glob("*")) == []


# What was exported


@pytest.fixture
def exported(finished_run: RunFolder, home: Path, tmp_path: Path) -> Path:
    """An adapter with two sources, exported out of a home that is then gone."""
    run("2026-short")
    with open_store(Paths(home)) as store:
        catalogue = Catalogue(store.database)
        (record,) = catalogue.page()
        catalogue.remove(record.content_hash, lambda record: None)
        catalogue.add(record, [Source("t-1", "h"), Source("t-2", "h")])
    adapters.main(["export", record.content_hash, "--output", str(tmp_path / "out.gguf")], standalone_mode=False)
    shutil.rmtree(home)
    return tmp_path / "out.gguf"


def test_an_exported_adapter_comes_back_with_its_origin_and_sources(exported: Path, home: Path):
    assert run(str(exported)) == 0
    (record,) = catalogued(home)
    assert (record.kind, record.state, record.expert) == ("imported", "candidate", "L2")
    assert (record.parent_hash, record.note) == ("e" * 32, "short-answers (rl), 2026-short")
    with open_store(Paths(home)) as store:
        assert Catalogue(store.database).find_by_source("t-2") == (record,)


def test_a_file_that_is_not_the_one_its_manifest_describes_is_refused(exported: Path, home: Path, starter_base: Path):
    write_random_adapter(starter_base, exported, rank=2, kinds=("attn_k",))
    with pytest.raises(BadModelFile, match="not the file that the manifest"):
        run(str(exported))
    assert list(Paths(home).adapters.glob("*")) == []


def test_an_adapter_that_was_forgotten_does_not_come_back(exported: Path, home: Path):
    run(str(exported))
    (record,) = catalogued(home)
    with open_store(Paths(home)) as store:
        Catalogue(store.database).retire(record.content_hash, forgotten=True)
    (Paths(home).adapters / record.file).unlink()
    with pytest.raises(UsageProblem, match="something you had forgotten"):
        run(str(exported))
    assert list(Paths(home).adapters.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"base_hash": "f" * 32}, AdapterMismatch),
        ({"version": 2}, BadModelFile),
        ({"sources": [1]}, BadModelFile),
        ({"expert": None}, BadModelFile),
        ({"unknown": 1}, BadModelFile),
    ],
    ids=str,
)
def test_a_manifest_that_does_not_fit_is_refused(exported: Path, home: Path, change, error: type[AgentError]):
    beside = exported.with_suffix(".json")
    beside.write_text(json.dumps({**json.loads(beside.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(error) as caught:
        run(str(exported))
    assert caught.value.hint
    assert catalogued(home) == ()


@pytest.mark.parametrize("content", ["[1]", "{", '{"format": "other"}'])
def test_a_file_beside_it_that_is_no_manifest_is_not_looked_at(exported: Path, home: Path, content: str):
    exported.with_suffix(".json").write_text(content, encoding="utf-8")
    assert run(str(exported)) == 0
    assert [record.expert for record in catalogued(home)] == ["L0"]
