"""Files that crashed the engine are remembered by content, and nothing else about the memory can go wrong."""

import json
import stat
from pathlib import Path

import pytest

from engine.errors import BadModelFile
from engine.runtime.quarantine import NO_QUARANTINE, Quarantine


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF and more")
    return path


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "home" / "quarantine.json"


def test_a_file_that_crashed_the_engine_is_refused_with_the_reason_and_the_way_out(file: Path, record: Path) -> None:
    Quarantine(record).add(str(file), "SIGSEGV in the matrix")

    with pytest.raises(BadModelFile, match=r"model\.gguf crashed the engine.*SIGSEGV in the matrix") as refused:
        Quarantine(record).check(str(file))
    assert str(record) in refused.value.hint


def test_another_name_does_not_help_and_another_content_does(file: Path, record: Path, tmp_path: Path) -> None:
    quarantine = Quarantine(record)
    quarantine.add(str(file), "SIGABRT")

    renamed = file.rename(tmp_path / "innocent.gguf")
    with pytest.raises(BadModelFile, match="innocent"):
        quarantine.check(str(renamed))
    renamed.write_bytes(b"GGUF anew")
    quarantine.check(str(renamed))


def test_removing_the_entry_lets_the_file_in_again(file: Path, record: Path) -> None:
    quarantine = Quarantine(record)
    quarantine.add(str(file), "SIGABRT")
    record.write_text("{}")
    quarantine.check(str(file))


def test_several_files_are_kept_and_read_by_the_owner_only(file: Path, record: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF else")
    Quarantine(record).add(str(file), "SIGSEGV")
    Quarantine(record).add(str(other), "SIGFPE")

    for path in (file, other):
        with pytest.raises(BadModelFile):
            Quarantine(record).check(str(path))
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert [path.name for path in record.parent.iterdir()] == ["quarantine.json"]


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '{"abc": 5}', "[" * 100_000, '"\\ud800"'],
    ids=["empty", "cut", "a list", "null", "a number", "endless", "no text"],
)
def test_a_damaged_record_counts_as_empty_and_is_replaced(file: Path, record: Path, content: str) -> None:
    record.parent.mkdir()
    record.write_text(content)
    quarantine = Quarantine(record)

    quarantine.check(str(file))
    quarantine.add(str(file), "SIGSEGV")

    with pytest.raises(BadModelFile):
        quarantine.check(str(file))
    assert len(json.loads(record.read_text())) == 1


def test_an_entry_without_its_words_still_refuses(file: Path, record: Path) -> None:
    Quarantine(record).add(str(file), "SIGSEGV")
    (identity,) = json.loads(record.read_text())
    record.write_text(json.dumps({identity: {}}))
    with pytest.raises(BadModelFile):
        Quarantine(record).check(str(file))


def test_a_missing_file_is_neither_remembered_nor_refused(record: Path, tmp_path: Path, file: Path) -> None:
    quarantine = Quarantine(record)
    quarantine.add(str(tmp_path / "nowhere.gguf"), "SIGSEGV")
    assert not record.exists()
    quarantine.add(str(file), "SIGSEGV")
    quarantine.check(str(tmp_path / "nowhere.gguf"))


def test_a_record_that_cannot_be_written_costs_a_warning(
    file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    Quarantine(tmp_path / "home" / "quarantine.json").add(str(file), "SIGSEGV")
    assert "could not be written" in caplog.text


def test_without_a_path_nothing_is_remembered(file: Path) -> None:
    NO_QUARANTINE.add(str(file), "SIGSEGV")
    NO_QUARANTINE.check(str(file))
