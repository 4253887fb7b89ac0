"""The phrases that come with the program: whole, apart from each other, and filled in by chance alone."""

import random
import re

import pytest

from engine.assets import asset_path
from engine.routing.profile import load_profile
from local_training.routing.phrases import LANGUAGES, Bank, Language, filled, read_bank, read_sections
from local_training.routing.sections import PURPOSES

HAN = re.compile(r"[\u4e00-\u9fff]")
DRAWS = 5


@pytest.fixture(scope="module", params=LANGUAGES)
def bank(request: pytest.FixtureRequest) -> Bank:
    return read_bank(request.param)


def test_a_slot_in_a_slot_is_filled_too_and_all_else_stays():
    slots = {"who": ("{name}'s sister",), "name": ("Ida",)}
    assert filled("ask {who} for {print $1} or {X}", slots, random.Random(0)) == (
        "ask Ida's sister for {print $1} or {X}"
    )


def test_an_unknown_slot_is_an_error():
    with pytest.raises(KeyError, match="nobody"):
        filled("ask {nobody}", {}, random.Random(0))


def test_every_expert_of_the_starter_has_many_phrases_in_either_language(bank: Bank):
    assert set(bank.requests) == set(PURPOSES.values())
    assert min(len(phrases) for phrases in bank.requests.values()) >= 40


def test_the_purposes_are_those_of_the_starters_experts():
    profile = load_profile(asset_path("profiles", "starter"))
    adapters = {expert.expert: expert.adapter_name for expert in profile.experts}
    assert adapters == {expert: f"starter-{purpose}" for expert, purpose in PURPOSES.items()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_can_be_filled_in(language: Language):
    bank, sections = read_bank(language), read_sections()
    phrases = [phrase for some in (*bank.requests.values(), *bank.slots.values()) for phrase in some]
    phrases += [phrase for expert in sections.invented.values() for phrase in expert.requests[language]]
    for phrase in phrases:
        for seed in range(DRAWS):
            assert re.search(r"\{[a-z_]+\}", filled(phrase, bank.slots, random.Random(seed))) is None, phrase


def test_no_phrase_stands_twice_and_none_is_for_two_experts(bank: Bank):
    phrases = [phrase for some in bank.requests.values() for phrase in some]
    assert len(phrases) == len(set(phrases))


def test_chinese_phrases_are_chinese_and_english_ones_are_not():
    chinese, english = read_bank("chinese"), read_bank("english")
    wordless = {"{error}", "{widget}"}
    for phrase in (phrase for some in chinese.requests.values() for phrase in some):
        slots_only = re.sub(r"\{[a-z_]+\}|\W|bash", "", phrase) in ("", "Dockerfile", "JSON")
        assert HAN.search(phrase) or slots_only or phrase in wordless, phrase
    assert not any(HAN.search(phrase) for some in english.requests.values() for phrase in some)


def test_invented_experts_are_many_and_none_is_for_mathematics():
    invented = read_sections().invented
    assert len(invented) >= 15
    texts = " ".join(
        text
        for expert in invented.values()
        for text in (*expert.wordings, *expert.requests["english"], *expert.requests["chinese"])
    )
    words = ("math", "arithmetic", "equation", "geometry", "probability", "proof", "数学", "方程", "几何", "概率")
    assert [word for word in words if word in texts.lower()] == []


def test_every_expert_of_the_starter_has_other_wordings_and_every_route_text_its_placeholders():
    sections = read_sections()
    assert set(sections.own) == set(PURPOSES.values())
    assert min(len(wordings) for wordings in sections.own.values()) >= 3
    for route in sections.routes:
        assert "{{LORA_DESCRIPTIONS}}" in route
        assert "{{ROUTE_LABELS}}" in route
