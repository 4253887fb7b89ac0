"""The short-answer tasks that come with the program: enough of them, apart on both sides, none giving itself away.

Reads the file and asks no model.
"""

import re
from collections import Counter
from functools import cache
from itertools import product
from typing import Final

import pytest

from engine.assets import asset_path
from local_training.rewards import Outcome, build_reward
from local_training.task_files import read_tasks
from local_training.tasks import RewardSpec, Split, Task, TaskMessage, split_tasks

HELD_OUT_SHARE: Final = 0.45
FAMILIES: Final = frozenset(
    {
        "abbreviation",
        "arithmetic",
        "author",
        "body",
        "capital",
        "category",
        "colour",
        "comparison",
        "continent",
        "count",
        "creator",
        "currency",
        "element",
        "group-noun",
        "home",
        "job",
        "landmark",
        "language",
        "material",
        "opposite",
        "past-tense",
        "plural",
        "product",
        "science",
        "sequence",
        "shape",
        "sport",
        "superlative",
        "tool",
        "translation",
        "unit",
        "year",
    }
)
COMMON_WORD_TASKS: Final = 5
"""A word that more prompts have belongs to how questions are asked, not to what one is about."""


@pytest.fixture(scope="module")
def tasks() -> tuple[Task, ...]:
    return read_tasks(asset_path("tasks", "short-answers.jsonl")).tasks


@pytest.fixture(scope="module")
def split(tasks: tuple[Task, ...]) -> Split[Task]:
    return split_tasks(tasks, HELD_OUT_SHARE)


def prompt(task: Task) -> str:
    return task.messages[-1].text


@cache
def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def is_answer(text: str, task: Task) -> bool:
    """By the reward's own rule."""
    (spec,) = task.rewards
    return build_reward(spec).judge(Outcome(text, (), "eos")).value == 1.0


def answers(task: Task) -> list[str]:
    (spec,) = task.rewards
    return [answer.casefold() for answer in spec.parameters["expected"]]


def tells(question: Task, other: Task) -> bool:
    """Whether the words of `question` hold an answer to the other."""
    return any(words(answer) <= words(prompt(question)) for answer in answers(other))


def state_one_fact(one: Task, other: Task, common: frozenset[str]) -> bool:
    """Whether both ask for the same thing about the same subject, or each asks for what the other tells.

    The subject of a question is among its words that hardly any other question has.
    """
    subjects = (words(prompt(one)) & words(prompt(other))) - common
    is_same_answer = not set(answers(one)).isdisjoint(answers(other))
    return bool(subjects and is_same_answer) or (tells(one, other) and tells(other, one))


def asked(question: str, *expected: str) -> Task:
    reward = RewardSpec("exact", {"expected": list(expected), "where": "anywhere"})
    return Task(question, (TaskMessage("user", question),), "L0", (reward,))


@pytest.mark.parametrize(
    ("question", "answer", "is_one_fact"),
    [
        ("Which city does France have as its capital?", "Paris", True),
        ("Paris is the capital of which country?", "France", True),
        ("What language do people speak in France?", "French", False),
        ("In which city is the Louvre?", "Paris", False),
    ],
)
def test_a_fact_is_known_in_other_words_and_the_other_way_round(question: str, answer: str, is_one_fact: bool):
    capital = asked("What is the capital of France?", "Paris")
    common = words("What which city is the capital of country in")
    assert state_one_fact(capital, asked(question, answer), common) is is_one_fact


def test_both_sides_have_tasks_enough_to_learn_from_and_to_judge_by(split: Split[Task]):
    assert len(split.training) >= 300
    assert len(split.held_out) >= 250


def test_every_task_is_one_plain_question_with_one_reward_that_looks_anywhere(tasks: tuple[Task, ...]):
    for task in tasks:
        (message,), (spec,) = task.messages, task.rewards
        assert (message.role, spec.name, spec.parameters["where"]) == ("user", "exact", "anywhere"), task.task_id
        assert task.expert == "L0", task.task_id


def test_answers_have_one_to_three_words(tasks: tuple[Task, ...]):
    assert [task.task_id for task in tasks if not 1 <= len(answers(task)[0].split()) <= 3] == []


def test_no_prompt_holds_its_own_answer(tasks: tuple[Task, ...]):
    assert [task.task_id for task in tasks if is_answer(prompt(task), task)] == []


def test_no_answer_is_a_word_that_any_long_text_has(tasks: tuple[Task, ...]):
    text = "Well, I am not sure: it is one of a few, so yes or no. As for me, I'd say it's all in all what they do."
    assert [task.task_id for task in tasks if is_answer(text, task)] == []


def test_every_right_spelling_alone_is_right(tasks: tuple[Task, ...]):
    for task in tasks:
        assert all(is_answer(f"It is {answer}.", task) for answer in answers(task)), task.task_id


def test_ids_and_prompts_are_unique_and_ids_are_plain_lower_case(tasks: tuple[Task, ...]):
    assert all(re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", task.task_id) for task in tasks)
    assert len({prompt(task) for task in tasks}) == len(tasks)


def test_every_task_has_one_known_family_and_a_group_within_it(tasks: tuple[Task, ...]):
    for task in tasks:
        (family,) = task.tags
        assert family in FAMILIES, task.task_id
        assert task.group.startswith(f"{family}-"), task.task_id
        assert task.task_id.startswith(task.group), task.task_id
    assert {task.tags[0] for task in tasks} == FAMILIES


def test_no_family_is_more_than_15_percent_of_either_side(split: Split[Task]):
    for side in (split.training, split.held_out):
        (_, most), *_ = Counter(task.tags[0] for task in side).most_common(1)
        assert most <= len(side) * 0.15


def test_no_group_is_on_both_sides(split: Split[Task]):
    assert {task.group for task in split.training}.isdisjoint(task.group for task in split.held_out)


def test_no_fact_is_on_both_sides_under_another_group(tasks: tuple[Task, ...], split: Split[Task]):
    uses = Counter(word for task in tasks for word in words(prompt(task)))
    common = frozenset(word for word, times in uses.items() if times > COMMON_WORD_TASKS)
    shared = [
        (one.task_id, other.task_id)
        for one, other in product(split.training, split.held_out)
        if state_one_fact(one, other, common)
    ]
    assert shared == []
