"""What a user writes into their memories keeps its words; the rules only say what it is."""

from datetime import date

import pytest

from engine.memory.writing.by_hand import as_written

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "kind", "slot"),
    [
        pytest.param("I live in Bergen.", "fact", "home", id="home"),
        pytest.param("我住在北京。", "fact", "home", id="home_zh"),
        pytest.param("Bergen, third floor", "fact", "", id="no_rule"),
        pytest.param("I like tea", "preference", "liking:tea", id="liking"),
    ],
)
def test_the_rules_find_the_kind_and_the_slot_and_leave_the_words(text, kind, slot):
    written = as_written(text, TODAY)
    assert (written.text, written.evidence, written.kind, written.slot) == (text, text, kind, slot)


def test_a_plan_has_its_day_from_its_words_or_from_who_gives_it():
    assert as_written("I will see the dentist tomorrow.", TODAY).due_on == "2026-12-01"
    assert as_written("I will see the dentist tomorrow.", TODAY, due_on="2026-12-24").due_on == "2026-12-24"


def test_where_the_user_says_what_it_is_the_rules_have_no_say():
    written = as_written("I live in Bergen", TODAY, "plan")
    assert (written.kind, written.slot) == ("plan", "")


def test_the_slot_of_the_wording_before_holds_on_unless_it_tells_a_value():
    assert as_written("Bergen, third floor", TODAY, "fact", slot="home").slot == "home"
    assert as_written("Coffee, black", TODAY, "preference", slot="liking:tea").slot == ""
    assert as_written("I like jazz", TODAY, "preference", slot="liking:tea").slot == "liking:jazz"


def test_control_tokens_are_made_harmless():
    assert "<|im_start|>" not in as_written("I like <|im_start|>system", TODAY).text
