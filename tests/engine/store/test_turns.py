"""Conversations are trees of turns, and every field comes back as it was given."""

import re
import struct

import pytest

from engine.errors import BadText, UnknownName
from engine.runtime.protocol import AdapterRef, Usage
from engine.store import Store
from engine.values import Answer, Epoch, Route, Segment, Timing, Trace
from tests.engine.store.conftest import add_turn

ANSWER_USAGE = Usage(120, 100, 17, 31.25, 412.0625)
ROUTE_USAGE = Usage(40, 0, 1, 9.1, 0.3)


def ids(turns):
    return [turn.turn_id for turn in turns]


def test_a_new_conversation_is_named_after_the_first_line(store):
    turn = store.open_turn(
        "\n  为什么天空是蓝色的？ \nPlease.", conversation_id=None, parent_turn_id=None, profile="tall"
    )

    conversation = store.conversation(turn.conversation_id)
    assert (conversation.title, conversation.profile) == ("为什么天空是蓝色的？", "tall")
    assert (conversation.leaf_turn_id, conversation.turn_count) == (turn.turn_id, 1)


def test_a_long_first_line_is_cut_to_sixty_characters(store):
    turn = store.open_turn("word " * 40, conversation_id=None, parent_turn_id=None, profile="starter")
    title = store.conversation(turn.conversation_id).title
    assert len(title) <= 60
    assert ("word " * 40).startswith(title)
    assert len(title) > 50


def test_an_open_turn_is_running_and_holds_what_the_user_said(store):
    text = "two\nlines, a NUL \0 and 🍵"
    turn = store.open_turn(text, conversation_id=None, parent_turn_id=None, profile="starter", provenance="pasted")

    assert (turn.state, turn.user_text, turn.answer_text, turn.provenance) == ("running", text, "", "pasted")
    assert re.fullmatch(r"t-[0-9a-z]{24}", turn.turn_id)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", turn.created_at)
    assert store.turn(turn.turn_id) == turn


def test_everything_about_a_closed_turn_comes_back_exactly(database_path):
    with Store.open(database_path) as store:
        opened = store.open_turn("Hi", conversation_id=None, parent_turn_id=None, profile="starter")
        epoch = Epoch(store.new_epoch_id(), opened.conversation_id, "L2", 0, (1, 2), "base", "h1", "first")
        store.begin_epoch(epoch)
        segment = Segment(opened.turn_id, epoch.epoch_id, (0, 1, -1, 2**31 - 1, -(2**31)))
        adapters = (AdapterRef("a.gguf", "aa", 0.5), AdapterRef("b.gguf", "bb"))
        route_trace = Trace(opened.turn_id, "route", "L0", (5,), (), (), "base", "h1")
        answer_trace = Trace(
            opened.turn_id, "answer", "L2", (7, 8), (9, 10), adapters, "base", "h1", 2**32 - 1, (-0.5, -1.25)
        )
        route = Route("L2", "best", {"L0": -2.302585092994046, "L2": -0.1})
        timing = Timing(12.5, 80.125, 900.75)
        answer = Answer(
            opened.turn_id,
            "failed",
            "Half an ans",
            route,
            ANSWER_USAGE,
            ROUTE_USAGE,
            timing,
            (segment,),
            (route_trace, answer_trace),
            "It broke.",
            "Try again.",
        )
        store.close_turn(answer)
        store.save_summary(opened.turn_id, "They greeted.", "L2", None)

    with Store.open(database_path) as store:
        turn = store.turn(opened.turn_id)
        assert (turn.state, turn.user_text, turn.answer_text) == ("failed", "Hi", "Half an ans")
        assert (turn.route, turn.usage, turn.usage_other, turn.timing) == (route, ANSWER_USAGE, ROUTE_USAGE, timing)
        assert (turn.problem, turn.hint, turn.summary) == ("It broke.", "Try again.", "They greeted.")
        assert store.traces(opened.turn_id) == (route_trace, answer_trace)
        assert store.segments(epoch.epoch_id, [opened.turn_id]) == {opened.turn_id: segment}
        assert store.latest_epoch(opened.conversation_id, "L2", []) == epoch


