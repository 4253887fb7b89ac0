"""Requests vary as people's do, and the words that decide stay."""

import random

import pytest

from local_training.routing.phrases import LANGUAGES, Language, read_bank
from local_training.routing.requests import spoken

BANKS = {language: read_bank(language) for language in LANGUAGES}
PHRASE = {"english": "check the traffic to Ghent", "chinese": "去昆明路上堵不堵？查一下"}
TRIES = 400


def many(language: Language) -> list[str]:
    return [spoken(PHRASE[language], language, BANKS, random.Random(seed)) for seed in range(TRIES)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_equal_chance_makes_equal_requests(language: Language):
    assert many(language) == many(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_phrase_is_said_in_many_ways(language: Language):
    assert len(set(many(language))) >= 60


@pytest.mark.parametrize("language", LANGUAGES)
def test_some_requests_are_too_long_for_the_router_with_the_wish_at_either_end(language: Language):
    lengthy = [text for text in many(language) if len(text) > 3 * len(PHRASE[language])]
    contexts = BANKS[language].frames["context"]
    assert TRIES * 0.05 < len(lengthy) < TRIES * 0.2
    assert any(text.startswith(contexts) for text in lengthy)
    assert any(text.endswith(contexts) for text in lengthy)


def test_some_english_words_are_mistyped_but_none_gets_lost():
    texts = [text.lower() for text in many("english")]
    mistyped = [text for text in texts if PHRASE["english"].lower() not in text]
    assert TRIES * 0.05 < len(mistyped) < TRIES * 0.25
    assert all(" to " in text for text in texts)


def test_some_chinese_characters_are_taken_for_others_of_the_same_sound():
    texts = {spoken("这个吗在哪做得好", "chinese", BANKS, random.Random(seed)) for seed in range(TRIES)}
    assert any("嘛" in text for text in texts)
    assert any("那" in text for text in texts)


def test_the_languages_are_mixed_now_and_then():
    foreign = BANKS["chinese"].frames["before"]
    assert any(text.startswith(foreign) for text in many("english"))


def test_capitals_and_end_marks_are_set_or_forgotten():
    texts = many("english")
    assert any(text == PHRASE["english"] for text in texts)
    assert any(text == f"C{PHRASE['english'][1:]}." for text in texts)
