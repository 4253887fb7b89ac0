"""w = r0 · exp(−λ·age) · validation: what a memory is worth, and what moves it."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.values import Memory
from engine.memory.weighting import (
    DEFAULT_RULES,
    FIRST_VALIDATION,
    age_days,
    earned_r0,
    first_r0,
    rules_from,
    validation_after,
    weight,
    worth,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
TOLD = Memory(
    1,
    "I like tea",
    "preference",
    "I like tea",
    "t-1",
    "c-1",
    "typed",
    0.7,
    0.8,
    "",
    "",
    "active",
    (),
    NOW.isoformat(),
    None,
    None,
)


def test_the_formula():
    decay = math.log(2) / DEFAULT_RULES.half_life_days["fact"]
    assert worth(0.7, 0.8, 100, "fact") == pytest.approx(0.7 * math.exp(-decay * 100) * 0.8)


def test_after_its_half_life_a_memory_is_worth_half():
    later = NOW + timedelta(days=DEFAULT_RULES.half_life_days["preference"])
    assert weight(TOLD, later) == pytest.approx(weight(TOLD, NOW) / 2)


def test_age_counts_from_when_it_was_last_said():
    again = replace(TOLD, validated_at=(NOW + timedelta(days=10)).isoformat())
    assert age_days(again, NOW + timedelta(days=15)) == pytest.approx(5)


def test_a_plan_ages_from_its_day_on():
    plan = replace(TOLD, kind="plan", due_on="2026-12-10")
    assert age_days(plan, NOW) == 0
    assert age_days(plan, datetime(2026, 12, 15, tzinfo=UTC)) == 5


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 10_000), st.floats(0, 10_000))
def test_worth_is_within_0_and_1_and_never_grows_with_age(r0, validation, days, more):
    young, old = worth(r0, validation, days, "fact"), worth(r0, validation, days + more, "fact")
    assert 0 <= old <= young <= 1


@given(st.floats(0, 1), st.sampled_from(["said_again", "approved", "check_passed"]))
def test_what_bears_it_out_raises_validation_at_most_to_1(validation, event):
    assert validation <= validation_after(validation, event) <= 1


@given(st.floats(0, 1), st.sampled_from(["edited", "contradicted", "check_failed"]))
def test_what_speaks_against_it_lowers_validation_at_least_to_0(validation, event):
    assert 0 <= validation_after(validation, event) <= validation


@given(st.floats(0.5, 1))
def test_a_failed_check_sinks_any_memory_however_well_it_was_rated(r0):
    validation = validation_after(FIRST_VALIDATION, "check_failed")
    assert worth(r0, validation, 0, "preference") < DEFAULT_RULES.sunk


def test_what_the_user_asked_for_is_worth_more_from_the_start():
    assert first_r0("inferred") < first_r0("typed") < first_r0("typed", is_asked_for=True)
    assert first_r0("tainted", is_asked_for=True) == first_r0("tainted")


def test_r0_is_earned_by_what_came_of_it_and_ends_at_1():
    assert earned_r0(0.5) == 0.5
    assert (
        0.5 < earned_r0(0.5, turns=3) < earned_r0(0.5, turns=3, accepted=1) < earned_r0(0.5, tool_successes=2, turns=3)
    )
    assert earned_r0(0.9, tool_successes=100) == 1.0


def test_rules_are_changed_by_name():
    rules = rules_from({"plan_days": 30, "strength": 0.5})
    assert rules.half_life_days == {**DEFAULT_RULES.half_life_days, "plan": 30.0}
    assert (rules.strength, rules.sunk) == (0.5, DEFAULT_RULES.sunk)
    assert rules_from({}) == DEFAULT_RULES
