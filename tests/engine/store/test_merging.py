"""A conversation of another program comes in, goes on there, and comes in again: what is new is added, once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from engine.errors import BadText, UsageProblem
from engine.store import Store
from engine.values import Attachment, Conversation, ConversationCopy, Merged, Route, TurnRecord
from tests.engine.store.conftest import add_turn

BEGAN = datetime(2024, 3, 1, 12, tzinfo=UTC)
ROUTE = Route("Elsewhere", "imported")


def elsewhere(*turns: tuple[str, str | None], leaf: str | None = None, name: str = "chat 咖啡") -> ConversationCopy:
    """A conversation named by ids of another program; `turns` are (id and text, parent), a minute apart."""
    moments = [(BEGAN + timedelta(minutes=minute)).isoformat() for minute in range(len(turns))]
    records = tuple(
        TurnRecord(turn_id, name, parent, "answered", turn_id, "Yes.", "typed", moment, ROUTE)
        for (turn_id, parent), moment in zip(turns, moments, strict=True)
    )
    conversation = Conversation(name, "Tea", "starter", moments[0], moments[-1], leaf or turns[-1][0], len(turns))
    return ConversationCopy(conversation, records)


FIRST = elsewhere(("a", None), ("b", "a"), ("b2", "a"), ("c", "b"), leaf="c")


def texts_in_use(store: Store, merged: Merged) -> list[str]:
    leaf = store.conversation(merged.conversation_id).leaf_turn_id
    assert leaf is not None
    return [turn.user_text for turn in store.path(leaf)]


def test_all_branches_come_in_and_the_one_that_was_in_use_is(store):
    merged = store.merge_copy(FIRST)
    assert (merged.is_new, merged.added, merged.differing) == (True, 4, 0)
    tree = store.tree(merged.conversation_id)
    assert [turn.user_text for turn in tree] == ["a", "b", "b2", "c"]
    assert {turn.provenance for turn in tree} == {"imported"}
    assert texts_in_use(store, merged) == ["a", "b", "c"]
    assert store.integrity() == "ok"


def test_J5_the_same_again_changes_nothing(store):
    first = store.merge_copy(FIRST)
    before = store.copy_of(first.conversation_id)
    assert store.merge_copy(FIRST) == Merged(first.conversation_id, False, 0, 0)
    assert store.copy_of(first.conversation_id) == before


def test_what_is_new_is_added_where_it_belongs(store):
    first = store.merge_copy(FIRST)
    longer = elsewhere(("a", None), ("b", "a"), ("b2", "a"), ("c", "b"), ("d2", "b2"), ("d", "c"), leaf="d")
    assert store.merge_copy(longer) == Merged(first.conversation_id, False, 2, 0)
    assert texts_in_use(store, first) == ["a", "b", "c", "d"]
    (d2,) = [turn for turn in store.tree(first.conversation_id) if turn.user_text == "d2"]
    assert [turn.user_text for turn in store.path(d2.turn_id)] == ["a", "b2", "d2"]


def test_a_conversation_that_was_gone_on_with_here_stays_where_it_was(store):
    first = store.merge_copy(FIRST)
    leaf = store.conversation(first.conversation_id).leaf_turn_id
    add_turn(store, "Here.", store.turn(leaf))
    store.rename(first.conversation_id, "Mine")
    before = store.conversation(first.conversation_id)
    store.merge_copy(elsewhere(("a", None), ("b", "a"), ("b2", "a"), ("c", "b"), ("d", "c")))
    assert texts_in_use(store, first) == ["a", "b", "c", "Here."]
    after = store.conversation(first.conversation_id)
    assert (after.title, after.updated_at, after.turn_count) == ("Mine", before.updated_at, 6)


def test_a_turn_that_was_changed_there_stays_as_it_was_here_and_is_counted(store):
    first = store.merge_copy(FIRST)
    changed = replace(FIRST, turns=(replace(FIRST.turns[0], answer_text="No."), *FIRST.turns[1:]))
    assert store.merge_copy(changed) == Merged(first.conversation_id, False, 0, 1)
    assert store.tree(first.conversation_id)[0].answer_text == "Yes."


def test_times_that_change_do_not_make_another_turn(store):
    first = store.merge_copy(FIRST)
    later = replace(FIRST, turns=tuple(replace(turn, created_at="2025-01-01T00:00:00+00:00") for turn in FIRST.turns))
    assert store.merge_copy(later) == Merged(first.conversation_id, False, 0, 0)


@pytest.mark.parametrize("times", [("2025-01-01", "2024-01-01"), ("9999-12-31", "9999-12-31"), ("0001-01-01",) * 2])
def test_a_parent_comes_before_its_children_whatever_the_times(store, times):
    copy = elsewhere(("a", None), ("b", "a"))
    turns = [replace(turn, created_at=f"{day}T00:00:00+00:00") for turn, day in zip(copy.turns, times, strict=True)]
    merged = store.merge_copy(replace(copy, turns=tuple(turns)))
    tree = store.tree(merged.conversation_id)
    assert [turn.user_text for turn in tree] == ["a", "b"]
    assert max(turn.created_at for turn in tree) <= datetime.now(UTC).isoformat()
    answered = add_turn(store, "Now.", tree[-1])
    assert [turn.user_text for turn in store.tree(merged.conversation_id)] == ["a", "b", "Now."]
    assert answered.turn_id > tree[-1].turn_id


def test_conversations_that_name_their_turns_alike_have_turns_of_their_own(store):
    one, two = (store.merge_copy(elsewhere(("a", None), name=name)) for name in ("one", "two"))
    assert one.conversation_id != two.conversation_id and two.added == 1
    assert not {turn.turn_id for turn in store.tree(one.conversation_id)} & {
        turn.turn_id for turn in store.tree(two.conversation_id)
    }


def test_an_export_of_what_was_imported_is_known_in_either_order(store, tmp_path):
    first = store.merge_copy(FIRST)
    copy = store.copy_of(first.conversation_id)
    assert store.add_copy(copy) is False
    with Store.open(tmp_path / "other" / "macaron.db") as other:
        assert other.add_copy(copy) is True
        assert other.merge_copy(FIRST) == Merged(first.conversation_id, False, 0, 0)
        assert len(other.conversations()) == 1


def test_a_copy_that_is_no_conversation_leaves_nothing(store):
    with pytest.raises(UsageProblem):
        store.merge_copy(replace(FIRST, turns=FIRST.turns[1:]))
    with pytest.raises(BadText):
        store.merge_copy(replace(FIRST, turns=(replace(FIRST.turns[0], attachments=(Attachment("a", "\ud800"),)),)))
    assert store.conversations() == ()


def test_turns_whose_ids_are_taken_are_refused_and_leave_nothing(store, tmp_path):
    with Store.open(tmp_path / "other" / "macaron.db") as other:
        stolen = other.copy_of(other.merge_copy(FIRST).conversation_id)
    own = stolen.conversation.conversation_id
    elsewhere_id = own[:-1] + ("1" if own.endswith("0") else "0")
    turns = tuple(replace(turn, conversation_id=elsewhere_id) for turn in stolen.turns)
    store.add_copy(ConversationCopy(replace(stolen.conversation, conversation_id=elsewhere_id), turns))
    with pytest.raises(UsageProblem, match="ids of turns"):
        store.merge_copy(FIRST)
    assert len(store.conversations()) == 1 and store.integrity() == "ok"
