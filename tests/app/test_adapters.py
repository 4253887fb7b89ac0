"""`macaron adapters import` as its user meets it: what it says, in English, Chinese and JSON, and what it keeps."""

import json
from pathlib import Path

import pytest

from app.cli.adapters import adapters
from app.paths import Paths
from engine.errors import AgentError, BadModelFile, ModelMissing
from engine.runtime.gguf import read_header
from tests.engine.adapters.samples import peft_tensors, write_folder


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
