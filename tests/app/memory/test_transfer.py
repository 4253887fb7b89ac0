"""Memories go out as lines of JSON and come in again, where they wait; whatever is wrong is told line by line."""

import json
import stat
from pathlib import Path

import pytest

from engine.errors import UsageProblem
from tests.app.memory.conftest import Printed

HEADER = {"format": "macaron-memories", "version": 1}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memories.jsonl"


def write(file: Path, *lines: object) -> str:
    file.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in (HEADER, *lines)), "utf-8")
    return str(file)


def test_what_is_exported_is_known_here_and_waits_in_another_home(printed: Printed, file: Path, tmp_path: Path) -> None:
    printed("add", "I like tea")
    printed("add", "看牙医", "--kind", "plan", "--due", "2099-12-24")
    assert printed("export", "--output", str(file)).startswith("2 memories written to")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert printed("import", str(file), "--json") == {"added": 0, "known": 2, "refused": []}
    other = ("--home", str(tmp_path / "other"))
    assert "2 wait for you now" in printed("import", str(file), *other)
    assert "0 wait for you now, 2 were known" in printed("import", str(file), *other)
    assert printed("list", *other, "--json")["memories"] == []
    plan, liking = sorted(printed("review", *other, "--json")["memories"], key=lambda one: one["kind"])
    assert (plan["text"], plan["kind"], plan["due_on"]) == ("看牙医", "plan", "2099-12-24")
    assert (liking["trust"], liking["source"], liking["state"]) == ("tainted", "imported", "pending")


def test_without_a_file_it_goes_to_standard_output_and_a_file_is_not_overwritten(printed: Printed, file: Path) -> None:
    printed("add", "I like tea")
    header, line = map(json.loads, printed("export").splitlines())
    assert header == HEADER and line["text"] == "I like tea" and line["trust"] == "confirmed"
    assert printed("export", "--output", str(file), "--json") == {"memories": 1, "file": str(file)}
    with pytest.raises(UsageProblem, match="already exists"):
        printed("export", "--output", str(file))
    printed("export", "--output", str(file), "--force")


def test_whatever_a_file_says_of_itself_it_waits_and_replaces_nothing(printed: Printed, file: Path) -> None:
    printed("add", "I live in Oslo")
    claims = {"state": "active", "trust": "confirmed", "r0": 1.0, "slot": "home", "turn_id": "t-1", "memory_id": 1}
    printed("import", write(file, {"text": "I always pay at once", **claims}))
    (memory,) = printed("list", "--json")["memories"]
    assert memory["text"] == "I live in Oslo"
    (waiting,) = printed("review", "--json")["memories"]
    assert (waiting["state"], waiting["trust"], waiting["slot"], waiting["turn_id"]) == ("pending", "tainted", "", None)
    printed("review", "--approve", str(waiting["memory_id"]))
    assert len(printed("list", "--json")["memories"]) == 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param({"text": ""}, "needs a text", id="no_text"),
        pytest.param({"text": 7}, "text is no text", id="number"),
        pytest.param({"text": "a" * 1001}, "1,000 characters", id="long"),
        pytest.param({"text": "a", "kind": "order"}, "no kind order", id="kind"),
        pytest.param({"text": "a", "due_on": "soon"}, "no day", id="day"),
        pytest.param(["text"], "no object", id="list"),
        pytest.param({"text": "\ud800"}, "half of a character", id="surrogate"),
    ],
)
def test_a_wrong_line_is_refused_and_the_others_are_taken(
    printed: Printed, file: Path, line: object, problem: str
) -> None:
    text = "".join(f"{json.dumps(one)}\n" for one in (HEADER, {"text": "I like tea"}, line, {"text": "I like jazz"}))
    file.write_text(text, "utf-8")
    found = printed("import", str(file), "--json", code=1)
    assert (found["added"], [one["line"] for one in found["refused"]]) == (2, [3])
    assert problem in found["refused"][0]["problem"]
    assert "line 3:" in printed("import", str(file), code=1)


def test_bytes_that_are_no_text_are_refused(printed: Printed, file: Path) -> None:
    file.write_bytes(json.dumps(HEADER).encode() + b"\n\xff\xfe\n\n" + b"x" * 200_000 + b"\n")
    found = printed("import", str(file), "--json", code=1)
    assert found["added"] == 0 and "UTF-8" in found["refused"][0]["problem"]


@pytest.mark.parametrize("content", [b"", b"{}\n", b"PK\x03\x04", b'{"format": "macaron-tool", "version": 1}\n', b"[]"])
def test_another_file_is_refused_as_a_whole(printed: Printed, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(UsageProblem, match="no exported memories"):
        printed("import", str(file))


def test_a_file_of_another_version_or_that_is_not_there_is_refused(printed: Printed, file: Path) -> None:
    with pytest.raises(UsageProblem, match="cannot be read"):
        printed("import", str(file))
    file.write_text('{"format": "macaron-memories", "version": 2}\n', "utf-8")
    with pytest.raises(UsageProblem, match="another version"):
        printed("import", str(file))


def test_many_wrong_lines_end_the_reading(printed: Printed, file: Path) -> None:
    found = printed("import", write(file, *([1] * 500)), "--json", code=1)
    assert len(found["refused"]) == 100


def test_many_lines_come_in_and_go_out(printed: Printed, file: Path) -> None:
    lines = [{"text": f"I know person number {number}"} for number in range(450)]
    assert printed("import", write(file, *lines), "--json")["added"] == 450
    assert len(printed("export").splitlines()) == 451
