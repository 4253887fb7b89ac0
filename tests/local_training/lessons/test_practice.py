"""The practice prompts that come with the program, and which of them belong to a lesson."""

import json
from collections import Counter
from itertools import combinations

import pytest

from engine.assets import asset_path
from local_training.lessons.inferring import infer_lesson
from local_training.lessons.lesson import Lesson
from local_training.lessons.practice import (
    TOPICS,
    PracticeProblem,
    choose_practice,
    concerned_languages,
    corrected_languages,
    practice_prompts,
    read_practice,
)
from local_training.lessons.similarity import Likeness, cosine, is_near_any, is_near_copy, word_set
from local_training.lessons.wording import language_of, length_units
from tests.local_training.lessons import scripted
from tests.local_training.lessons.scripted import corrections


def scope(name):
    """The lesson of that name and its practice prompts."""
    asked = corrections(scripted.FIVE_LESSONS[name])
    lesson = infer_lesson(asked)
    assert isinstance(lesson, Lesson)
    return choose_practice(lesson, asked, practice_prompts())


def test_there_are_enough_of_every_topic():
    counted = Counter((one.topic, one.language) for one in practice_prompts())
    assert {topic for topic, _ in counted} == set(TOPICS)
    assert all(counted[topic, "en"] >= 120 for topic in TOPICS)
    assert all(counted[topic, "zh"] >= 60 for topic in ("everyday", "facts", "measures", "extraction"))


def test_ids_and_prompts_occur_once():
    everything = practice_prompts()
    assert len({one.practice_id for one in everything}) == len(everything)
    assert len({one.prompt for one in everything}) == len(everything)


def test_prompts_and_answers_are_short_enough_for_quick_steps():
    assert max(length_units(one.prompt) for one in practice_prompts()) <= 45
    assert max(length_units(one.answer) for one in practice_prompts()) <= 45


def test_chinese_questions_have_enough_chinese_answers():
    answered = [one for one in practice_prompts() if one.answer]
    assert len(answered) >= 80
    assert all(language_of(one.prompt) == language_of(one.answer) == "zh" for one in answered)


def test_what_a_prompt_is_said_to_contain_is_in_it():
    for one in practice_prompts():
        assert all(str(content).casefold() in one.prompt.casefold() for content in one.fields.values()), one.practice_id


def test_prompts_of_open_topics_are_no_near_copies_of_each_other():
    open_topics = [one for one in practice_prompts() if one.topic in ("everyday", "writing") and one.language == "en"]
    sets = {one.practice_id: word_set(one.prompt) for one in open_topics}
    assert [pair for pair in combinations(sets, 2) if is_near_copy(sets[pair[0]], sets[pair[1]])] == []


def test_no_prompt_is_one_that_adapters_are_tested_with_or_held_to():
    suites = [path for folder in ("general", "probes") for path in asset_path("evaluations", folder).glob("*.jsonl")]
    asked = [json.loads(line).get("ask") for path in suites for line in path.read_text(encoding="utf-8").splitlines()]
    asked += asset_path("tasks", "everyday.txt").read_text(encoding="utf-8").splitlines()
    others = [word_set(text) for text in asked if isinstance(text, str)]
    assert len(others) > 1000
    assert [one.prompt for one in practice_prompts() if is_near_any(one.prompt, others)] == []


def test_near_copies_share_their_telling_words():
    def is_copy(left, right):
        return is_near_copy(word_set(left), word_set(right))

    assert is_copy("How do I boil an egg?", "Please tell me how to boil an egg.")
    assert is_copy("怎样煮鸡蛋？", "请问煮鸡蛋怎么煮？") or is_copy("怎样煮鸡蛋？", "煮鸡蛋应该怎么办？")
    assert not is_copy("What is a comet?", "What is a fossil?")
    assert not is_copy("什么是维生素？", "什么是火山？")
    assert is_copy("What is it?", "What is it?")


