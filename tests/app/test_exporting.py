"""`macaron history export`: to the terminal, to a file, to a folder; and nothing is overwritten or read by others."""

import json
import stat
from pathlib import Path

import pytest

from app.opening import open_store
from app.paths import Paths
from engine.values import Answer, TurnRecord
from tests.app.conftest import ANSWERED, SAID
from tests.app.running import complaint, macaron


@pytest.fixture
def two(home: Path) -> list[str]:
    """Ids of two conversations whose titles would lead out of the folder."""
    ids = []
    with open_store(Paths(home)) as store:
        for text in ("../../escape", "CON"):
            turn = store.open_turn(text, conversation_id=None, parent_turn_id=None, profile="starter")
            store.close_turn(Answer(turn.turn_id, "answered", f"answer to {text}", None))
            ids.append(turn.conversation_id)
    return ids


def test_without_a_file_the_conversation_goes_to_standard_output(earlier: TurnRecord):
    done = macaron("history", "export", earlier.conversation_id)
    assert done.code == 0 and done.err == ""
    assert f"# {SAID}" in done.out and ANSWERED in done.out and "## 1 · L0 · default" in done.out


def test_several_in_json_are_one_a_line(two: list[str]):
    done = macaron("history", "export", "--all", "--format", "json")
    assert {json.loads(line)["conversation"]["conversation_id"] for line in done.out.splitlines()} == set(two)
    assert macaron("history", "export", "--all", "--json").out == done.out


def test_a_file_is_private_and_says_that_forgetting_does_not_reach_it(earlier: TurnRecord, tmp_path: Path):
    target = tmp_path / "export.json"
    done = macaron("history", "export", earlier.conversation_id, "--format", "json", "--output", str(target))
    assert done.code == 0
    assert "forget" in done.err
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert json.loads(target.read_text("utf-8"))["turns"][0]["user_text"] == SAID
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_B1_a_folder_gets_a_file_for_each_conversation_and_no_title_leads_out_of_it(two: list[str], tmp_path: Path):
    folder = tmp_path / "out"
    done = macaron("history", "export", "--all", "--output", f"{folder}/", "--json")
    assert done.code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["_CON.md", "escape.md"]
    assert sorted(done.json["files"]) == sorted(str(path) for path in folder.iterdir())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("format", ["markdown", "json"])
def test_one_file_takes_several_conversations(two: list[str], format: str, tmp_path: Path):
    target = tmp_path / "all"
    assert macaron("history", "export", *two, "--format", format, "--output", str(target)).code == 0
    text = target.read_text("utf-8")
    assert "answer to CON" in text and "answer to ../../escape" in text
    assert format == "markdown" or len(text.splitlines()) == 2


def test_a_file_that_is_there_is_only_overwritten_on_demand(earlier: TurnRecord, tmp_path: Path):
    target = tmp_path / "export.md"
    target.write_text("mine")
    ask = ("history", "export", earlier.conversation_id, "--output", str(target))
    assert "already exists" in complaint(macaron(*ask), 2)
    assert target.read_text() == "mine"
    assert macaron(*ask, "--force").code == 0
    assert SAID in target.read_text("utf-8")


def test_the_words_around_are_those_of_the_language(earlier: TurnRecord):
    done = macaron("history", "export", earlier.conversation_id, changes={"LC_ALL": "zh_CN.UTF-8"})
    assert "## 1 · 你" in done.out and "1 轮" in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="nothing named"),
        pytest.param(("c-1", "--all"), id="both"),
        pytest.param(("c-none",), id="unknown"),
    ],
)
def test_what_cannot_be_exported_is_a_usage_error(arguments: tuple[str, ...], earlier: TurnRecord):
    complaint(macaron("history", "export", *arguments), 2)


def test_a_folder_that_cannot_be_written_is_named(earlier: TurnRecord, tmp_path: Path):
    missing = tmp_path / "none" / "export.md"
    assert str(missing) in complaint(macaron("history", "export", earlier.conversation_id, "--output", str(missing)), 1)


def test_the_tree_shows_every_turn_and_marks_the_branch_in_use(home: Path, earlier: TurnRecord):
    with open_store(Paths(home)) as store:
        for text in ("first way", "second way"):
            turn = store.open_turn(
                text,
                conversation_id=earlier.conversation_id,
                parent_turn_id=earlier.turn_id,
                profile="starter",
            )
            store.close_turn(Answer(turn.turn_id, "stopped", "half", None))
    shown = macaron("history", "show", earlier.conversation_id, "--tree").out.splitlines()[1:]
    assert [line.split("  ")[1].strip().startswith("*") for line in shown] == [True, False, True]
    assert "first way" in shown[1] and "second way" in shown[2] and "[■ stopped]" in shown[2]
    in_json = macaron("history", "show", earlier.conversation_id, "--tree", "--json").json
    assert len(in_json["turns"]) == 3


def test_a_conversation_is_renamed(earlier: TurnRecord):
    done = macaron("history", "rename", earlier.conversation_id, "  Tea\nand 茶 ")
    assert "Tea and 茶" in done.out
    assert macaron("history", "list", "--json").json[0]["title"] == "Tea and 茶"
    complaint(macaron("history", "rename", earlier.conversation_id, "  "), 2)
