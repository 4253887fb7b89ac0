"""Checks against the world: the day has passed, the user said so, the link is dead."""

from dataclasses import replace
from datetime import date

import pytest

from engine.memory.checking import date_passed, link_dead, links, says_over, user_said_so
from tests.engine.memory.test_weighting import TOLD


def about(text):
    return replace(TOLD, text=text)


@pytest.mark.parametrize(
    ("due_on", "event"), [("2026-11-29", "check_failed"), ("2026-11-30", None), ("2026-12-01", None), ("", None)]
)
def test_a_day_that_is_over(due_on, event):
    assert date_passed(replace(TOLD, due_on=due_on), date(2026, 11, 30)) == event


@pytest.mark.parametrize(
    ("answers", "event"),
    [
        ([True, True], "check_passed"),
        ([False, False], "check_failed"),
        ([True, False], None),
        ([None, False], None),
    ],
)
def test_links_that_answer_and_links_that_do_not(answers, event):
    replies = iter(answers)
    memory = about("I read https://a.example/x and http://b.example, daily")
    assert link_dead(memory, lambda link: next(replies)) == event


def test_a_memory_without_a_link_has_nothing_to_check():
    assert link_dead(about("I like tea"), lambda link: False) is None
    assert links("see https://a.example/x. 和 https://b.example/茶。好") == (
        "https://a.example/x",
        "https://b.example/茶",
    )


@pytest.mark.parametrize(
    ("memory", "sentence"),
    [
        ("I love Luigi's, five stars", "Luigi's has closed for good."),
        ("My favourite restaurant is the Blue Lotus", "The Blue Lotus closed down last week."),
        ("I go to Kaffebrenneriet daily", "Kaffebrenneriet is permanently closed."),
        ("The book club meets on Fridays", "The book club was cancelled."),
        ("我喜欢老王烧烤，五星好评", "老王烧烤已经倒闭了。"),
        ("我常去蓝莲花咖啡馆", "蓝莲花关门了。"),
    ],
)
def test_the_user_says_that_it_is_over(memory, sentence):
    assert user_said_so(about(memory), sentence) == "check_failed"


@pytest.mark.parametrize(
    ("memory", "sentence"),
    [
        ("I love Luigi's", "Mario's has closed."),
        ("I love Luigi's", "Luigi's has not closed."),
        ("I love Luigi's", "Luigi's reopened."),
        ("I love Luigi's", "Luigi's is great."),
        ("I love Luigi's", "It is closed."),
        ("我喜欢老王烧烤", "老李烧烤倒闭了。"),
        ("我喜欢老王烧烤", "老王烧烤没有倒闭。"),
    ],
)
def test_the_user_says_nothing_about_it(memory, sentence):
    assert user_said_so(about(memory), sentence) is None


@pytest.mark.parametrize("sentence", ["I closed the window.", "I like tea.", "我喜欢茶。"])
def test_most_sentences_tell_of_no_end(sentence):
    assert not says_over(sentence)
