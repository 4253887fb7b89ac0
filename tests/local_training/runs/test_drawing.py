"""The groups of a step: which tasks are asked, what their branches are worth, and which groups are kept."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from local_training.losses import overlong_penalty
from local_training.rewards import Balance, balanced
from local_training.runs.drawing import Drawn, JudgedGroup, draw_groups, judged_rollouts
from local_training.runs.order import take
from local_training.tasks import Task
from tests.local_training.runs.sampling import LOUD, RIGHT, Said, ScriptedSampler, inputs_of, recipe_of, task_of

TASKS = tuple(task_of(f"t-{n}") for n in range(10))
GRADED = task_of("t-0", RIGHT, LOUD)
MIXED = ("yes", "no", "no")


def mixed(_: str, branch: int) -> Said:
    return Said(MIXED[branch])


def only(*names: str) -> Callable[[str, int], Said]:
    """Groups that differ in reward for these tasks, and all wrong ones for the others."""
    return lambda name, branch: mixed(name, branch) if name in names else Said("no")


def draw(
    say: Callable[[str, int], Said],
    *,
    kind: str = "rl",
    tasks: tuple = TASKS,
    start: int = 0,
    step: int = 1,
    **tables: Any,
) -> tuple[Drawn, ScriptedSampler]:
    recipe = recipe_of(kind, **{"batch": {"prompts": 4}, **tables, "rollouts": rollouts(tables)})
    sampler = ScriptedSampler(say)
    return draw_groups(inputs_of(tasks), sampler, recipe, step=step, start=start), sampler  # type: ignore[arg-type]


def rollouts(tables: dict[str, Any]) -> dict[str, Any]:
    return {"branches": 3, "max_tokens": 8, **tables.get("rollouts", {})}


def names(groups: tuple[JudgedGroup, ...]) -> list[str]:
    return [group.task_id for group in groups]


def order(start: int, count: int) -> list[str]:
    return [task.task_id for task in take(TASKS, start, count, seed=0)]


# Which tasks are asked


def test_a_step_takes_the_next_tasks_of_the_order_when_all_can_teach():
    drawn, sampler = draw(mixed, start=3)
    assert sampler.asked == [order(3, 4)]
    assert names(drawn.kept) == names(drawn.all_groups) == order(3, 4)
    assert drawn.taken == 4


def test_they_are_asked_as_the_recipe_says():
    drawn, sampler = draw(mixed, step=5, seed=0, rollouts={"temperature": 0.7, "together": 9})
    ((prompts, settings, seed, step),) = sampler.calls
    assert (settings.branches, settings.max_tokens, settings.temperature, settings.together) == (3, 8, 0.7, 9)
    assert (seed, step) == (0, 5)
    assert [group.prompt for group in drawn.kept] == [prompt.tokens for prompt in prompts]


def test_another_wave_is_drawn_for_the_groups_that_teach_nothing():
    first = order(0, 4)
    drawn, sampler = draw(only(first[1], *order(4, 6)))
    # One of four was of use, so four are drawn for each of the three that are missing: all that are left.
    assert sampler.asked == [first, order(4, 6)]
    assert names(drawn.kept) == [first[1], *order(4, 3)]
    assert len(drawn.all_groups) == 10


def test_when_all_groups_are_equal_nothing_is_kept_and_the_waves_are_bounded():
    many = tuple(task_of(f"t-{n}") for n in range(500))
    drawn, sampler = draw(only(), tasks=many, rollouts={"waves": 3})
    assert [len(asked) for asked in sampler.asked] == [4, 16, 16]
    assert drawn.kept == ()
    assert (len(drawn.all_groups), drawn.taken) == (36, 36)


def test_one_wave_is_all_where_the_recipe_says_so():
    drawn, sampler = draw(only(), rollouts={"waves": 1})
    assert (len(sampler.calls), drawn.taken) == (1, 4)


@pytest.mark.parametrize("start", range(12))
def test_no_step_asks_a_task_twice_and_each_has_its_full_number(start: int):
    drawn, sampler = draw(only(), start=start, rollouts={"waves": 16})
    assert max(Counter(name for asked in sampler.asked for name in asked).values()) == 1
    # The second pass may begin with tasks that the end of the first one asked already.
    assert [len(asked) for asked in sampler.asked] == [4, 6]
    assert len(drawn.all_groups) == len(TASKS)


@pytest.mark.parametrize("start", [0, 3, 8])
def test_places_that_are_used_up_are_those_up_to_the_last_task_asked(start: int):
    drawn, sampler = draw(mixed, start=start)
    passed = order(start, drawn.taken)
    assert passed[-1] == sampler.asked[-1][-1]
    assert set(passed) == set(names(drawn.all_groups))


def test_all_tasks_without_use_take_no_more_places_than_it_took_to_ask_them():
    drawn, _ = draw(only(), rollouts={"waves": 16})
    assert drawn.taken == len(TASKS)


def test_fewer_tasks_than_wanted_are_all_asked_once():
    drawn, sampler = draw(only("t-1"), tasks=TASKS[:3], batch={"prompts": 8}, rollouts={"waves": 5})
    assert [sorted(asked) for asked in sampler.asked] == [["t-0", "t-1", "t-2"]]
    assert (names(drawn.kept), drawn.taken) == (["t-1"], 3)


def test_rft_keeps_groups_with_an_answer_good_enough_to_imitate_even_where_all_are():
    words = {"t-0": "yes", "t-1": "no"}
    drawn, _ = draw(lambda name, _: Said(words[name]), kind="rft", tasks=TASKS[:2], rollouts={"waves": 1})
    assert names(drawn.kept) == ["t-0"]


def test_rft_draws_again_for_groups_without_a_good_answer():
    first = order(0, 4)
    drawn, sampler = draw(lambda name, _: Said("no" if name in first else "yes"), kind="rft")
    assert len(sampler.calls) == 2
    assert set(names(drawn.kept)) <= set(order(4, 6))


def test_progress_is_told_group_by_group():
    told: list[tuple[int, int]] = []
    first = order(0, 4)
    recipe = recipe_of("rl", batch={"prompts": 4}, rollouts={"branches": 3, "max_tokens": 8})
    sampler = ScriptedSampler(only(*first[:3], *order(4, 6)))
    draw_groups(
        inputs_of(TASKS), sampler, recipe, step=1, start=0, report=lambda done, total: told.append((done, total))
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4), (5, 6), (6, 6)]


def test_what_is_drawn_depends_on_nothing_but_seed_step_and_place():
    assert draw(mixed, start=3) == draw(mixed, start=3)
    assert draw(mixed, start=3)[0] != draw(mixed, start=3, seed=1)[0]


# What they are worth


def first_group(say: Callable[[str, int], Said], *, task: Task = GRADED, **tables: Any) -> JudgedGroup:
    drawn, _ = draw(say, tasks=(task,), **tables)
    (group,) = drawn.all_groups
    return group


def said(*branches: Said) -> Callable[[str, int], Said]:
    return lambda _, branch: branches[branch]


def test_a_branch_is_worth_what_the_tasks_rewards_give():
    group = first_group(said(Said("yes!"), Said("no!"), Said("no")))
    assert group.rewards == (1.0, 0.5, 0.0)
    assert [one.value for one in group.rollouts] == [1.0, 0.5, 0.0]
    assert [one.is_correct for one in group.rollouts] == [True, False, False]


def test_right_answers_lose_by_length_where_the_recipe_says_so():
    lengths = (1, 4, 8)
    group = first_group(
        said(Said("yes", (1,)), Said("yes", (1,) * 4), Said("no", (1,) * 8)),
        task=task_of("t-0"),
        reward={"length_strength": 0.5, "longest_tokens": 4},
    )
    expected = balanced([1.0, 1.0, 0.0], [True, True, False], lengths, Balance(0.5, 4))
    assert group.rewards == expected
    assert expected[0] == 1.0 > expected[1] > expected[2] == 0.0
    assert [one.value for one in group.rollouts] == [1.0, 1.0, 0.0]


def test_without_a_longest_length_the_limit_is_meant():
    lengths = (1, 4, 8)
    group = first_group(
        said(*(Said("yes", (1,) * length) for length in lengths)),
        task=task_of("t-0"),
        reward={"length_strength": 1.0},
    )
    assert group.rewards == balanced([1.0] * 3, [True] * 3, lengths, Balance(1.0, 8))
    assert len(set(group.rewards)) == 3


def test_equal_answers_of_different_length_can_teach_where_length_counts():
    say = said(Said("yes", (1,)), Said("yes", (1,) * 4), Said("yes", (1,) * 8))
    kept = [len(draw(say, tasks=(TASKS[0],), reward={"length_strength": strength})[0].kept) for strength in (0.0, 0.5)]
    assert kept == [0, 1]


def test_near_the_limit_every_answer_loses_by_overlong_shaping():
    lengths = (3, 6, 8)
    group = first_group(
        said(Said("no", (1,) * 3), Said("yes", (1,) * 6), Said("no", (1,) * 8, "length")),
        task=task_of("t-0"),
        reward={"overlong_tokens": 4},
    )
    penalties = [overlong_penalty(length, 8, 4) for length in lengths]
    assert penalties == [0.0, -0.5, -1.0]
    assert group.rewards == (0.0, 0.5, -1.0)
    assert [one.value for one in group.rollouts] == [0.0, 1.0, 0.0]


CUT = said(Said("yes"), Said("no", (1,) * 8, "length"), Said("no"))


def test_answers_that_were_cut_off_are_judged_as_they_stand_by_default():
    assert first_group(CUT, task=TASKS[0]).rewards == (1.0, 0.0, 0.0)


def test_masked_answers_that_were_cut_off_teach_nothing_but_are_not_forgotten():
    group = first_group(CUT, task=TASKS[0], reward={"unfinished": "mask"})
    assert group.rewards == (1.0, 0.0)
    assert [one.rollout.branch for one in group.rollouts] == [0, 2]
    assert [one.rollout.branch for one in group.left_out] == [1]
    assert len(judged_rollouts([group])) == 3


def test_a_group_whose_finished_answers_are_equal_cannot_teach():
    drawn, _ = draw(
        said(Said("yes"), Said("no", (1,) * 8, "length"), Said("yes")),
        tasks=(TASKS[0],),
        reward={"unfinished": "mask"},
    )
    assert (drawn.kept, len(drawn.all_groups)) == ((), 1)


def test_a_group_of_which_all_were_cut_off_is_left_with_nothing():
    cut = Said("no", (1,) * 8, "length")
    group = first_group(said(cut, cut, cut), task=TASKS[0], reward={"unfinished": "mask"})
    assert (group.rollouts, len(group.left_out), group.prompt) == ((), 3, (0,))


# The control


def test_shuffling_gives_the_rewards_of_a_group_to_other_branches_of_it():
    texts = ("yes!", "no!", "no", "no", "no", "no")
    seen = set()
    for step in range(1, 9):
        group = first_group(
            lambda _, branch: Said(texts[branch]),
            step=step,
            reward={"shuffled": True},
            rollouts={"branches": 6},
        )
        assert sorted(group.rewards) == [0.0, 0.0, 0.0, 0.0, 0.5, 1.0]
        assert [one.value for one in group.rollouts] == [1.0, 0.5, 0.0, 0.0, 0.0, 0.0]
        assert [one.is_correct for one in group.rollouts] == [True, *[False] * 5]
        seen.add(group.rewards)
    assert len(seen) > 3


def test_shuffling_is_the_same_again_for_one_seed_and_step():
    many = {"reward": {"shuffled": True}, "rollouts": {"branches": 8}}

    def say(_: str, branch: int) -> Said:
        return Said("yes" if branch < 4 else "no")

    first, again, later, other = (
        draw(say, step=step, **many, seed=seed)[0].all_groups for step, seed in ((1, 0), (1, 0), (2, 0), (1, 1))
    )
    assert first == again
    assert [group.rewards for group in first] != [group.rewards for group in later]
    by_name = {group.task_id: group.rewards for group in other}
    assert any(by_name.get(group.task_id, group.rewards) != group.rewards for group in first)
    assert len({group.rewards for group in first}) > 1
