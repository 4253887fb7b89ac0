"""What a run may learn from: lines for its expert, with something on both sides of the split."""

import json
from typing import Any

import pytest

from engine.errors import UsageProblem
from local_training.example_files import ExampleFileProblem
from local_training.examples import AnswerExample
from local_training.runs.data import check_data, run_examples, run_tasks
from local_training.runs.recipe import Recipe
from local_training.task_files import TaskFileProblem
from local_training.tasks import Task

REWARD = {"reward": {"name": "exact", "expected": "Paris"}}
ANSWER = {"answer": "Paris"}


def recipe(kind: str, **tables: dict[str, Any]) -> Recipe:
    return Recipe.model_validate({"kind": kind, "data": "data.jsonl", "steps": 2, **tables})


def content(fields: dict[str, Any], experts: str = "L0 " * 20, **more: list[Any]) -> bytes:
    """A line for each of the experts; `more` has a value for each line."""
    lines = [
        {
            "id": f"n-{n}",
            "prompt": "?",
            "expert": expert,
            **fields,
            **{name: values[n] for name, values in more.items()},
        }
        for n, expert in enumerate(experts.split())
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize("kind", ["rl", "rft"])
def test_tasks_are_split_as_the_recipe_says(kind: str):
    split = run_tasks(content(REWARD), "data.jsonl", recipe(kind, evaluation={"held_out": 0.3}))
    assert (len(split.training) + len(split.held_out), isinstance(split.training[0], Task)) == (20, True)
    assert 2 <= len(split.held_out) <= 10


def test_examples_are_split_as_the_recipe_says():
    split = run_examples(content(ANSWER), "data.jsonl", recipe("sft", evaluation={"held_out": 0.3}))
    assert (len(split.training) + len(split.held_out), isinstance(split.held_out[0], AnswerExample)) == (20, True)


@pytest.mark.parametrize(("kind", "fields"), [("rl", REWARD), ("sft", ANSWER)])
def test_lines_for_other_experts_are_counted_and_refused(kind: str, fields: dict[str, Any]):
    with pytest.raises(UsageProblem, match="there are 3 for L2, 1 for L1, but the recipe trains L0") as caught:
        check_data(content(fields, "L0 L2 L1 L2 L0 L2"), "data.jsonl", recipe(kind))
    assert "`expert`" in caught.value.hint


def test_tasks_do_for_kinds_that_sample_and_examples_for_the_others():
    with pytest.raises(ExampleFileProblem, match="`reward` belongs to the tasks"):
        check_data(content(REWARD), "data.jsonl", recipe("sft"))
    with pytest.raises(TaskFileProblem, match="unknown field `answer`"):
        check_data(content(ANSWER), "data.jsonl", recipe("rl"))
    with pytest.raises(UsageProblem, match="has tasks, no examples"):
        run_examples(content(ANSWER), "data.jsonl", recipe("rl"))


def test_an_evaluation_needs_something_held_out():
    with pytest.raises(UsageProblem, match=r"Up to 200 tasks are to be evaluated, but evaluation.held_out is 0"):
        check_data(content(REWARD), "data.jsonl", recipe("rl", evaluation={"held_out": 0.0}))
    with pytest.raises(UsageProblem, match=r"none is held out at a held-out share of 0\.0001"):
        check_data(content(REWARD), "data.jsonl", recipe("rl", evaluation={"held_out": 0.0001}))


@pytest.mark.parametrize("share", [0.0, 0.0001])
def test_without_an_evaluation_nothing_need_be_held_out(share: float):
    split = run_tasks(content(REWARD), "data.jsonl", recipe("rl", evaluation={"held_out": share, "items": 0}))
    assert (len(split.training), split.held_out) == (20, ())


@pytest.mark.parametrize("items", [0, 50])
def test_something_must_be_left_to_train_on(items: int):
    with pytest.raises(UsageProblem, match="none is for training"):
        check_data(content(REWARD), "data.jsonl", recipe("rl", evaluation={"held_out": 0.999, "items": items}))


def test_kto_needs_both_labels_among_what_is_trained_on():
    held_out = {one.example_id for one in run_examples(content(ANSWER), "data.jsonl", recipe("sft")).held_out}
    labels = [f"n-{n}" in held_out for n in range(20)]
    with pytest.raises(UsageProblem, match="that are trained on, `good` is the same in all"):
        check_data(content(ANSWER, good=labels), "data.jsonl", recipe("kto"))
    labels[next(n for n in range(20) if f"n-{n}" not in held_out)] = True
    assert run_examples(content(ANSWER, good=labels), "data.jsonl", recipe("kto")).training


@pytest.mark.parametrize(("kind", "fields"), [("rl", REWARD), ("sft", ANSWER)])
def test_the_sources_of_what_is_trained_on_are_found_and_no_others(kind: str, fields: dict[str, Any]):
    given = content(fields, source=[f"t-{n}" for n in range(20)])
    wanted = recipe(kind, evaluation={"held_out": 0.3})
    split = (run_tasks if kind == "rl" else run_examples)(given, "data.jsonl", wanted)
    trained = {source for item in split.training for source in item.sources}
    found = check_data(given, "data.jsonl", wanted)
    assert set(found) == trained and all(len(digest) == 64 for digest in found.values())
    assert {source for item in split.held_out for source in item.sources} - trained


def test_the_hash_of_a_source_follows_what_was_made_from_it():
    def sources(answer: str) -> dict[str, str]:
        answers = [answer, *["Paris"] * 19]
        given = content({}, answer=answers, source=["t-1", "t-1", *["t-2"] * 18])
        return check_data(given, "data.jsonl", recipe("sft", evaluation={"held_out": 0.0, "items": 0}))

    one, other = sources("Paris"), sources("Rome")
    assert one["t-2"] == other["t-2"] and one["t-1"] != other["t-1"]


def test_data_without_sources_has_none():
    assert check_data(content(ANSWER), "data.jsonl", recipe("sft")) == {}
