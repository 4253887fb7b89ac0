"""Epochs and segments: the tokens each expert has read."""

import pytest

from engine.errors import StoreProblem
from engine.memory.folding.values import NOTHING, FoldedLine, RunningMemory
from engine.values import Answer, Epoch, Segment


@pytest.fixture
def begin(store):
    def _begin(turn, number, folded_through=None, expert="L0", memory=NOTHING):
        reason = "folded" if folded_through else "first"
        epoch = Epoch(
            store.new_epoch_id(),
            turn.conversation_id,
            expert,
            number,
            (number,),
            "base",
            "h1",
            reason,
            folded_through,
            memory,
        )
        store.begin_epoch(epoch)
        return epoch

    return _begin


def test_a_view_without_an_epoch_has_no_latest_one(store, say, begin):
    turn = say("Hi")
    begin(turn, 0, expert="L1")
    assert store.latest_epoch(turn.conversation_id, "L0", [turn.turn_id]) is None


def test_the_latest_epoch_is_the_highest_whose_folded_past_is_on_the_path(store, say, begin):
    first = say("1")
    second = say("2", first)
    sibling = say("2b", first)
    from_start, folded = begin(first, 0), begin(first, 1, folded_through=second.turn_id)

    def latest(*on_path):
        return store.latest_epoch(first.conversation_id, "L0", {turn.turn_id for turn in on_path})

    assert latest(first, second) == folded
    assert latest(first, sibling) == from_start


def test_the_epoch_before_another_is_the_highest_below_its_number(store, say, begin):
    turn = say("1")
    epochs = [begin(turn, number) for number in range(3)]
    found = [store.latest_epoch(turn.conversation_id, "L0", [turn.turn_id], below=number) for number in range(3)]
    assert found == [None, *epochs[:2]]


def test_of_two_epochs_with_one_number_the_one_that_began_last_counts(store, say, begin):
    first = say("1")
    second = say("2", first)
    begin(first, 1, folded_through=second.turn_id)
    began_last = begin(first, 1, folded_through=first.turn_id)
    on_path = [first.turn_id, second.turn_id]
    assert store.latest_epoch(first.conversation_id, "L0", on_path) == began_last


def test_segments_are_asked_for_by_turn_and_missing_ones_are_left_out(store, say, begin):
    first = say("1")
    epoch, other_epoch = begin(first, 0), begin(first, 1)
    second = store.open_turn(
        "2", conversation_id=first.conversation_id, parent_turn_id=first.turn_id, profile="starter"
    )
    kept = [
        Segment(first.turn_id, epoch.epoch_id, (1, 2)),
        Segment(second.turn_id, epoch.epoch_id, (3,)),
        Segment(second.turn_id, other_epoch.epoch_id, ()),
    ]
    store.close_turn(Answer(second.turn_id, "answered", "Yes.", None, segments=tuple(kept)))

    assert store.segments(epoch.epoch_id, [first.turn_id, second.turn_id, "t-nowhere"]) == {
        first.turn_id: kept[0],
        second.turn_id: kept[1],
    }
    assert store.segments(other_epoch.epoch_id, {second.turn_id}) == {second.turn_id: kept[2]}
    assert store.segments(epoch.epoch_id, []) == {}


def test_a_segment_never_changes_within_its_epoch(store, say, begin):
    first = say("1")
    epoch = begin(first, 0)
    written = Segment(first.turn_id, epoch.epoch_id, (1, 2))
    for text, segment in [("2", written), ("3", Segment(first.turn_id, epoch.epoch_id, (9,)))]:
        turn = store.open_turn(text, conversation_id=first.conversation_id, parent_turn_id=None, profile="starter")
        store.close_turn(Answer(turn.turn_id, "answered", "Yes.", None, segments=(segment,)))
    assert store.segments(epoch.epoch_id, [first.turn_id]) == {first.turn_id: written}


def test_a_segment_of_an_epoch_that_never_began_is_refused_with_its_whole_answer(store, say):
    first = say("1")
    turn = store.open_turn("2", conversation_id=first.conversation_id, parent_turn_id=None, profile="starter")
    with pytest.raises(StoreProblem):
        store.close_turn(Answer(turn.turn_id, "answered", "Yes.", None, segments=(Segment(turn.turn_id, "e-1", (1,)),)))
    assert store.turn(turn.turn_id) == turn


def memory_of(*turns):
    lines = (FoldedLine("fact", f"说 {turn.user_text}", turn.turn_id, True, "s", "2026-12-03") for turn in turns)
    return RunningMemory(tuple(lines))


def test_an_epoch_comes_back_with_its_running_memory(store, say, begin):
    first = say("1")
    second = say("2", first)
    epoch = begin(second, 1, folded_through=second.turn_id, memory=memory_of(first, second))
    assert store.latest_epoch(first.conversation_id, "L0", {first.turn_id, second.turn_id}) == epoch
    third = store.open_turn("3", conversation_id=first.conversation_id, parent_turn_id=second.turn_id, profile="s")
    kept = (Segment(third.turn_id, epoch.epoch_id, (1,)),)
    store.close_turn(Answer(third.turn_id, "answered", "Yes.", None, segments=kept))
    assert store.epoch_of_turn(third.turn_id, "L0") == epoch


def test_the_running_memory_of_any_view_that_stands_for_the_most_of_a_branch_is_found(store, say, begin):
    first = say("1")
    second, aside = say("2", first), say("2b", first)
    third = say("3", second)
    for turn, expert in ((first, "L0"), (second, "L1"), (aside, "L2"), (third, "L2")):
        begin(turn, 1, turn.turn_id, expert, memory_of(turn))
    begin(third, 2, third.turn_id)  # of no lines, such as before there were any

    def found(*turns):
        return store.running_memory(first.conversation_id, [turn.turn_id for turn in turns])

    assert found(first, second) == (memory_of(second), second.turn_id)
    assert found(first, aside) == (memory_of(aside), aside.turn_id)
    assert found(second, third) == (memory_of(third), third.turn_id)
    assert found() is None


def test_a_running_memory_of_a_turn_that_is_not_there_is_refused_with_its_epoch(store, say, begin):
    turn = say("1")
    with pytest.raises(StoreProblem):
        begin(turn, 1, turn.turn_id, memory=RunningMemory((FoldedLine("fact", "x", "t-nowhere"),)))
    assert store.latest_epoch(turn.conversation_id, "L0", [turn.turn_id]) is None
