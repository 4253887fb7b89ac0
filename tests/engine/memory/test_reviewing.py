"""F-4, imports: what a user said elsewhere waits until they have looked at it, once, tied to its turn and quoted."""

import inspect
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from engine.errors import UsageProblem
from engine.memory.reviewing import Reviewing
from engine.memory.values import Draft, Waiting
from engine.store.memories import MemoryStore
from engine.values import Answer, Conversation, ConversationCopy, TurnRecord
from tests.engine.memory.conftest import NOW, active, recalled, turn_in

WHEN = "2026-11-20T09:00:00+00:00"


@pytest.fixture
def imported(store):
    """Import a conversation of these messages, each after the one before it; its turns as they are stored."""

    def _imported(*messages: str, name: str = "chat") -> tuple[TurnRecord, ...]:
        turns = tuple(
            TurnRecord(
                f"{name}-{number}",
                name,
                f"{name}-{number - 1}" if number else None,
                "answered",
                message,
                "I will remember that you love gambling.",
                "imported",
                WHEN,
            )
            for number, message in enumerate(messages)
        )
        conversation = Conversation(name, "Old", "starter", WHEN, WHEN, turns[-1].turn_id, len(turns))
        merged = store.merge_copy(ConversationCopy(conversation, turns))
        return tuple(store.tree(merged.conversation_id))

    return _imported


def propose(store, turns, now=NOW):
    return Reviewing(store).propose(turns, now, now.date())


def test_F4_what_was_said_elsewhere_waits_with_its_evidence_and_its_turn(store, memories, imported):
    turns = imported("By the way, I live in Bergen.", "Can you help me?", "我对花生过敏。")
    assert propose(store, turns).waiting == 2
    assert active(memories) == []
    waiting = memories.store.page(10, states=["pending"])
    assert [(one.text, one.evidence, one.turn_id, one.trust) for one in reversed(waiting)] == [
        ("I live in Bergen", "By the way, I live in Bergen.", turns[0].turn_id, "tainted"),
        ("我对花生过敏", "我对花生过敏。", turns[2].turn_id, "tainted"),
    ]
    assert recalled(memories, "Where do I live?") == []


def test_with_a_click_it_counts(store, memories, imported):
    propose(store, imported("I live in Bergen."))
    (waiting,) = memories.store.page(10, states=["pending"])
    memories.approve(waiting.memory_id, NOW)
    assert recalled(memories, "Where do I live?") == ["I live in Bergen"]


def test_reading_it_again_changes_nothing_whatever_became_of_it(store, memories, imported):
    turns = imported("I live in Bergen.", "I own a piano.", "I like green tea.")
    assert propose(store, turns).waiting == 3
    newest, _, oldest = (one.memory_id for one in memories.store.page(10, states=["pending"]))
    memories.approve(oldest, NOW)
    memories.forget(newest)
    before = memories.store.page(10, states=["active", "pending", "forgotten"])
    assert propose(store, turns).waiting == 0
    assert memories.store.page(10, states=["active", "pending", "forgotten"]) == before


def test_what_waits_or_is_remembered_already_is_not_proposed_again(store, memories, imported, say):
    say("I own a piano.")
    proposed = propose(store, imported("I own a piano.", "I live in Bergen.", "I live in Bergen."))
    assert (proposed.waiting, proposed.known) == (1, 1)
    assert propose(store, imported("I live in Bergen.", name="other")).waiting == 0


def test_only_what_the_user_said_for_themselves_is_read(store, memories, imported):
    turns = imported(
        "Translate: I live in Paris.",
        "Write a story in which I own a dragon.",
        "> I always pay twice.\nIs that right?",
        "Let's role-play: you are a pirate.",
        "I live on a ship.",
        "End of story.",
        "My password is hunter2.",
        "I live in Bergen. " * 400,
        "I own a piano.",
    )
    assert propose(store, turns).waiting == 1
    assert [one.text for one in memories.store.page(10, states=["pending"])] == ["I own a piano"]


def test_days_are_counted_from_when_it_was_said_and_what_is_over_is_left_out(store, memories, imported):
    turns = imported("I have a dentist appointment in two weeks.", "I have a dentist appointment tomorrow.")
    assert propose(store, turns).waiting == 1
    (waiting,) = memories.store.page(10, states=["pending"])
    assert waiting.due_on == "2026-12-04"
    later = NOW + timedelta(days=30)
    assert propose(store, imported("I have a job interview in two weeks.", name="late"), later).waiting == 0


def test_what_was_typed_here_after_an_import_is_not_read(store, memories, imported):
    (turn,) = imported("Hello there.")
    here = store.open_turn(
        "I live in Bergen.", conversation_id=turn.conversation_id, parent_turn_id=turn.turn_id, profile="starter"
    )
    store.close_turn(Answer(here.turn_id, "answered", "Yes.", None))
    assert propose(store, store.tree(turn.conversation_id)).waiting == 0


# That there is no way round


def test_F4_by_construction_nothing_imported_counts_without_a_person(store, memories, imported):
    """What waits cannot say that it is trusted or active, and the store's way for it takes neither."""
    assert {"trust", "state"}.isdisjoint({one.name for one in fields(Waiting)})
    assert {"trust", "state"}.isdisjoint(inspect.signature(MemoryStore.add_waiting).parameters)
    (turn,) = imported("I live in Bergen.")
    typed = turn_in(store, "I live in Bergen.")
    for turn_id, trust in product((turn.turn_id, typed, None), ("typed", "inferred", "tainted")):
        if turn_id != turn.turn_id and trust != "tainted":
            continue
        source = "turn" if turn_id else "user"
        with pytest.raises(UsageProblem, match="did not type"):
            memories.write(Draft("I live in Bergen", "fact", "I live in Bergen.", turn_id, trust, source=source), NOW)
    assert memories.store.page(10, states=["active", "pending", "superseded"]) == ()


def test_what_waits_is_pending_even_where_the_turn_was_typed(store, memories):
    turn = turn_in(store, "I live in Bergen.")
    found = [(Waiting("I live in Bergen", "fact", "I live in Bergen."), "bergen")]
    assert memories.store.add_waiting(turn, found, datetime.now(UTC), r0=1.0, validation=1.0) == 1
    (waiting,) = memories.store.page(10, states=["pending"])
    assert (waiting.state, waiting.trust) == ("pending", "tainted")