@pytest.mark.parametrize(
    ("name", "topics", "languages"),
    [
        ("metric", {"measures"}, {"en"}),
        ("json", {"extraction"}, {"en"}),
        ("language", {"everyday", "facts", "measures"}, {"zh"}),
    ],
)
def test_a_narrow_lesson_is_practised_on_prompts_like_those_corrected(name, topics, languages):
    found = scope(name)
    assert {one.topic for one in found} <= topics
    assert {one.language for one in found} == languages
    assert len(found) >= 90


@pytest.mark.parametrize("name", ["shorter", "name"])
def test_a_wide_lesson_is_practised_on_everyday_questions_and_not_on_extraction(name):
    topics = Counter(one.topic for one in scope(name))
    assert topics["everyday"] >= 100 and topics["facts"] >= 100
    assert "extraction" not in topics


def test_a_json_lesson_takes_only_prompts_that_have_what_its_keys_ask_for():
    assert all({"name", "age", "city"} <= one.fields.keys() for one in scope("json"))


def test_a_json_lesson_with_unknown_keys_takes_prompts_like_those_corrected():
    unknown = [
        (prompt, before, after.replace('"age"', '"mood"').replace('"city"', '"hat size"'))
        for prompt, before, after in scripted.JSON_KEYS
    ]
    asked = corrections(unknown)
    lesson = infer_lesson(asked)
    assert isinstance(lesson, Lesson)
    assert len(choose_practice(lesson, asked, practice_prompts())) >= 80


def test_near_copies_of_corrected_questions_are_left_out():
    ours = [one.prompt for one in practice_prompts() if one.topic == "everyday" and one.language == "en"][:8]
    asked = corrections([(f"{one} Please?", "- A.\n- B.", f"A {n}.") for n, one in enumerate(ours)])
    lesson = infer_lesson(asked)
    assert isinstance(lesson, Lesson)
    assert not {one.prompt for one in choose_practice(lesson, asked, practice_prompts())} & set(ours)


def test_languages_count_from_a_fifth_of_the_questions_on():
    assert corrected_languages(["one", "two", "three", "四"]) == {"en", "zh"}
    assert corrected_languages(["one", "two", "three", "four", "five", "六"]) == {"en"}


@pytest.mark.parametrize(
    ("name", "languages"), [("language", {"zh"}), ("shorter", set()), ("name", set()), ("metric", set())]
)
def test_a_lesson_about_the_language_of_answers_concerns_requests_in_the_corrected_ones(name, languages):
    asked = corrections(scripted.FIVE_LESSONS[name])
    lesson = infer_lesson(asked)
    assert isinstance(lesson, Lesson)
    prompts = [one.prompt for one in asked]
    assert concerned_languages(lesson, prompts) == languages
    assert concerned_languages(lesson, ["one", "二"]) == set(), "where it is about everything, nothing stands apart"


def test_likeness_is_highest_for_the_same_words_and_zero_for_none_in_common():
    texts = ["How do I boil an egg?", "How do I fry an egg?", "xyz", "怎么煮鸡蛋？", "怎么煎鸡蛋？"]
    likeness = Likeness(texts)
    boil, fry, other, steam, pan = map(likeness.vector, texts)
    assert cosine(boil, boil) == pytest.approx(1)
    assert cosine(boil, fry) > 0.4 > cosine(boil, steam)
    assert cosine(steam, pan) > 0.3
    assert cosine(boil, other) < 0.1
    assert likeness.vector("") == likeness.vector("  ") or cosine(boil, likeness.vector("")) == 0


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": "a", "prompt": "", "topic": "facts"}', "`prompt` must be a text"),
        ('{"id": "a", "prompt": "b", "topic": "gossip"}', "no topic `gossip`"),
        ('{"id": "a", "prompt": "b", "topic": "facts", "fields": [1]}', "`fields` must be an object"),
        ('{"id": "a", "prompt": "b", "topic": "facts", "extra": 1}', "unknown field `extra`"),
        ("{", "no JSON"),
    ],
)
def test_a_damaged_file_is_refused_with_line_and_reason(tmp_path, line, reason):
    (tmp_path / "facts-english.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(PracticeProblem, match="line 1") as caught:
        read_practice(tmp_path)
    assert reason in caught.value.problem
