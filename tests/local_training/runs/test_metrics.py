"""The record of a run: what survives a torn line, garbage, a full disk and a kill."""

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from engine.errors import AgentError
from local_training.runs.metrics import (
    EvaluationMetrics,
    History,
    Note,
    StepMetrics,
    append_metrics,
    cut_metrics,
    from_values,
    read_history,
    read_metrics,
    to_line,
)
from tests.support.requirements import require_program

ROOT = Path(__file__).parents[3]


def step(number: int) -> StepMetrics:
    return StepMetrics(number, 30.0, 0.5, 1.0, 1e-4, reward=0.25 * number, length_tokens=40.0, groups_kept=4)


def filled(path: Path, last: int) -> Path:
    """An evaluation before the first step, then `last` steps with a note each."""
    append_metrics(path, EvaluationMetrics(0, 12.0, 200, accuracy=0.5))
    for number in range(1, last + 1):
        append_metrics(path, step(number))
        append_metrics(path, Note(number, f"第 {number} 步"))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


def test_where_there_is_no_file_there_is_no_history(path: Path):
    assert read_history(path) == History()


def test_what_was_appended_is_read_in_its_order_and_sorted_by_what_it_is(path: Path):
    filled(path, 2)
    assert [(one.kind, one.step) for one in read_metrics(path)] == [
        ("evaluation", 0),
        ("step", 1),
        ("note", 1),
        ("step", 2),
        ("note", 2),
    ]
    history = read_history(path)
    assert history.steps == (step(1), step(2))
    assert history.evaluations == (EvaluationMetrics(0, 12.0, 200, accuracy=0.5),)
    assert [note.text for note in history.notes] == ["第 1 步", "第 2 步"]


def test_a_torn_last_line_is_passed_over(path: Path):
    filled(path, 2)
    path.write_bytes(path.read_bytes() + to_line(step(3)).encode()[:-1])
    assert [one.step for one in read_history(path).steps] == [1, 2]


def test_a_whole_last_line_without_its_end_is_torn_too(path: Path):
    # Its number may go on: `"rate": 1` could have been 1e-4.
    path.write_bytes(to_line(step(1)).encode())
    assert read_history(path) == History()


def test_what_follows_a_torn_line_is_not_lost_with_it(path: Path):
    filled(path, 1)
    path.write_bytes(path.read_bytes() + to_line(step(2)).encode()[:20])
    append_metrics(path, step(3))
    assert [one.step for one in read_history(path).steps] == [1, 3]


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"\xff\xfe\x00\xd8", id="no UTF-8"),
        pytest.param(b"\x00" * 64, id="a block of zeros"),
        pytest.param("步".encode("gb18030"), id="another encoding"),
        pytest.param(b"[" * 100_000, id="nested without end"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"kind": "step"}', id="too little"),
        pytest.param(b'{"kind": "dream", "step": 1}', id="a kind of another version"),
        pytest.param(b'{"kind": ["step"], "step": 1}', id="a kind that is a list"),
        pytest.param(to_line(step(9)).replace("0.5", "NaN").encode(), id="not a number"),
        pytest.param(to_line(step(9)).replace('"step": 9', '"step": "9"').encode(), id="a text for a number"),
        pytest.param(to_line(step(9)).replace('"loss"', '"lost"').encode(), id="a field of another version"),
    ],
)
def test_damaged_and_unknown_lines_cost_no_other(path: Path, garbage: bytes):
    filled(path, 1)
    path.write_bytes(garbage + b"\n" + path.read_bytes() + garbage + b"\n")
    append_metrics(path, step(2))
    history = read_history(path)
    assert (history.steps, len(history.evaluations), len(history.notes)) == ((step(1), step(2)), 1, 1)