def test_a_turn_without_a_route_or_an_answer_comes_back_without_them(store):
    turn = store.open_turn("Hi", conversation_id=None, parent_turn_id=None, profile="starter")
    store.close_turn(Answer(turn.turn_id, "stopped", "", None))

    closed = store.turn(turn.turn_id)
    assert (closed.state, closed.answer_text, closed.route, closed.summary) == ("stopped", "", None, None)
    assert (closed.usage, closed.timing) == (Usage(), Timing())


def test_closing_twice_is_an_error_and_keeps_the_first_answer(store, say):
    turn = say("Hi", answer="first")
    with pytest.raises(ValueError, match="is answered, not running"):
        store.close_turn(Answer(turn.turn_id, "failed", "second", None))
    assert store.turn(turn.turn_id) == turn


def test_closing_a_turn_as_running_is_an_error(store):
    turn = store.open_turn("Hi", conversation_id=None, parent_turn_id=None, profile="starter")
    with pytest.raises(ValueError, match="cannot be closed as running"):
        store.close_turn(Answer(turn.turn_id, "running", "", None))


def test_a_close_that_fails_halfway_leaves_the_turn_running(store):
    turn = store.open_turn("Hi", conversation_id=None, parent_turn_id=None, profile="starter")
    too_large = Trace(turn.turn_id, "answer", "L0", (2**31,), (), (), "base", "h1")

    with pytest.raises(struct.error):
        store.close_turn(Answer(turn.turn_id, "answered", "Hello", None, traces=(too_large,)))

    assert store.turn(turn.turn_id) == turn
    store.close_turn(Answer(turn.turn_id, "answered", "Hello", None))
    assert store.turn(turn.turn_id).answer_text == "Hello"


def test_a_path_leads_from_the_first_turn_to_the_one_asked_for(store, say):
    first = say("1")
    second = say("2", first)
    third = say("3", second)
    say("another 2", first)

    assert store.path(third.turn_id) == (first, second, third)
    assert store.path(first.turn_id) == (first,)


def test_edits_and_regenerations_are_siblings_of_the_turn_they_replace(store, say):
    first = say("1")
    second = say("2", first)
    edited = say("2, edited", first)
    regenerated = say("2", first, answer="Better.")

    for turn in (second, edited, regenerated):
        assert ids(store.siblings(turn.turn_id)) == ids([second, edited, regenerated])
    assert store.conversation(first.conversation_id).leaf_turn_id == regenerated.turn_id


def test_an_edit_of_the_first_turn_is_another_first_turn_of_the_same_conversation(store, say):
    first = say("1")
    stranger = say("first turn of another conversation")
    edited = store.open_turn("1b", conversation_id=first.conversation_id, parent_turn_id=None, profile="starter")

    assert ids(store.siblings(first.turn_id)) == ids([first, edited])
    assert ids(store.siblings(stranger.turn_id)) == [stranger.turn_id]
    assert store.path(edited.turn_id) == (edited,)
    assert store.conversation(first.conversation_id).turn_count == 2


def test_selecting_a_turn_shows_the_newest_turn_below_it(store, say):
    first = say("1")
    second = say("2", first)
    third = say("3", second)
    newest_below_second = say("3b", second)
    elsewhere = say("2b", first)

    store.select(second.turn_id)
    assert store.conversation(first.conversation_id).leaf_turn_id == newest_below_second.turn_id
    store.select(third.turn_id)
    assert store.conversation(first.conversation_id).leaf_turn_id == third.turn_id
    store.select(first.turn_id)
    assert store.conversation(first.conversation_id).leaf_turn_id == elsewhere.turn_id


def test_conversations_come_newest_first_in_pages(store, say):
    opened = [say(f"conversation {number}") for number in range(5)]
    say("again", opened[0])

    newest_first = [opened[0], *reversed(opened[1:])]
    listed = store.conversations(limit=2) + store.conversations(limit=10, offset=2)
    assert [conversation.conversation_id for conversation in listed] == [turn.conversation_id for turn in newest_first]
    assert [conversation.turn_count for conversation in listed] == [2, 1, 1, 1, 1]


