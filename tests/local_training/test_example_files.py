"""Example files: what is read of each kind, and that every fault is found with its line and reason."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UsageProblem
from local_training.example_files import ExampleFileProblem, parse_examples, read_examples
from local_training.examples import AnswerExample, ExampleKind, has_both_labels, split_examples
from local_training.line_files import MOST_FILE_BYTES, MOST_LINE_BYTES
from local_training.tasks import RewardSpec, Task, TaskMessage, split_tasks

ANSWERS: dict[ExampleKind, dict[str, Any]] = {
    "sft": {"answer": "Two minutes."},
    "dpo": {"chosen": "Two minutes.", "rejected": "It depends."},
    "kto": {"answer": "Two minutes.", "good": True},
}


def line(kind: ExampleKind, **changes: Any) -> bytes:
    """A line without a fault, but for what `changes` makes of it; None takes a field away."""
    fields = {"id": "e-1", "prompt": "How long does tea steep?", "expert": "L0"} | ANSWERS[kind] | changes
    return json.dumps({name: value for name, value in fields.items() if value is not None}, ensure_ascii=False).encode()


def written(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(one + b"\n" for one in lines))
    return path


def example(example_id: str, group: str = "", is_good: bool | None = None) -> AnswerExample:
    return AnswerExample(example_id, (TaskMessage("user", "Hi."),), "L0", "Hello.", is_good=is_good, group=group)


@pytest.mark.parametrize(
    ("kind", "answer", "rejected", "is_good"),
    [
        pytest.param("sft", "Two minutes.", None, None, id="sft"),
        pytest.param("dpo", "Two minutes.", "It depends.", None, id="dpo"),
        pytest.param("kto", "Two minutes.", None, True, id="kto"),
    ],
)
def test_an_example_has_what_its_kind_learns_from(kind, answer, rejected, is_good):
    (found,), faults = parse_examples(line(kind), kind)
    assert faults == ()
    assert (found.answer, found.rejected, found.is_good) == (answer, rejected, is_good)


def test_an_answer_ends_unless_the_line_says_that_it_goes_on():
    (whole,), _ = parse_examples(line("sft"), "sft")
    (begun,), _ = parse_examples(line("sft", ends=False), "sft")
    assert (whole.ends, begun.ends) == (True, False)


def test_an_example_has_all_else_that_its_line_says():
    prompt = [{"role": "system", "content": "简短回答。"}, {"role": "user", "content": "绿茶泡多久？"}]
    (found,), _ = parse_examples(line("sft", prompt=prompt, answer="两分钟。", group="tea", tags=["zh"]), "sft")
    assert found.messages == (TaskMessage("system", "简短回答。"), TaskMessage("user", "绿茶泡多久？"))
    assert (found.example_id, found.expert, found.answer) == ("e-1", "L0", "两分钟。")
    assert (found.split_key, found.tags) == ("tea", ("zh",))


@pytest.mark.parametrize(
    ("given", "sources"), [("t-1", ("t-1",)), (["t-1", "t-2", "t-1"], ("t-1", "t-2")), ([], ()), (None, ())]
)
def test_an_example_may_name_the_turns_it_was_made_from(given, sources):
    (found,), faults = parse_examples(line("sft", source=given), "sft")
    assert faults == () and found.sources == sources


@pytest.mark.parametrize("given", [7, "", " t-1", ["t-1", 7], {"id": "t-1"}, ["t"] * 65], ids=str)
def test_a_source_that_is_no_name_is_a_fault(given):
    _, (fault,) = parse_examples(line("sft", source=given), "sft")
    assert "source" in fault.reason


def test_an_example_without_a_group_is_a_group_of_its_own():
    (found,), _ = parse_examples(line("sft"), "sft")
    assert found.split_key == "e-1"


def test_answers_are_kept_to_the_letter():
    (found,), _ = parse_examples(line("sft", answer="\n two\u2028minutes \n"), "sft")
    assert found.answer == "\n two\u2028minutes \n"


@pytest.mark.parametrize(
    ("kind", "changes", "reason"),
    [
        pytest.param("sft", {"answer": None}, "`answer` is missing; sft needs it", id="sft_without_answer"),
        pytest.param("dpo", {"chosen": None}, "`chosen` is missing", id="dpo_without_chosen"),
        pytest.param("dpo", {"rejected": None}, "`rejected` is missing", id="dpo_without_rejected"),
        pytest.param("kto", {"answer": None}, "`answer` is missing", id="kto_without_answer"),
        pytest.param("kto", {"good": None}, "`good` is missing; kto needs it", id="kto_without_label"),
        pytest.param("sft", {"answer": ""}, "`answer` must be a text that is not empty", id="empty_answer"),
        pytest.param("sft", {"answer": " \n\u3000"}, "`answer` must be a text that is not empty", id="blank_answer"),
        pytest.param("sft", {"answer": ["x"]}, "`answer` must be a text", id="answer_is_a_list"),
        pytest.param("dpo", {"rejected": "\t"}, "`rejected` must be a text that is not empty", id="blank_rejected"),
        pytest.param("dpo", {"rejected": "Two minutes."}, "`chosen` and `rejected` are the same", id="same_answers"),
        pytest.param("kto", {"good": 1}, "`good` must be true or false", id="label_is_a_number"),
        pytest.param("kto", {"good": "true"}, "`good` must be true or false", id="label_is_a_text"),
        pytest.param("sft", {"good": True}, "`good` belongs to kto, and this is sft", id="kto_field_in_sft"),
        pytest.param("sft", {"ends": "no"}, "`ends` must be true or false", id="end_is_a_text"),
        pytest.param("dpo", {"ends": False}, "the example has the unknown field `ends`", id="end_in_dpo"),
        pytest.param("sft", {"chosen": "x"}, "`chosen` belongs to dpo, and this is sft", id="dpo_field_in_sft"),
        pytest.param("kto", {"rejected": "x"}, "`rejected` belongs to dpo, and this is kto", id="dpo_field_in_kto"),
        pytest.param("dpo", {"answer": "x"}, "`answer` belongs to sft and kto, and this is dpo", id="answer_in_dpo"),
        pytest.param("sft", {"reward": {}}, "`reward` belongs to the tasks of rl and rft", id="a_task"),
        pytest.param("sft", {"Answer": "x"}, "the example has the unknown field `Answer`", id="unknown_field"),
        pytest.param("sft", {"prompt": None}, "`prompt` must be", id="no_prompt"),
        pytest.param("sft", {"id": None}, "`id` is missing", id="no_id"),
        pytest.param("sft", {"expert": ""}, "`expert` must be a text", id="empty_expert"),
        pytest.param("sft", {"group": ""}, "`group` must be a text", id="empty_group"),
        pytest.param("sft", {"tags": "x"}, "`tags` must be a list", id="tags_are_a_text"),
        pytest.param("sft", {"answer": "x" * MOST_LINE_BYTES}, "longer than 1024 KiB", id="long_answer"),
    ],
)
def test_a_fault_is_said_with_its_reason(kind, changes, reason):
    examples, (fault,) = parse_examples(line(kind, **changes), kind)
    assert (examples, fault.line) == ((), 1)
    assert reason in fault.reason


def test_half_a_character_in_an_answer_is_a_fault():
    _, (fault,) = parse_examples(line("sft").replace(b"minutes", b"\\ud83c"), "sft")
    assert "half of a character" in fault.reason


def test_faults_hide_neither_one_another_nor_the_other_examples():
    content = b"\n".join([line("sft"), b"[]", line("sft", id="e-2"), line("sft"), b"", line("dpo", id="e-3")])
    examples, faults = parse_examples(content, "sft")
    assert [found.example_id for found in examples] == ["e-1", "e-2"]
    assert [(fault.line, fault.reason) for fault in faults] == [
        (2, "it is no JSON object"),
        (4, "the id `e-1` is already that of line 1"),
        (5, "it is empty"),
        (6, "`chosen` belongs to dpo, and this is sft"),
    ]


def test_the_hash_of_a_file_is_of_its_whole_content(tmp_path: Path):
    path = written(tmp_path / "泡茶.jsonl", line("sft"), line("sft", id="e-2"))
    found = read_examples(path, "sft")
    assert len(found.examples) == 2
    assert found.content_hash == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_with_a_fault_is_refused_whole_and_says_where(tmp_path: Path):
    path = written(tmp_path / "泡茶.jsonl", line("sft"), line("sft", id="e-2", answer=""))
    with pytest.raises(ExampleFileProblem) as caught:
        read_examples(path, "sft")
    assert caught.value.problem == "泡茶.jsonl has 1 fault:\n  line 2: `answer` must be a text that is not empty"
    assert "Nothing of the file was used" in caught.value.hint
    assert caught.value.exit_code == UsageProblem.exit_code


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str):
    with pytest.raises(ExampleFileProblem, match="cannot be read"):
        read_examples(tmp_path / name, "sft")


def test_a_file_without_an_example_is_said(tmp_path: Path):
    with pytest.raises(ExampleFileProblem, match="holds no example"):
        read_examples(written(tmp_path / "none.jsonl"), "sft")


def test_a_file_that_is_too_large_is_refused_before_it_is_understood(tmp_path: Path):
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(MOST_FILE_BYTES + 1)
    with pytest.raises(ExampleFileProblem, match="larger than 256 MiB"):
        read_examples(path, "sft")


@pytest.mark.parametrize(("label", "missing"), [(True, "Add bad answers"), (False, "Add good answers")])
def test_kto_needs_good_and_bad_answers(tmp_path: Path, label: bool, missing: str):
    path = written(tmp_path / "kto.jsonl", *(line("kto", id=f"e-{n}", good=label) for n in range(3)))
    with pytest.raises(ExampleFileProblem, match=rf"`good` is {str(label).lower()} in all 3 lines") as caught:
        read_examples(path, "kto")
    assert missing in caught.value.hint
    written(path, line("kto", good=True), line("kto", id="e-2", good=False))
    assert has_both_labels(read_examples(path, "kto").examples)


def test_paraphrases_of_an_example_stay_on_one_side():
    examples = [example(f"e-{group}-{n}", group=f"g-{group}") for group in range(40) for n in range(5)]
    split = split_examples(examples, 0.3)
    assert split.held_out
    assert {one.group for one in split.training}.isdisjoint(one.group for one in split.held_out)


def test_an_example_is_held_out_where_a_task_of_its_name_is():
    names = [f"n-{n}" for n in range(50)]
    tasks = [Task(name, (TaskMessage("user", "Hi."),), "L0", (RewardSpec("format", {}),)) for name in names]
    examples = split_examples([example(name) for name in names], 0.2).held_out
    assert [one.example_id for one in examples] == [one.task_id for one in split_tasks(tasks, 0.2).held_out]


def test_a_side_of_examples_that_chance_left_empty_is_said():
    with pytest.raises(UsageProblem, match=r"Of 1 examples in 1 groups none is (held out|for training)"):
        split_examples([example("only")], 0.5)
