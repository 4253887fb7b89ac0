"""Task files: what is read, and that every fault is found with its line and reason."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from local_training.line_files import MOST_LINE_BYTES, MOST_PROMPT_CHARACTERS
from local_training.task_files import TaskFileProblem, parse_tasks, read_tasks
from local_training.tasks import RewardSpec, TaskMessage

EXACT = {"name": "exact", "expected": "Paris"}


def line(**changes: Any) -> bytes:
    """A line without a fault, but for what `changes` makes of it; None takes a field away."""
    fields = {"id": "t-1", "prompt": "What is the capital of France?", "expert": "L0", "reward": EXACT} | changes
    return json.dumps({name: value for name, value in fields.items() if value is not None}, ensure_ascii=False).encode()


def fault_of(content: bytes) -> str:
    tasks, (fault,) = parse_tasks(content)
    assert (tasks, fault.line) == ((), 1)
    return fault.reason


def test_a_task_has_all_that_its_line_says():
    (task,), faults = parse_tasks(
        line(
            prompt=[
                {"role": "system", "content": "简短回答。"},
                {"role": "user", "content": "你好"},
                {"role": "assistant", "content": "你好！"},
                {"role": "user", "content": "法国的首都是哪里？"},
            ],
            reward=[EXACT | {"weight": 2}, {"name": "length", "most": 40}],
            group="capital-of-france",
            tags=["geography", "zh"],
        )
    )
    assert faults == ()
    assert task.messages[0] == TaskMessage("system", "简短回答。")
    assert [message.role for message in task.messages[1:]] == ["user", "assistant", "user"]
    assert task.rewards == (RewardSpec("exact", {"expected": "Paris"}, 2.0), RewardSpec("length", {"most": 40}))
    assert (task.expert, task.split_key, task.tags) == ("L0", "capital-of-france", ("geography", "zh"))


def test_a_task_may_name_the_turns_it_was_made_from():
    (one,), _ = parse_tasks(line(source="t-01"))
    (several,), _ = parse_tasks(line(source=["t-01", "t-02"]))
    assert (one.sources, several.sources) == (("t-01",), ("t-01", "t-02"))
    assert "`source`" in fault_of(line(source=[""]))


def test_a_task_of_folding_names_the_messages_that_are_folded_before_its_prompt():
    (task,), _ = parse_tasks(line(folds=["My seat is 12F.", "我对花生过敏。"]))
    assert task.folds == ("My seat is 12F.", "我对花生过敏。")
    assert parse_tasks(line())[0][0].folds == ()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"folds": "one"}, "`folds` must be a list", id="no-list"),
        pytest.param({"folds": ["a", " "]}, "list of texts", id="empty"),
        pytest.param({"folds": ["x" * (MOST_PROMPT_CHARACTERS + 1)]}, "more than", id="long"),
        pytest.param(
            {"folds": ["a"], "prompt": [{"role": r, "content": "x"} for r in ("user", "assistant", "user")]},
            "one message as its `prompt`",
            id="several-messages",
        ),
    ],
)
def test_messages_to_fold_that_cannot_be_used_are_a_fault(changes: dict[str, Any], reason: str):
    assert reason in fault_of(line(**changes))


def test_a_task_without_a_group_is_a_group_of_its_own():
    (task,), _ = parse_tasks(line())
    assert (task.split_key, task.tags) == ("t-1", ())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"\xef\xbb\xbf", "byte order mark", id="bom_alone"),
        pytest.param("{}".encode("utf-16"), "not valid UTF-8 at byte 1", id="utf_16"),
        pytest.param(line().replace(b"Paris", b"Par\xffis"), "not valid UTF-8", id="broken_utf_8"),
        pytest.param(b"\n", "empty", id="empty_line"),
        pytest.param(b"  \t", "empty", id="blank_line"),
        pytest.param(b"[1]", "no JSON object", id="list"),
        pytest.param(line()[:-2], "no JSON", id="truncated"),
        pytest.param(line().replace(b'"Paris"', b"NaN"), "NaN", id="nan"),
        pytest.param(line()[:-1] + b', "id": "t-2"}', "`id` twice", id="key_twice"),
        pytest.param(line(prompt="x" * MOST_LINE_BYTES), "longer than 1024 KiB", id="long_line"),
        pytest.param(line(prompt="x" * (MOST_PROMPT_CHARACTERS + 1)), "more than 200,000 characters", id="long_prompt"),
        pytest.param(line(rewards=[EXACT]), "unknown field `rewards`", id="unknown_field"),
        pytest.param(line(id=None), "`id` is missing", id="no_id"),
        pytest.param(line(id=7), "`id` must be a text", id="id_is_a_number"),
        pytest.param(line(id=" t"), "`id` must be a text", id="id_with_space"),
        pytest.param(line(id="a\x1b[2Jb"), "`id` must be a text", id="id_with_control_characters"),
        pytest.param(line(id="x" * 201), "`id` has more than 200 characters", id="long_id"),
        pytest.param(line(expert=None), "`expert` is missing", id="no_expert"),
        pytest.param(line(prompt=None), "`prompt` must be", id="no_prompt"),
        pytest.param(line(prompt=[]), "`prompt` must be", id="no_messages"),
        pytest.param(line(prompt="  "), "has no text", id="blank_prompt"),
        pytest.param(line(prompt=[{"role": "tool", "content": "x"}]), "no role 'tool'", id="unknown_role"),
        pytest.param(line(prompt=[{"role": "user", "text": "x"}]), "unknown field `text`", id="message_field"),
        pytest.param(line(prompt=[{"role": "assistant", "content": "x"}]), "end with the user", id="assistant_alone"),
        pytest.param(line(prompt=[{"role": "system", "content": "x"}]), "end with the user", id="system_alone"),
        pytest.param(line(prompt=[{"role": "user", "content": "x"}] * 2), "by turns", id="two_user_messages"),
        pytest.param(line(tags="x"), "`tags` must be a list", id="tags_are_a_text"),
        pytest.param(line(tags=["x"] * 65), "more than 64", id="many_tags"),
        pytest.param(line(reward=None), "`reward` must be a list", id="no_reward"),
        pytest.param(line(reward=[]), "at least one reward", id="no_rewards"),
        pytest.param(line(reward={"expected": "x"}), "no `name`", id="nameless_reward"),
        pytest.param(line(reward={"name": "vibes"}), "no reward `vibes`", id="unknown_reward"),
        pytest.param(line(reward={"name": "exact"}), "`expected`", id="reward_lacks_parameter"),
        pytest.param(line(reward=EXACT | {"fuzzy": 1}), "no parameter `fuzzy`", id="unknown_parameter"),
        pytest.param(line(reward=EXACT | {"weight": 0}), "`weight` must be a number above 0", id="weight_zero"),
        pytest.param(line(reward=EXACT | {"weight": True}), "`weight` must be a number above 0", id="weight_true"),
    ],
)
def test_a_fault_is_said_with_its_reason(content, reason):
    assert reason in fault_of(content)


def test_faults_hide_neither_one_another_nor_the_other_tasks():
    content = b"\n".join([line(), b"{", line(id="t-2"), line(id="t-1"), b"", line(id="t-3")]) + b"\n"
    tasks, faults = parse_tasks(content)
    assert [task.task_id for task in tasks] == ["t-1", "t-2", "t-3"]
    assert [fault.line for fault in faults] == [2, 4, 5]
    assert faults[1].reason == "the id `t-1` is already that of line 1"


def test_a_byte_order_mark_is_the_only_fault_of_a_file_that_has_one():
    tasks, faults = parse_tasks(b"\xef\xbb\xbf" + line())
    assert len(tasks) == 1
    assert [(fault.line, "byte order mark" in fault.reason) for fault in faults] == [(1, True)]


def test_lines_may_end_as_windows_ends_them_and_hold_other_line_separators():
    tasks, faults = parse_tasks(line(prompt="one\u2028two") + b"\r\n" + line(id="t-2"))
    assert (len(tasks), faults) == (2, ())
    assert tasks[0].messages[0].text == "one\u2028two"


def test_the_hash_of_a_file_is_of_its_whole_content(tmp_path: Path):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line() + b"\n")
    task_set = read_tasks(path)
    assert task_set.content_hash == hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(line() + b"\r\n")
    changed = read_tasks(path)
    assert changed.tasks == task_set.tasks
    assert changed.content_hash != task_set.content_hash


def test_a_file_with_a_fault_is_refused_whole_and_says_where(tmp_path: Path):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b"\n".join([line(), *[b"{"] * 30]))
    with pytest.raises(TaskFileProblem) as caught:
        read_tasks(path)
    assert "tasks.jsonl has 30 faults:\n  line 2: it is no JSON" in caught.value.problem
    assert caught.value.problem.endswith("and 10 more")
    assert "Nothing of the file was used" in caught.value.hint


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str):
    with pytest.raises(TaskFileProblem, match="cannot be read"):
        read_tasks(tmp_path / name)


def test_a_file_without_a_task_is_said(tmp_path: Path):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b"")
    with pytest.raises(TaskFileProblem, match="holds no task"):
        read_tasks(path)
