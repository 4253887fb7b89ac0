"""From a lesson to examples and held-out prompts: a clean split, adherent answers, files that a run reads."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from engine.errors import UsageProblem
from local_training.example_files import read_examples
from local_training.examples import AnswerExample
from local_training.lessons.building import (
    MOST_EXAMPLES,
    TARGET_SUITE,
    LessonData,
    adherence,
    build,
    build_planned,
    imitation_suite,
    suite_hash,
    target_suite,
)
from local_training.lessons.inferring import infer_lesson
from local_training.lessons.layout import AsBullets
from local_training.lessons.lengths import Shorter
from local_training.lessons.lesson import Lesson
from local_training.lessons.lesson_files import (
    Anchor,
    LessonRecipe,
    read_held_out,
    recipe_text,
    write_lesson,
)
from local_training.lessons.planning import LessonPlan, LessonSizes, plan_lesson
from local_training.lessons.replying import FormalYou
from local_training.lessons.sampling import SamplingRequest, sampling_requests
from local_training.lessons.similarity import is_near_copy, word_set
from local_training.runs.data import check_data, data_content, run_examples
from local_training.runs.recipe import parse_recipe, read_recipe
from tests.local_training.lessons import scripted
from tests.local_training.lessons.scripted import corrections

NAMES = tuple(scripted.FIVE_LESSONS)
ANSWERS = {
    "shorter": "It takes ten minutes. There is more to say about it, but that would be long and hard to read.",
    "metric": "It is about 12 feet. Some are larger than that.",
    "name": "The best way is to start early. It takes some practice.",
    "json": "",
    "language": "",
}


@cache
def lesson_of(name) -> Lesson:
    lesson = infer_lesson(corrections(scripted.FIVE_LESSONS[name]))
    assert isinstance(lesson, Lesson)
    return lesson


@cache
def plan_of(name, seed=0):
    return plan_lesson(lesson_of(name), corrections(scripted.FIVE_LESSONS[name]), seed)


@cache
def data_of(name, seed=0):
    plan = plan_of(name, seed)
    answers = {request.practice_id: [ANSWERS[name]] for request in sampling_requests(plan)}
    return build_planned(plan, answers)


def learned(data: LessonData) -> list[AnswerExample]:
    return [one for one in data.examples if "contrast" not in one.tags]


def for_lesson(plan: LessonPlan, requests: Sequence[SamplingRequest]) -> list[SamplingRequest]:
    """Those whose answers are learned, and not only kept."""
    others = {one.practice_id for one in plan.contrast}
    return [one for one in requests if one.practice_id not in others]


@pytest.mark.parametrize("name", NAMES)
def test_there_is_enough_to_learn_from_and_to_test_with(name):
    data = data_of(name)
    assert 48 <= len(learned(data)) <= len(data.examples) <= MOST_EXAMPLES
    assert len(data.held_out) >= 42
    assert len(data.off_target) == 24


@pytest.mark.parametrize("name", NAMES)
def test_every_trained_answer_follows_the_lesson(name):
    for example in learned(data_of(name)):
        assert lesson_of(name).adheres(example.messages[0].text, example.answer)


@pytest.mark.parametrize("name", NAMES)
def test_no_prompt_is_both_trained_and_tested_nor_a_near_copy(name):
    data = data_of(name)
    tested = [word_set(item.prompt) for item in data.held_out if not item.wanted]
    trained = {example.messages[0].text for example in data.examples}
    assert not any(is_near_copy(word_set(prompt), other) for prompt in trained for other in tested)
    assert not trained & {item.prompt for item in data.held_out}
    assert not trained & set(data.off_target)


@pytest.mark.parametrize("name", NAMES)
def test_the_newest_corrections_are_held_out_with_what_the_user_wants(name):
    newest = corrections(scripted.FIVE_LESSONS[name])[-2:]
    own = [item for item in data_of(name).held_out if item.wanted]
    assert [(item.prompt, item.wanted) for item in own] == [(one.prompt, one.after) for one in newest]


def test_the_users_own_answers_are_repeated_but_not_more_than_three_times():
    data = data_of("shorter")
    prompts = [example.messages[0].text for example in data.examples if "correction" in example.tags]
    assert set(map(prompts.count, prompts)) == {3}
    assert data.own_examples == len(prompts) == 18


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("shorter", True),  # to end early is the lesson
        ("json", True),
        ("name", False),
        ("metric", False),
        ("language", True),  # whole answers, written by people
    ],
)
def test_where_an_answer_was_only_cut_its_end_is_not_learned(name, ends: bool):
    assert {one.ends for one in data_of(name).examples if "practice" in one.tags} == {ends}


@pytest.mark.parametrize("name", ["name", "shorter"])
def test_that_people_write_little_when_they_correct_is_not_learned_unless_it_is_the_lesson(name):
    lesson = replace(lesson_of(name), incidental=(Shorter(most_units=10),))
    for plan, ends in ((plan_of(name), True), (replace(plan_of(name), lesson=lesson), name == "shorter")):
        answers = {one.practice_id: [ANSWERS[name]] for one in plan.training_practice}
        examples = build_planned(plan, answers).examples
        assert {one.ends for one in examples if "correction" in one.tags} == {ends}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_data_and_another_seed_other_prompts(name):
    asked = corrections(scripted.FIVE_LESSONS[name])
    answers = {request.practice_id: [ANSWERS[name]] for request in sampling_requests(plan_of(name))}
    assert build(lesson_of(name), asked[::-1], answers, 0) == data_of(name)
    assert data_of(name, 1).held_out != data_of(name).held_out


@pytest.mark.parametrize("name", ["shorter", "metric", "name"])
def test_where_a_program_can_rewrite_the_model_is_asked_plainly_and_once(name):
    requests = for_lesson(plan_of(name), sampling_requests(plan_of(name)))
    prompts = {one.practice_id: one.prompt for one in plan_of(name).training_practice}
    assert requests
    assert all(one.text == prompts[one.practice_id] and one.samples == 1 for one in requests)
    assert all(one.temperature == 0.0 for one in requests)


@pytest.mark.parametrize("name", ["json", "language"])
def test_where_the_practice_file_has_the_answer_the_model_is_hardly_asked(name):
    plan = plan_of(name)
    assert len(for_lesson(plan, sampling_requests(plan))) <= len(plan.training_practice) / 3


@pytest.mark.parametrize("name", NAMES)
def test_where_the_lesson_does_not_apply_the_beginning_of_the_own_answer_is_kept(name):
    plan, data = plan_of(name), data_of(name)
    kept = {one.example_id: one for one in data.examples if "contrast" in one.tags}
    assert len(plan.contrast) == 24 and not {one.prompt for one in plan.contrast} & set(data.off_target)
    scope = {(one.topic, one.language) for one in (*plan.training_practice, *plan.held_out_practice)}
    assert not scope & {(one.topic, one.language) for one in plan.contrast}
    asked = {one.practice_id: one for one in sampling_requests(plan) if one.practice_id in kept}
    assert all((one.samples, one.temperature, one.max_tokens) == (1, 0.0, 12) for one in asked.values())
    assert len(kept) == (24 if ANSWERS[name] else 0)  # of an empty answer there is nothing to keep
    assert all((one.answer, one.ends) == (ANSWERS[name], False) for one in kept.values())


def test_where_no_program_can_rewrite_the_model_is_told_and_the_best_of_its_answers_is_learned():
    asked = corrections([(p, f"你可以这样做。{a}", f"请您这样做。{a}") for p, _, a in scripted.LANGUAGE])
    lesson = Lesson((FormalYou(),), (), 8)
    plan = plan_lesson(lesson, asked, 0)
    requests = for_lesson(plan, sampling_requests(plan))
    assert 20 <= len(requests) <= 40
    assert all(one.text.endswith(lesson.instruction("zh")) and one.samples > 1 for one in requests)
    answers = {one.practice_id: ["请稍等。", "请您先休息一下。"] for one in requests}
    practised = [one for one in build_planned(plan, answers).examples if one.example_id in answers]
    assert len(practised) == len(requests)
    assert {one.answer for one in practised} == {"请您先休息一下。"}
    assert not any(lesson.instruction("zh") in one.messages[0].text for one in practised)


def test_the_caller_may_have_the_model_told_where_a_program_would_do():
    requests = for_lesson(plan_of("name"), sampling_requests(plan_of("name"), tells=True))
    assert all(one.text.endswith(lesson_of("name").instruction("en")) for one in requests)


def test_lists_are_made_of_the_first_sentences():
    asked = corrections([(p, b, f"- {a}\n- That is all.") for p, b, a in scripted.SHORTER])
    plan = plan_lesson(Lesson((AsBullets(),), (), 8), asked, 0)
    answers = {one.practice_id: ["1. Boil the water. Add salt.\n2. Wait"] for one in sampling_requests(plan)}
    practised = [one for one in build_planned(plan, answers).examples if "practice" in one.tags]
    assert practised
    assert {one.answer for one in practised} == {"- Boil the water.\n- Add salt."}


@pytest.mark.parametrize("answer", ["", "...", "No", "It has no end", "so so so " * 40 + "."])
def test_useless_answers_of_the_model_are_not_learned(answer):
    plan = plan_of("name")
    data = build_planned(plan, {one.practice_id: [answer] for one in plan.training_practice})
    assert data.own_examples == len(data.examples)


def test_an_imitation_holds_out_a_third_and_has_no_practice():
    asked = corrections([(f"Question {n}: {'why ' * n}?", "Old.", f"{n} is {'so ' * n}new {n}") for n in range(24)])
    lesson = infer_lesson(asked)
    assert isinstance(lesson, Lesson) and lesson.is_imitation
    data = build_planned(replace(plan_lesson(lesson, asked, 0)), {})
    assert data.held_out and all(item.wanted for item in data.held_out)
    suite = imitation_suite(data, {item.item_id: 1.5 for item in data.held_out})
    assert {item.nats_per_token for item in suite.items} == {1.5}


def test_corrections_that_leave_nothing_are_refused():
    with pytest.raises(UsageProblem, match="nothing to learn"):
        build(lesson_of("name"), [], {}, 0)


def test_sizes_are_kept():
    plan = plan_lesson(
        lesson_of("metric"),
        corrections(scripted.METRIC),
        0,
        sizes=LessonSizes(training_practice=5, held_out_practice=7),
    )
    assert (len(plan.training_practice), len(plan.held_out_practice)) == (5, 7)


def test_where_prompts_are_few_tests_come_first_but_something_is_left_to_learn_from():
    chinese = [(f"第{n}个东西有多大？", f"大约 {n}0 英里。", f"大约 {n}6 公里。") for n in range(1, 9)]
    lesson = infer_lesson(corrections(chinese))
    assert isinstance(lesson, Lesson)
    plan = plan_lesson(lesson, corrections(chinese), 0)
    assert len(plan.held_out_practice) >= 40
    assert len(plan.training_practice) >= 20
    few = plan_lesson(lesson, corrections(chinese), 0, practice=[*plan.held_out_practice[:10]])
    assert (len(few.held_out_practice), len(few.training_practice)) == (5, 5)


def test_the_target_suite_says_who_followed_and_is_of_these_items():
    data = data_of("name")
    answers = {item.item_id: "Mira, yes." if place % 2 else "Yes." for place, item in enumerate(data.held_out)}
    suite = target_suite(data, answers)
    assert (suite.suite, suite.role, suite.content_hash) == (TARGET_SUITE, "target", suite_hash(data))
    assert [item.is_right for item in suite.items] == list(adherence(data, answers).values())
    assert suite_hash(data) != suite_hash(data_of("name", 1))
    with pytest.raises(KeyError):
        target_suite(data, {})


@pytest.mark.parametrize("name", NAMES)
def test_a_run_reads_what_is_written_and_trains_on_all_of_it(name, tmp_path):
    data = data_of(name)
    path = write_lesson(tmp_path, data, LessonRecipe(), 3)
    recipe = read_recipe(path)
    examples = tmp_path / recipe.data
    check_data(data_content(examples, recipe), examples.name, recipe)
    split = run_examples(data_content(examples, recipe), examples.name, recipe)
    assert (recipe.kind, recipe.seed, recipe.expert) == ("sft", 3, "L0")
    assert split.training == data.examples == read_examples(examples, "sft").examples
    assert split.held_out == ()


def test_H4_a_run_knows_which_turns_its_examples_are_from(tmp_path):
    data = data_of("name")
    path = write_lesson(tmp_path, data, LessonRecipe(), 3)
    recipe = read_recipe(path)
    sources = check_data(data_content(tmp_path / recipe.data, recipe), recipe.data, recipe)
    own = {source for example in data.examples if "correction" in example.tags for source in example.sources}
    assert own and set(sources) == own


@pytest.mark.parametrize("name", NAMES)
def test_what_is_held_out_can_be_read_back(name, tmp_path):
    data = data_of(name)
    write_lesson(tmp_path, data, LessonRecipe(), 0)
    again = read_held_out((tmp_path / "held-out.json").read_text(encoding="utf-8"))
    assert (again.lesson, again.held_out, again.off_target) == (data.lesson, data.held_out, data.off_target)
    assert suite_hash(again) == suite_hash(data)


@pytest.mark.parametrize("text", ["[]", "{}", json.dumps({"lesson": {}, "held_out": [], "off_target": []}), "nothing"])
def test_something_else_is_not_read_as_held_out(text):
    with pytest.raises(ValueError, match="it "):
        read_held_out(text)


def test_steps_fit_the_minutes_and_the_anchor_is_a_table_of_its_own():
    data = data_of("name")
    short, long = LessonRecipe(minutes=1.0), LessonRecipe(minutes=60.0, anchor=Anchor(2.0))
    assert short.steps(len(data.examples)) == 13
    assert long.steps(len(data.examples)) == -(-4 * len(data.examples) // 8)
    recipe = parse_recipe(recipe_text(data, long, 0).encode(), "recipe.toml")
    assert recipe.anchor.weight == 2.0
    assert parse_recipe(recipe_text(data, short, 0).encode(), "recipe.toml").anchor.weight == 0.0
    apart = LessonRecipe(anchor=Anchor(2.0, leave_out=("zh",)))
    assert parse_recipe(recipe_text(data, apart, 0).encode(), "recipe.toml").anchor.leave_out == ("zh",)
