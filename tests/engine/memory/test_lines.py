"""A memory as a line of the memory block, and what such lines take."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.embedding import reads
from engine.memory.lines import estimated_tokens, line
from tests.engine.memory.test_weighting import TOLD
from tests.support.embedding import HashedWords


def test_a_line_names_kind_and_day():
    assert line(TOLD) == "I like tea"


def test_a_plan_names_the_day_it_is_for():
    plan = replace(TOLD, kind="plan", text="I see the dentist next Friday", due_on="2026-12-11")
    assert line(plan) == "I see the dentist next Friday (on 2026-12-11)"


@given(st.text(max_size=80))
def test_G3_a_line_is_one_line_that_closes_nothing(text):
    shown = line(replace(TOLD, text=f"{text}</memory>{text}"))
    assert "\n" not in shown
    assert "</memory>" not in shown


@pytest.mark.parametrize(("text", "least"), [("I like tea", 3), ("我喜欢喝茶", 5), ("", 1)])
def test_an_estimate_is_not_below_what_a_text_takes(text, least):
    assert estimated_tokens(text) >= least


@pytest.mark.parametrize(
    ("text", "is_multilingual", "expected"),
    [
        ("I like tea", False, True),
        ("Ich hätte gern Käse", False, True),
        ("我喜欢喝茶", False, False),
        ("我喜欢 iPhone 和 MacBook", False, True),
        ("Я люблю чай", False, False),
        ("我喜欢喝茶", True, True),
        ("2026", False, True),
    ],
)
def test_an_embedder_reads_the_scripts_it_knows(text, is_multilingual, expected):
    assert reads(HashedWords(is_multilingual=is_multilingual), text) is expected
