"""Near-duplicates are merged, contradictions supersede, everything else stands side by side."""

from datetime import date

import pytest

from engine.memory.values import Memory
from engine.memory.writing.proposing import proposals_in
from engine.memory.writing.reconciling import Outcome, reconcile, says_the_same

MONDAY = date(2026, 11, 30)


def proposal(sentence):
    (found,) = proposals_in(sentence, MONDAY)
    return found


def memory(sentence, number=1):
    found = proposal(sentence)
    return Memory(
        number,
        found.text,
        found.kind,
        found.evidence,
        "t-1",
        "c-1",
        "typed",
        0.7,
        0.8,
        found.slot,
        found.due_on,
        "active",
        (),
        "2026-11-01T00:00:00+00:00",
        None,
        None,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("I live in Bergen.", "I moved to Oslo.", id="moved"),
        pytest.param("I work at Nordea.", "I changed jobs.", id="changed_jobs"),
        pytest.param("I'm a nurse.", "I quit my job.", id="quit"),
        pytest.param("I drink coffee every morning.", "I no longer drink coffee.", id="stopped"),
        pytest.param("I no longer drink coffee.", "I drink coffee again.", id="began_again"),
        pytest.param("I love coriander.", "I hate coriander.", id="opposite_liking"),
        pytest.param("I'm vegetarian.", "I'm not vegetarian anymore.", id="given_up"),
        pytest.param("I have a red car.", "I sold my car.", id="sold"),
        pytest.param("I'm 34 years old.", "I'm 35 years old.", id="another_number"),
        pytest.param("Answer in English.", "Please answer in Norwegian.", id="instruction"),
        pytest.param("My boss is called Anna.", "My new boss is called Tom.", id="another_name"),
        pytest.param("We have two kids.", "We have three kids now.", id="another_count"),
        pytest.param("I use an iPhone.", "I switched from iPhone to Android.", id="switched"),
        pytest.param("I play the guitar.", "I gave up the guitar.", id="gave_up"),
        pytest.param("My dog is called Rex.", "Rex died last week.", id="died"),
        pytest.param(
            "My dentist appointment is on December 3.",
            "My dentist appointment was moved to December 10.",
            id="postponed",
        ),
        pytest.param("我住在北京。", "我搬到上海了。", id="moved_zh"),
        pytest.param("我老板叫张伟。", "我的新老板叫李娜。", id="another_name_zh"),
        pytest.param("我有两个孩子。", "我现在有三个孩子了。", id="another_count_zh"),
        pytest.param("我下周三有面试。", "面试改到下周五了。", id="postponed_zh"),
        pytest.param("我在小米上班。", "我换工作了。", id="changed_jobs_zh"),
        pytest.param("我每天喝咖啡。", "我不再喝咖啡了。", id="stopped_zh"),
        pytest.param("我不再喝咖啡了。", "我又开始喝咖啡了。", id="began_again_zh"),
        pytest.param("我喜欢香菜。", "我讨厌香菜。", id="opposite_liking_zh"),
        pytest.param("我吃素。", "我不吃素了。", id="given_up_zh"),
        pytest.param("我有一辆红色的车。", "我把车卖了。", id="sold_zh"),
    ],
)
def test_what_cannot_hold_any_more_is_superseded(before, after):
    assert reconcile(proposal(after), [memory(before)], {}) == Outcome(None, (1,))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in Oslo.", "I live in Oslo."),
        ("I live in Oslo.", "i live in oslo!"),
        ("I really like green tea.", "I like green tea."),
        ("I'm allergic to peanuts.", "I am allergic to peanuts."),
        ("我喜欢喝茶。", "我很喜欢喝茶。"),
        ("我对花生过敏。", "我对花生严重过敏。"),
    ],
)
def test_the_same_again_is_merged(before, after):
    assert reconcile(proposal(after), [memory(before)], {}) == Outcome(1, ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I like tea.", "I like chess."),
        ("I like old movies.", "I like new movies now."),
        ("I have a coffee machine in the office kitchen.", "I no longer drink coffee."),
        ("I have two dogs.", "I have three cats now."),
        ("My sister has a car.", "My brother has a house now."),
        ("I live in Oslo.", "I work at Nordea."),
        ("I work at Nordea.", "I'm a nurse."),
        ("My sister drinks coffee.", "I no longer drink coffee."),
        ("My sister Anna lives in Lund.", "My sister Berit lives in Lund."),
        ("I have a dentist appointment next Friday.", "I have a dentist appointment tomorrow."),
        ("我喜欢茶。", "我喜欢下棋。"),
        ("我妹妹喝咖啡。", "我不再喝咖啡了。"),
    ],
)
def test_different_things_stand_side_by_side(before, after):
    assert reconcile(proposal(after), [memory(before)], {}) == Outcome()


def test_nearness_of_meaning_merges_only_what_also_shares_words():
    assert says_the_same(proposal("I adore long mountain walks."), memory("I adore long walks in forests."), 0.95)
    assert not says_the_same(proposal("I adore long mountain walks."), memory("I collect old stamps."), 0.99)


def test_the_same_said_beside_something_else_supersedes_only_that():
    known = [memory("I live in Oslo.", 1), memory("I live in Bergen.", 2)]
    assert reconcile(proposal("I live in Oslo."), known, {}) == Outcome(1, (2,))
