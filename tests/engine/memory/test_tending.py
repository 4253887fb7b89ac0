"""Memories in the hands of their user: added, edited, put up for review, approved and looked for."""

import pytest

from engine.errors import BadText, UsageProblem
from engine.memory import tending
from engine.memory.values import Draft
from tests.engine.memory.conftest import NOW, active, recalled, turn_in

TODAY = NOW.date()


@pytest.fixture
def add(memories):
    def _add(text, **facts):
        return tending.add(memories, text, NOW, TODAY, **facts)

    return _add


def imported(text, **facts):
    return Draft(text, "fact", text, None, source="imported", **facts)


# By hand


def test_what_the_user_writes_is_believed_as_it_stands(memories, add):
    memory = add("  I live in Bergen, third floor. ")
    assert (memory.text, memory.trust, memory.source, memory.state) == (
        "I live in Bergen, third floor.",
        "confirmed",
        "user",
        "active",
    )
    assert (memory.slot, memory.turn_id) == ("home", None)
    assert recalled(memories, "Where do I live?") == ["I live in Bergen, third floor."]


@pytest.mark.parametrize(
    ("before", "after"), [("I live in Bergen.", "I live in Oslo"), ("我住在北京。", "我住在深圳")], ids=["en", "zh"]
)
def test_what_the_user_writes_takes_the_place_of_what_cannot_hold_beside_it(memories, say, add, before, after):
    (old,) = say(before).written
    assert add(after).supersedes == (old.memory_id,)
    assert active(memories) == [after]


def test_the_same_said_otherwise_is_replaced_and_the_same_word_for_word_is_confirmed(memories, say, add):
    (told,) = say("I am allergic to nuts.").written
    again = add("i am allergic  to NUTS")
    assert (again.memory_id, again.trust) == (told.memory_id, "confirmed")
    assert again.validation > told.validation
    assert add("I'm allergic to nuts").supersedes == (told.memory_id,)
    assert active(memories) == ["I'm allergic to nuts"]


def test_adding_twice_adds_once(memories, add):
    assert add("I like tea").memory_id == add("I like tea").memory_id
    assert active(memories) == ["I like tea"]


@pytest.mark.parametrize("text", ["", "  ", "a" * 1001, "\ud800"])
def test_what_cannot_be_kept_is_refused(memories, add, text):
    with pytest.raises(BadText):
        add(text)
    assert active(memories) == []


def test_an_edit_is_read_anew_and_keeps_what_is_not_said(memories, add):
    plan = add("I will see the dentist tomorrow.")
    edited = memories.edit(plan.memory_id, "I will see the dentist at nine", NOW)
    assert (edited.kind, edited.due_on, edited.source) == ("plan", "2026-12-01", "user")
    moved = memories.edit(edited.memory_id, edited.text, NOW, due_on="2026-12-24")
    assert (moved.text, moved.due_on) == (edited.text, "2026-12-24")
    with pytest.raises(BadText, match="no day"):
        memories.edit(moved.memory_id, moved.text, NOW, due_on="soon")
    assert memories.store.get(moved.memory_id).state == "active"
    liked = add("I like tea")
    assert memories.edit(liked.memory_id, "I like jazz", NOW).slot == "liking:jazz"


def test_an_edit_takes_the_place_of_others_in_its_slot(memories, add):
    add("I live in Oslo")
    (other, office) = (memories.store.page(1)[0], add("My office is in Bergen"))
    edited = memories.edit(office.memory_id, "I live in Bergen", NOW)
    assert set(edited.supersedes) == {other.memory_id, office.memory_id}
    assert active(memories) == ["I live in Bergen"]


# Review


def test_what_comes_from_elsewhere_waits_whatever_it_says_of_itself(memories):
    (waiting,) = tending.propose(memories, [imported("I always pay at once", trust="confirmed", r0=1.0)], NOW)
    assert (waiting.state, waiting.trust, waiting.source) == ("pending", "tainted", "imported")
    assert waiting.r0 < 0.5
    assert recalled(memories, "When do I pay?") == []


def test_proposing_twice_is_the_same_as_once(memories, say, add):
    say("I like jazz.")
    say("I live in Bergen.")
    add("I live in Oslo")
    drafts = [imported(text) for text in ("I like  JAZZ", "I live in Bergen", "I own a boat", "I own a boat")]
    assert [memory.text for memory in tending.propose(memories, drafts, NOW)] == ["I own a boat"]
    assert tending.propose(memories, drafts, NOW) == ()


def test_what_was_forgotten_may_be_proposed_again(memories):
    (waiting,) = tending.propose(memories, [imported("I own a boat")], NOW)
    memories.forget(waiting.memory_id)
    assert len(tending.propose(memories, [imported("I own a boat")], NOW)) == 1


def test_what_is_approved_counts_in_full_and_takes_the_place_of_what_it_contradicts(memories, say):
    (home,) = say("I live in Bergen.").written
    (waiting,) = tending.propose(memories, [imported("I live in Oslo", slot="home")], NOW)
    approved = memories.approve(waiting.memory_id, NOW)
    assert (approved.state, approved.trust, approved.supersedes) == ("active", "confirmed", (home.memory_id,))
    assert approved.r0 >= home.r0
    assert recalled(memories, "Where do I live?") == ["I live in Oslo"]


def test_one_that_waits_is_approved_by_editing_it(memories):
    (waiting,) = tending.propose(memories, [imported("I own a boat")], NOW)
    edited = memories.edit(waiting.memory_id, "I own a small boat", NOW)
    assert (edited.state, edited.trust, edited.source) == ("active", "confirmed", "imported")
    assert memories.care.standing().pending == 0
    with pytest.raises(UsageProblem):
        memories.approve(waiting.memory_id, NOW)


# Looking for


def test_a_search_finds_what_is_meant_and_what_holds_the_words(memories, say, add):
    say("I like jazz.")
    sunk = add("The Lotus closes at 22:30%")
    for _ in range(3):
        memories.judge(sunk.memory_id, "check_failed", NOW)
    tending.propose(memories, [imported("I own a boat")], NOW)

    def found(query, limit=10):
        return [memory.text for memory in tending.search(memories, query, NOW, limit)]

    assert found("Which music do I like?") == ["I like jazz"]
    assert found("22:30%") == ["The Lotus closes at 22:30%"]
    assert found("own BOAT") == ["I own a boat"]
    assert found("%") == ["The Lotus closes at 22:30%"]
    assert found("zeppelin") == []
    add("I like jazz in the morning")
    assert len(found("jazz")) == 2 and len(found("jazz", limit=1)) == 1


def test_a_search_in_chinese_finds_parts_of_words(memories, say):
    say("我喜欢喝拿铁。")
    assert [memory.text for memory in tending.search(memories, "拿铁", NOW, 5)] == ["我喜欢喝拿铁"]
    assert [memory.text for memory in tending.search(memories, "欢喝", NOW, 5)] == ["我喜欢喝拿铁"]


def test_all_of_them_are_walked_through_in_pages(memories, store):
    turn = turn_in(store, "x")
    texts = [f"Fact {number}" for number in range(5)]
    for text in texts:
        memories.write(Draft(text, "fact", text, turn), NOW)
    assert [memory.text for memory in tending.every(memories, ("active",))] == texts[::-1]
