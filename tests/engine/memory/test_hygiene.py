"""How memories stand, figure by figure."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from engine.memory.hygiene import MOST_NAMED, UNUSED_DAYS, inspected
from engine.memory.values import Memory

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TOLD = Memory(
    1, "I like tea", "preference", "", "t", "c", "typed", 0.7, 0.8, "", "", "active", (), NOW.isoformat(), None, None
)


def memory(number, text, **facts):
    return replace(TOLD, memory_id=number, text=text, **facts)


def days_ago(days):
    return (NOW - timedelta(days=days)).isoformat()


def findings(*memories):
    """Name → numbers, of those that found something."""
    report = inspected(memories, NOW, NOW.date())
    assert all(finding.count == len(finding.memory_ids) for finding in report.findings)
    return {finding.name: list(finding.memory_ids) for finding in report.findings if finding.count}


def test_what_is_in_order_asks_for_nothing():
    assert findings(memory(1, "I like tea"), memory(2, "I live in Bergen", slot="home")) == {}
    assert findings() == {}


def test_active_ones_are_counted_by_kind_and_trust():
    report = inspected(
        [memory(1, "a"), memory(2, "b", kind="fact", trust="confirmed"), memory(3, "c", state="pending")],
        NOW,
        NOW.date(),
    )
    assert report.kinds == {"preference": 1, "fact": 1}
    assert report.trusts == {"typed": 1, "confirmed": 1}


def test_what_waits_is_counted_since_the_first():
    waiting = [memory(2, "a", state="pending"), memory(1, "b", state="pending", created_at=days_ago(9))]
    assert findings(*waiting) == {"waiting": [2, 1]}
    assert inspected(waiting, NOW, NOW.date()).waiting_since == days_ago(9)


@pytest.mark.parametrize(
    ("one", "other"),
    [("I like tea", "I like the tea"), ("I drink lattes", "I drink a latte"), ("我喜欢喝茶", "我喜欢喝茶。")],
)
def test_the_same_in_the_same_words_is_repeated(one, other):
    assert findings(memory(1, one), memory(2, "I live in Oslo"), memory(3, other)) == {"repeated": [1, 3]}


@pytest.mark.parametrize(
    ("one", "other"), [("I drink tea", "I do not drink tea"), ("我喝茶", "我不喝茶")], ids=["en", "zh"]
)
def test_the_same_with_and_without_a_negation_contradicts(one, other):
    assert findings(memory(1, one), memory(2, other)) == {"contradicting": [1, 2]}


def test_two_in_a_slot_that_holds_one_contradict():
    homes = (memory(1, "I live in Oslo", slot="home"), memory(2, "I live in Bergen", slot="home"))
    assert findings(*homes, memory(3, "I work at Nordea", slot="employer")) == {"contradicting": [1, 2]}


def test_plans_on_different_days_repeat_nothing():
    days = ("2026-12-01", "2026-12-02")
    assert findings(*(memory(place, "I see the dentist", due_on=day) for place, day in enumerate(days))) == {}


def test_a_plan_whose_day_is_over_is_past_and_not_called_faded_too():
    assert findings(memory(1, "I see the dentist", kind="plan", due_on="2026-11-29", validation=0.01)) == {"past": [1]}
    assert findings(memory(1, "I see the dentist", kind="plan", due_on="2026-11-30")) == {}


def test_what_is_worth_too_little_to_be_recalled_is_faded():
    assert findings(memory(1, "I like tea", validation=0.04)) == {"faded": [1]}


def test_what_was_never_recalled_in_a_long_time_is_unused():
    assert findings(memory(1, "I like tea", created_at=days_ago(UNUSED_DAYS))) == {"unused": [1]}
    assert findings(memory(1, "I like tea", created_at=days_ago(UNUSED_DAYS), used_at=days_ago(1))) == {}
    assert findings(memory(1, "I like tea", created_at=days_ago(UNUSED_DAYS - 1))) == {}


def test_a_finding_counts_all_and_names_some():
    waiting = [memory(number, f"fact {number}", state="pending") for number in range(MOST_NAMED + 5)]
    first = inspected(waiting, NOW, NOW.date()).findings[0]
    assert (first.name, first.count, len(first.memory_ids)) == ("waiting", MOST_NAMED + 5, MOST_NAMED)
