"""A conversation goes into a file and comes back: imported, never over what is there, and known again."""

from dataclasses import replace

import pytest

from engine.errors import BadText, UsageProblem
from engine.runtime.protocol import Usage
from engine.store import Store
from engine.store.ids import IdMaker, new_id
from engine.values import Answer, Attachment, Conversation, ConversationCopy, Route, Timing, TurnRecord
from tests.engine.store.conftest import add_turn

NOTES = Attachment("notes.txt", "Milk and 拿铁.")


@pytest.fixture
def other(tmp_path):
    """The store of another computer."""
    with Store.open(tmp_path / "other" / "macaron.db") as opened:
        yield opened


@pytest.fixture
def first(store):
    """The first turn of a conversation with two branches, files, a rating and a failure."""
    opened = store.open_turn("Hi 咖啡", conversation_id=None, parent_turn_id=None, profile="tall", attachments=[NOTES])
    route, usage = Route("L2", "best", {"L0": -2.5, "L2": -0.1}), Usage(12, 10, 3, 1.5, 2.5)
    store.close_turn(Answer(opened.turn_id, "answered", "Hello.", route, usage, usage, Timing(1.0, 2.0, 3.0)))
    store.save_summary(opened.turn_id, "They greeted.", "L2", None)
    store.rate(opened.turn_id, -1)
    kept = add_turn(store, "And?", opened)
    failed = store.open_turn(
        "Or?", conversation_id=opened.conversation_id, parent_turn_id=opened.turn_id, profile="tall"
    )
    store.close_turn(Answer(failed.turn_id, "failed", "", None, problem="It broke.", hint="Try again."))
    store.select(kept.turn_id)
    return store.turn(opened.turn_id)


def copied(*texts: str, **changes) -> ConversationCopy:
    """A copy from elsewhere with one turn after another."""
    ids = IdMaker()
    conversation_id, turns = ids.make("c"), []
    for text in texts:
        parent = turns[-1].turn_id if turns else None
        now = "2026-05-01T12:00:00+00:00"
        turns.append(TurnRecord(ids.make("t"), conversation_id, parent, "answered", text, "Yes.", "typed", now))
    leaf = turns[-1].turn_id if turns else None
    conversation = Conversation(conversation_id, "Tea", "starter", now, now, leaf, len(turns))
    return ConversationCopy(replace(conversation, **changes), tuple(turns))


def without_provenance(copy: ConversationCopy) -> ConversationCopy:
    return replace(copy, turns=tuple(replace(turn, provenance="imported") for turn in copy.turns))


def test_everything_that_was_said_comes_back_on_another_computer(store, other, first):
    copy = store.copy_of(first.conversation_id)
    assert [turn.user_text for turn in copy.turns] == ["Hi 咖啡", "And?", "Or?"]
    assert other.add_copy(copy) is True
    assert other.copy_of(first.conversation_id) == without_provenance(copy)
    assert other.integrity() == "ok"
    assert [hit.turn_id for hit in other.search("拿铁")] == [first.turn_id]


def test_texts_are_imported_and_no_longer_typed(store, other, first):
    other.add_copy(store.copy_of(first.conversation_id))
    assert {turn.provenance for turn in store.tree(first.conversation_id)} == {"typed"}
    assert {turn.provenance for turn in other.tree(first.conversation_id)} == {"imported"}


def test_J5_the_same_conversation_again_changes_nothing(store, other, first):
    copy = store.copy_of(first.conversation_id)
    assert store.add_copy(copy) is False
    other.add_copy(copy)
    before = other.conversations()
    assert other.add_copy(copy) is False
    assert other.add_copy(other.copy_of(first.conversation_id)) is False
    assert other.conversations() == before


def test_an_older_copy_of_what_went_on_since_is_here_already(store, first):
    copy = store.copy_of(first.conversation_id)
    add_turn(store, "Later.", first)
    store.rename(first.conversation_id, "Renamed")
    assert store.add_copy(copy) is False
    assert len(store.conversations()) == 1


def test_J5_a_different_conversation_under_the_same_id_is_added_under_fresh_ids(store, first):
    mine = store.copy_of(first.conversation_id)
    changed = replace(mine, turns=(replace(mine.turns[0], answer_text="Forged."), *mine.turns[1:]))
    assert store.add_copy(changed) is True
    assert store.copy_of(first.conversation_id) == mine
    (added,) = (each for each in store.conversations() if each.conversation_id != first.conversation_id)
    tree = store.tree(added.conversation_id)
    assert [turn.answer_text for turn in tree] == ["Forged.", "Yes.", ""]
    assert [turn.parent_turn_id for turn in tree] == [None, tree[0].turn_id, tree[0].turn_id]
    assert not {turn.turn_id for turn in tree} & {turn.turn_id for turn in mine.turns}
    assert store.add_copy(changed) is False
    assert len(store.conversations()) == 2
    assert store.integrity() == "ok"