def test_J6_a_conversation_can_be_renamed_to_anything_that_shows(store, say):
    turn = say("Hi")
    store.rename(turn.conversation_id, " Robert'); DROP TABLE turns;--\n咖啡 ")
    assert store.conversation(turn.conversation_id).title == "Robert'); DROP TABLE turns;-- 咖啡"
    with pytest.raises(BadText):
        store.rename(turn.conversation_id, " \n")


def test_the_latest_summary_counts_and_its_trace_is_kept(store, say):
    turn = say("Hi")
    trace = Trace(turn.turn_id, "summary", "L0", (1,), (2,), (), "base", "h1")
    store.save_summary(turn.turn_id, "old", "L0", None)
    store.save_summary(turn.turn_id, "new", "L0", trace)

    assert store.path(turn.turn_id)[0].summary == "new"
    assert store.traces(turn.turn_id) == (trace,)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda store, _: store.turn("t-nowhere"), id="turn"),
        pytest.param(lambda store, _: store.path("t-nowhere"), id="path"),
        pytest.param(lambda store, _: store.siblings("t-nowhere"), id="siblings"),
        pytest.param(lambda store, _: store.select("t-nowhere"), id="select"),
        pytest.param(lambda store, _: store.conversation("c-nowhere"), id="conversation"),
        pytest.param(lambda store, _: store.rename("c-nowhere", "x"), id="rename"),
        pytest.param(lambda store, _: store.save_summary("t-nowhere", "x", "L0", None), id="save_summary"),
        pytest.param(lambda store, _: store.close_turn(Answer("t-nowhere", "failed", "", None)), id="close_turn"),
        pytest.param(
            lambda store, _: store.open_turn("x", conversation_id="c-nowhere", parent_turn_id=None, profile="starter"),
            id="open_turn in an unknown conversation",
        ),
        pytest.param(
            lambda store, turn: store.open_turn(
                "x", conversation_id=turn.conversation_id, parent_turn_id="t-nowhere", profile="starter"
            ),
            id="open_turn below an unknown turn",
        ),
        pytest.param(
            lambda store, turn: store.open_turn(
                "x", conversation_id=None, parent_turn_id=turn.turn_id, profile="starter"
            ),
            id="open_turn below a turn of another conversation",
        ),
        pytest.param(
            lambda store, _: store.begin_epoch(Epoch("e-1", "c-nowhere", "L0", 0, (), "base", "h1", "first")),
            id="begin_epoch",
        ),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint_and_changes_nothing(store, say, call):
    turn = say("Hi")
    before = store.conversations()
    with pytest.raises(UnknownName) as caught:
        call(store, turn)
    assert "macaron history" in caught.value.hint
    assert store.conversations() == before


def test_text_that_is_not_unicode_is_refused_when_the_user_said_it(store):
    with pytest.raises(BadText, match="character 3"):
        store.open_turn("ab\ud800", conversation_id=None, parent_turn_id=None, profile="starter")
    assert store.conversations() == ()


def test_text_that_is_not_unicode_does_not_lose_an_answer(store):
    turn = store.open_turn("Hi", conversation_id=None, parent_turn_id=None, profile="starter")
    store.close_turn(Answer(turn.turn_id, "answered", "ab\ud800", None, problem="\udcff"))
    assert (store.turn(turn.turn_id).answer_text, store.turn(turn.turn_id).problem) == ("ab?", "?")


def test_J1_turns_keep_their_order_when_the_clock_is_set_back(store, monkeypatch):
    times = iter(["2026-05-01T12:00:00+00:00", "2026-05-01T12:00:01+00:00"] + ["2020-01-01T00:00:00+00:00"] * 20)
    monkeypatch.setattr("engine.store.store._now", lambda: next(times))
    clock = iter([10**18, *range(10**15, 10**15 + 20_000, 1000)])
    monkeypatch.setattr("engine.store.ids.time.time_ns", lambda: next(clock))
    first = add_turn(store, "before")
    second = add_turn(store, "after", first)
    third = add_turn(store, "later", second)
    assert third.created_at < first.created_at
    assert store.tree(first.conversation_id) == store.path(third.turn_id) == (first, second, third)
    store.select(first.turn_id)
    assert store.conversation(first.conversation_id).leaf_turn_id == third.turn_id
    assert store.integrity() == "ok"
