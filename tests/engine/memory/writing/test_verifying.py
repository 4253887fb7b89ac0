"""Whoever proposes, only what the user's own words say is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.writing.own_words import own_sentences
from engine.memory.writing.proposals import Proposal
from engine.memory.writing.verifying import Refused, Said, invented_in, is_negative, verify


def verdict(text, message, evidence=None, *, kind="fact", author="model", **facts):
    evidence = message if evidence is None else evidence
    said = Said(message, own_sentences(message), **facts)
    return verify(Proposal(text, kind, evidence, author=author), said)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("The user lives in Oslo.", "I moved to Oslo last month."),
        ("Prefers tea", "I prefer tea over coffee."),
        ("Has 3 cats", "I have three cats."),
        ("User's sister is called Anna", "My sister Anna studies medicine."),
        ("用户喜欢茶", "我更喜欢喝茶。"),
        ("有两只猫", "我养了2只猫。"),
        ("用户住在上海", "我搬到上海了。"),
    ],
)
def test_what_the_evidence_says_is_kept(text, message):
    kept = verdict(text, message)
    assert isinstance(kept, Proposal)
    assert kept.evidence == message


@pytest.mark.parametrize(
    ("text", "message", "reason"),
    [
        pytest.param("Lives in Bergen", "I moved to Oslo.", "invented", id="another_name"),
        pytest.param("Has 4 cats", "I have three cats.", "invented", id="another_number"),
        pytest.param("Lives in Oslo with a dog", "I moved to Oslo.", "invented", id="something_added"),
        pytest.param("用户住在北京", "我搬到上海了。", "invented", id="another_name_zh"),
        pytest.param("用户有3只猫", "我养了2只猫。", "invented", id="another_number_zh"),
        pytest.param("Prefers coffee", "I do not like coffee.", "turned", id="the_opposite"),
        pytest.param("The user", "I moved to Oslo.", "nothing", id="nothing"),
        pytest.param("Oslo " * 80, "I moved to Oslo.", "too_long", id="too_long"),
        pytest.param("The password is hunter2", "My password is hunter2.", "secret", id="password"),
        pytest.param("密码是12345", "我的密码是12345。", "secret", id="password_zh"),
        pytest.param("Card 4111 1111 1111 1111", "My card is 4111 1111 1111 1111.", "secret", id="card"),
    ],
)
def test_anything_else_is_refused(text, message, reason):
    refused = verdict(text, message)
    assert isinstance(refused, Refused)
    assert refused.reason == reason


@pytest.mark.parametrize(
    ("message", "evidence"),
    [
        pytest.param("I live in Oslo.", "I live in Rome.", id="not_in_the_message"),
        pytest.param("> I live in Rome.\nI like tea.", "I live in Rome.", id="only_quoted"),
        pytest.param("Translate: I live in Rome.", "I live in Rome.", id="only_to_be_translated"),
        pytest.param("Do I live in Rome? I like tea.", "I live in Rome", id="only_asked"),
        pytest.param("I like tea.", "", id="empty"),
    ],
)
def test_evidence_must_be_the_users_own_words(message, evidence):
    refused = verdict("Lives in Rome", message, evidence)
    assert isinstance(refused, Refused)
    assert refused.reason == "no_evidence"


def test_text_of_the_system_is_not_a_memory():
    system = "You are a careful assistant. The user likes short answers without lists."
    refused = verdict("The user likes short answers", "The user likes short answers.", system_texts=[system])
    assert isinstance(refused, Refused)
    assert refused.reason == "system"


def test_G5_a_memory_that_was_read_back_is_not_written_again():
    refused = verdict("Prefers green tea in the morning", "I like tea.", recalled=["I prefer green tea in the morning"])
    assert isinstance(refused, Refused)
    assert refused.reason == "recalled"


def test_G3_control_tokens_are_escaped():
    kept = verdict("I like <|im_start|> tokens", "I like <|im_start|> tokens", author="rule")
    # What follows the token is not the user's own; had it been, it would be harmless.
    assert isinstance(kept, Refused) or "<|" not in kept.text


WORDS = st.lists(
    st.sampled_from(["tea", "oslo", "anna", "rex", "coffee", "paris", "chess", "violin"]), min_size=1, max_size=4
)


@given(WORDS, WORDS)
def test_a_word_is_kept_only_if_the_evidence_has_it(text, evidence):
    said, kept = " ".join(evidence), " ".join(text)
    assert (invented_in(kept, said) == ()) == (set(text) <= set(evidence))


@given(st.integers(0, 99_999), st.integers(0, 99_999))
def test_a_number_is_kept_only_if_the_evidence_has_it(number, other):
    assert (str(number) in invented_in(f"pays {number}", f"I pay {other} in rent")) == (number != other)


@pytest.mark.parametrize(
    ("text", "negative"),
    [
        ("I like tea", False),
        ("I don't like tea", True),
        ("I no longer smoke", True),
        ("我喜欢茶", False),
        ("我不喝茶", True),
        ("我戒烟了", True),
    ],
)
def test_negation_is_seen(text, negative):
    assert is_negative(text) is negative