def test_J5_a_turn_of_ours_under_another_conversation_is_not_touched(store, first):
    theirs = copied("1", "2")
    stolen = tuple(
        replace(turn, turn_id=turn_id, parent_turn_id=parent)
        for turn, turn_id, parent in zip(
            theirs.turns, (first.turn_id, theirs.turns[1].turn_id), (None, first.turn_id), strict=True
        )
    )
    copy = replace(theirs, turns=stolen)
    assert store.add_copy(copy) is True
    assert store.turn(first.turn_id) == first
    assert store.add_copy(copy) is False


@pytest.mark.parametrize(
    "turn_id",
    [
        pytest.param(new_id("t", 2**54, 1), id="from the far future, which would be the newest for ever"),
        pytest.param(new_id("t", 1, 1), id="older than the turn before it"),
        pytest.param("t-1'); DROP TABLE turns;--", id="not one of ours"),
        pytest.param(new_id("c", 2**50, 1), id="of another kind"),
        pytest.param("", id="empty"),
    ],
)
def test_ids_that_could_not_have_been_made_here_are_replaced(store, turn_id):
    copy = copied("1", "2")
    last = replace(copy.turns[1], turn_id=turn_id)
    copy = ConversationCopy(replace(copy.conversation, leaf_turn_id=turn_id), (copy.turns[0], last))
    assert store.add_copy(copy) is True
    (conversation,) = store.conversations()
    assert [turn.user_text for turn in store.path(conversation.leaf_turn_id)] == ["1", "2"]
    assert store.add_copy(copy) is False
    following = add_turn(store, "3", store.turn(conversation.leaf_turn_id))
    assert following.turn_id > conversation.leaf_turn_id != turn_id


def test_times_that_lie_in_the_future_do_not_stay_first_in_the_list(store):
    store.add_copy(copied("1", updated_at="9999-12-31T23:59:59-12:00"))
    newest = add_turn(store, "Now.")
    assert store.conversations()[0].conversation_id == newest.conversation_id


def test_a_turn_that_runs_at_this_moment_is_copied_as_interrupted(store, other):
    running = store.open_turn("Hi", conversation_id=None, parent_turn_id=None, profile="starter")
    copy = store.copy_of(running.conversation_id)
    assert [turn.state for turn in copy.turns] == ["interrupted"]
    assert other.add_copy(copy) is True


def test_a_conversation_goes_on_after_it_was_imported(store, other, first):
    other.add_copy(store.copy_of(first.conversation_id))
    leaf = other.conversation(first.conversation_id).leaf_turn_id
    following = add_turn(other, "Go on.", other.turn(leaf))
    assert [turn.user_text for turn in other.path(following.turn_id)] == ["Hi 咖啡", "And?", "Go on."]


def edited(copy: ConversationCopy, number: int, **changes) -> ConversationCopy:
    turns = list(copy.turns)
    turns[number] = replace(turns[number], **changes)
    return replace(copy, turns=tuple(turns))


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        pytest.param(lambda c: replace(c, turns=()), UsageProblem, "0 turns", id="no turns"),
        pytest.param(lambda c: edited(c, 1, turn_id=c.turns[0].turn_id), UsageProblem, "there twice", id="an id twice"),
        pytest.param(lambda c: edited(c, 0, parent_turn_id=c.turns[1].turn_id), UsageProblem, "Turn 1", id="a circle"),
        pytest.param(lambda c: edited(c, 1, parent_turn_id="t-x"), UsageProblem, "Turn 2 follows", id="a lost parent"),
        pytest.param(lambda c: edited(c, 1, conversation_id="c-x"), UsageProblem, "another", id="a stray turn"),
        pytest.param(lambda c: edited(c, 1, state="running"), UsageProblem, "running", id="a running turn"),
        pytest.param(lambda c: edited(c, 1, state="'"), UsageProblem, "have ended", id="an unknown state"),
        pytest.param(lambda c: edited(c, 1, rating=9), UsageProblem, "rating", id="an unknown rating"),
        pytest.param(lambda c: edited(c, 1, created_at="now"), UsageProblem, "'now'", id="no time"),
        pytest.param(lambda c: edited(c, 1, created_at="2026-01-01T00:00"), UsageProblem, "zone", id="no time zone"),
        pytest.param(lambda c: edited(c, 1, user_text="\ud800"), BadText, "Turn 2", id="half a character"),
        pytest.param(
            lambda c: edited(c, 1, attachments=(Attachment("\ud800", ""),)), BadText, "Turn 2", id="in a name"
        ),
        pytest.param(lambda c: edited(c, 1, user_text="x" * 10_000_001), UsageProblem, "10000001", id="a huge text"),
        pytest.param(
            lambda c: replace(c, conversation=replace(c.conversation, leaf_turn_id="t-x")),
            UsageProblem,
            "ends",
            id="leaf",
        ),
        pytest.param(
            lambda c: replace(c, conversation=replace(c.conversation, title="x" * 1001)),
            UsageProblem,
            "title",
            id="title",
        ),
    ],
)
def test_a_copy_that_is_no_conversation_is_refused_whole(store, spoil, error, words):
    with pytest.raises(error, match=words) as caught:
        store.add_copy(spoil(copied("1", "2", "3")))
    assert caught.value.hint
    assert store.conversations() == ()
