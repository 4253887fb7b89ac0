"""Which tasks are trained on and which are held out."""

import pytest

from engine.errors import UsageProblem
from local_training.tasks import RewardSpec, Task, TaskMessage, is_held_out, split_tasks


def task(task_id: str, group: str = "") -> Task:
    return Task(task_id, (TaskMessage("user", "Hi."),), "L0", (RewardSpec("format", {"finished": True}),), group=group)


def test_about_the_wanted_share_is_held_out():
    tasks = [task(f"t-{n}") for n in range(2000)]
    split = split_tasks(tasks, 0.2)
    assert 340 < len(split.held_out) < 460
    assert len(split.training) + len(split.held_out) == 2000


def test_paraphrases_stay_on_one_side():
    tasks = [task(f"t-{group}-{n}", group=f"g-{group}") for group in range(40) for n in range(5)]
    split = split_tasks(tasks, 0.3)
    assert {one.group for one in split.training}.isdisjoint(one.group for one in split.held_out)
    assert split.held_out


def test_no_task_changes_sides_when_others_come_or_go():
    tasks = [task(f"t-{n}") for n in range(50)]
    before = {one.task_id for one in split_tasks(tasks, 0.2).held_out}
    after = {one.task_id for one in split_tasks([task(f"new-{n}") for n in range(50)] + tasks[::-1], 0.2).held_out}
    assert {task_id for task_id in after if task_id.startswith("t-")} == before


def test_a_larger_share_only_adds_to_what_is_held_out():
    keys = [f"key {n}" for n in range(200)]
    small, large = ({key for key in keys if is_held_out(key, share)} for share in (0.1, 0.4))
    assert small < large


def test_the_split_never_changes_between_versions():
    # Another hash would move tasks that were trained on into the tests of an adapter.
    assert [n for n in range(20) if is_held_out(f"t-{n}", 0.25)] == HELD_OUT_OF_TWENTY


HELD_OUT_OF_TWENTY = [4, 7, 11, 13, 16, 18]


def test_a_side_that_chance_left_empty_is_said():
    with pytest.raises(UsageProblem, match=r"none is (held out|for training)"):
        split_tasks([task("only")], 0.5)


def test_nothing_is_held_out_when_nothing_was_to_be():
    assert split_tasks([task("only")], 0.0).held_out == ()


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(UsageProblem, match="held-out share"):
        split_tasks([task("only")], share)