def test_a_number_that_is_not_finite_is_refused_and_nothing_is_written(path: Path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        append_metrics(path, StepMetrics(1, 1.0, float("inf"), 1.0, 1e-4))
    assert not path.exists()


def test_what_a_kind_does_not_have_is_none_in_the_file(path: Path):
    append_metrics(path, StepMetrics(1, 1.0, 0.5, 1.0, 1e-4))
    values = json.loads(path.read_bytes())
    assert values.keys() == {one.name for one in fields(StepMetrics)}
    assert values["reward"] is None
    assert from_values(values) == StepMetrics(1, 1.0, 0.5, 1.0, 1e-4)


def test_cutting_forgets_what_came_after_a_step(path: Path):
    filled(path, 4)
    append_metrics(path, EvaluationMetrics(4, 12.0, 200))
    cut_metrics(path, 2)
    assert [(one.kind, one.step) for one in read_metrics(path)] == [
        ("evaluation", 0),
        ("step", 1),
        ("note", 1),
        ("step", 2),
        ("note", 2),
    ]


def test_cutting_keeps_the_lines_it_keeps_to_the_letter(path: Path):
    filled(path, 2)
    of_another_version = b'{"step":1,  "kind":"dream"}\n'
    whole = path.read_bytes() + of_another_version
    path.write_bytes(whole + b"\xff\n" + b'{"kind": "note"}\n' + to_line(step(1)).encode())
    cut_metrics(path, 2)
    assert path.read_bytes() == whole


def test_a_run_goes_on_after_cutting_as_if_it_had_not_been_killed(path: Path, tmp_path: Path):
    filled(path, 3)
    cut_metrics(path, 1)
    for number in (2, 3):
        append_metrics(path, step(number))
        append_metrics(path, Note(number, f"第 {number} 步"))
    assert path.read_bytes() == filled(tmp_path / "uninterrupted.jsonl", 3).read_bytes()


def test_cutting_to_before_the_first_step_keeps_the_first_evaluation(path: Path):
    filled(path, 3)
    cut_metrics(path, 0)
    assert read_history(path) == History(evaluations=(EvaluationMetrics(0, 12.0, 200, accuracy=0.5),))


def test_where_there_is_nothing_to_cut_no_file_is_made(path: Path):
    cut_metrics(path, 5)
    assert not path.exists()


@pytest.mark.parametrize("act", [lambda at: append_metrics(at, step(1)), read_history, lambda at: cut_metrics(at, 1)])
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, act):
    (tmp_path / "metrics.jsonl").mkdir()
    with pytest.raises(AgentError, match=r"metrics\.jsonl cannot be written"):
        act(tmp_path / "metrics.jsonl")


FILLS_THE_DISK = """
from pathlib import Path
from engine.errors import AgentError
from local_training.runs.metrics import Note, append_metrics, cut_metrics, read_history

path, filler = Path("/mnt/metrics.jsonl"), Path("/mnt/filler")
filler.write_bytes(bytes(40_000))
done = []
try:
    for number in range(1, 1000):
        append_metrics(path, Note(number, "words " * 500))
        done.append(number)
except AgentError as error:
    print(type(error).__name__, error.problem, sep="|")
print([note.step for note in read_history(path).notes] == done)
before = path.read_bytes()
try:
    cut_metrics(path, done[-1])
except AgentError as error:
    print(type(error).__name__, path.read_bytes() == before, len(list(path.parent.iterdir())), sep="|")
filler.unlink()
append_metrics(path, Note(0, "after"))
print([note.step for note in read_history(path).notes] == [*done, 0])
"""


def test_a_full_disk_costs_only_what_it_has_no_room_for():
    sandbox = [require_program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    disk = ["--size", "200000", "--tmpfs", "/mnt", "--setenv", "PYTHONPATH", str(ROOT)]
    ran = subprocess.run([*sandbox, *disk, sys.executable, "-c", FILLS_THE_DISK], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    refused, kept, cutting, after = ran.stdout.splitlines()
    assert refused == "DiskFull|The disk that holds /mnt/metrics.jsonl is full."
    assert kept == "True"
    assert cutting == "DiskFull|True|2"
    assert after == "True"
