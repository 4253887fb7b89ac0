"""What every held-out item got, written and read again."""

import pytest

from engine.errors import AgentError, StoreProblem
from local_training.runs.evaluations import (
    EvaluatedItem,
    evaluated_steps,
    evaluation_path,
    read_items,
    write_items,
)

ANSWER = EvaluatedItem("sum-7", '{"sum": 12}', 9, "eos", 1.0, True)
EXAMPLE = EvaluatedItem("letter-3", loss=1.42)


def test_items_come_back_as_they_were_written(tmp_path):
    path = evaluation_path(tmp_path / "evaluations", 20)
    items = (ANSWER, EXAMPLE, EvaluatedItem("三", "答案\u2028\u202e\n\x00", 256, "length", 0.0, False))
    write_items(path, items)
    assert read_items(path) == items


def test_a_line_holds_only_what_its_item_has(tmp_path):
    write_items(tmp_path / "000000.jsonl", [ANSWER, EXAMPLE])
    assert (tmp_path / "000000.jsonl").read_text(encoding="utf-8").splitlines() == [
        r'{"id": "sum-7", "text": "{\"sum\": 12}", "tokens": 9, "finish": "eos", "reward": 1.0, "correct": true}',
        '{"id": "letter-3", "loss": 1.42}',
    ]


def test_half_a_character_is_replaced_so_that_the_file_can_be_written(tmp_path):
    path = tmp_path / "000000.jsonl"
    write_items(path, [EvaluatedItem("a", "left \ud83d right")])
    assert read_items(path) == (EvaluatedItem("a", "left \ufffd right"),)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused_and_the_old_file_stays(tmp_path, number):
    path = tmp_path / "000000.jsonl"
    write_items(path, [EXAMPLE])
    with pytest.raises(ValueError, match="JSON"):
        write_items(path, [ANSWER, EvaluatedItem("a", loss=number)])
    assert read_items(path) == (EXAMPLE,)
    assert [one.name for one in tmp_path.iterdir()] == ["000000.jsonl"]


def test_no_file_means_no_items(tmp_path):
    assert read_items(evaluation_path(tmp_path, 0)) == ()


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("", id="empty"),
        pytest.param('{"id": "a", "te', id="torn"),
        pytest.param('["a"]', id="no_object"),
        pytest.param('{"loss": 1.0}', id="no_id"),
        pytest.param('{"id": "a", "right": true}', id="unknown_field"),
        pytest.param('{"id": "a", "correct": 1}', id="number_for_truth"),
        pytest.param('{"id": "a", "tokens": -1}', id="negative_length"),
        pytest.param('{"id": "a", "finish": "stop"}', id="unknown_finish"),
        pytest.param('{"id": "a", "reward": NaN}', id="not_a_number"),
        pytest.param('{"id": "a", "text": null}', id="null"),
    ],
)
def test_a_line_that_is_no_item_is_named(tmp_path, line):
    path = tmp_path / "000020.jsonl"
    path.write_text('{"id": "first", "loss": 1}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(StoreProblem) as caught:
        read_items(path)
    assert caught.value.problem == "Line 2 of 000020.jsonl is no evaluated item."
    assert "Delete that file" in caught.value.hint


def test_a_file_that_cannot_be_read_is_an_error_of_ours(tmp_path):
    (tmp_path / "000000.jsonl").mkdir()
    with pytest.raises(AgentError, match=r"000000\.jsonl"):
        read_items(tmp_path / "000000.jsonl")


def test_the_steps_are_those_of_the_files_in_their_order(tmp_path):
    for step in (100, 0, 20, 1_000_000):
        write_items(evaluation_path(tmp_path, step), [EXAMPLE])
    (tmp_path / "notes.jsonl").touch()
    (tmp_path / ".part-000030.jsonl").touch()
    assert evaluated_steps(tmp_path) == (0, 20, 100, 1_000_000)
    assert evaluated_steps(tmp_path / "missing") == ()
