"""Turns that are stopped, fail or are left, and saying it again: what is kept, and who reads it."""

import pytest

from engine.errors import DiskFull, RuntimeFailed
from engine.events import Reading, TextDelta, TurnOpened
from engine.values import Answer
from tests.support.talking import SYSTEMS, open_talk

LONG = "A long answer that other experts only hear about."
FAILURE = RuntimeFailed("The memory is full.", "Close other programs.")


# Stopping


def test_a_stop_before_the_route_ends_the_turn_without_one(talk):
    closed = talk.stop_at(TurnOpened)
    assert (closed.state, closed.route, closed.text) == ("stopped", None, "")
    assert talk.turn(closed).state == "stopped"
    assert talk.runtime.requests == []


def test_a_stop_while_a_summary_is_read_or_written_leaves_none_and_asks_for_no_answer(talk):
    talk.say("One." * 40, "L1", answer=LONG)
    closed = talk.stop_at(Reading, expert="L2", phase="summary")
    assert (closed.state, closed.text) == ("stopped", "")
    assert talk.turns()[0].summary is None
    assert len(talk.runtime.answers) == 1
    talk.runtime.will_say("Short.")
    talk.say("Again.", "L2")
    assert talk.turns()[0].summary == "Short."


def test_a_stop_while_the_prompt_is_read_keeps_what_was_read(talk):
    closed = talk.stop_at(Reading, "x" * 300, phase="answer")
    assert (closed.state, closed.text, closed.usage.completion_tokens) == ("stopped", "", 0)
    retried = talk.regenerate(closed.turn_id)
    assert 0 < retried.usage.reused_tokens < retried.usage.prompt_tokens


def test_a_stop_while_it_speaks_keeps_the_text_so_far(talk):
    talk.runtime.will_say("Hello, how are you?")
    closed = talk.stop_at(TextDelta)
    assert (closed.state, closed.text) == ("stopped", "H")
    assert talk.turn(closed).answer_text == "H"
    assert talk.runtime.decode(talk.trace(closed).completion) == "H"


def test_a_face_that_goes_away_stops_the_turn_and_what_was_said_is_stored(talk):
    talk.runtime.will_say("Hello, how are you?")
    events = talk.agent.turn("Hi.")
    opened = next(events)
    next(event for event in events if isinstance(event, TextDelta))
    events.close()
    turn = talk.store.turn(opened.turn_id)
    assert (turn.state, turn.answer_text) == ("stopped", "H")
    assert talk.runtime.ended == 1
    talk.conversation_id = turn.conversation_id
    assert "<|im_start|>assistant\nH<|im_end|>" in talk.read(talk.say("Go on."))


def test_a_face_that_goes_away_at_once_leaves_a_stopped_turn(talk):
    events = talk.agent.turn("Hi.")
    opened = next(events)
    events.close()
    assert talk.store.turn(opened.turn_id).state == "stopped"
    assert talk.say().state == "answered"


# Failing


@pytest.mark.parametrize("spoken", ["", "Hel"], ids=["at-once", "after-some-words"])
def test_a_failing_runtime_fails_the_turn_with_its_reason_and_the_next_one_works(talk, spoken):
    talk.runtime.will_fail(FAILURE, after=spoken)
    closed = talk.say()
    assert (closed.state, closed.text) == ("failed", spoken)
    assert (closed.problem, closed.hint) == (FAILURE.problem, FAILURE.hint)
    stored = talk.turn(closed)
    assert (stored.state, stored.problem, stored.hint) == ("failed", FAILURE.problem, FAILURE.hint)
    assert talk.say().state == "answered"


def test_a_router_that_fails_fails_the_turn(talk):
    talk.runtime.will_fail_to_score(FAILURE)
    closed = talk.say()
    assert (closed.state, closed.route, closed.problem) == ("failed", None, FAILURE.problem)


def test_a_summary_that_fails_fails_the_turn_that_needed_it_and_not_the_one_it_is_about(talk):
    about = talk.say("One.", "L1", answer=LONG)
    talk.runtime.will_fail(FAILURE)
    assert talk.say("Two.", "L2").state == "failed"
    assert talk.turn(about).state == "answered"


def test_a_store_that_cannot_close_the_turn_tells_the_caller(talk, monkeypatch):
    def full(answer: object) -> None:
        raise DiskFull("The disk is full.", "Make room.")

    monkeypatch.setattr(talk.store, "close_turn", full)
    with pytest.raises(DiskFull):
        talk.say()


@pytest.mark.parametrize("end", ["answered", "stopped", "failed", "left"])
def test_a_turn_is_closed_exactly_once_however_it_ends(talk, monkeypatch, end):
    closings: list[str] = []
    close_turn = talk.store.close_turn

    def close_and_count(answer: Answer) -> None:
        closings.append(answer.state)
        close_turn(answer)

    monkeypatch.setattr(talk.store, "close_turn", close_and_count)
    if end == "failed":
        talk.runtime.will_fail(FAILURE, after="H")
    if end == "left":
        events = talk.agent.turn("Hi.")
        next(event for event in events if isinstance(event, TextDelta))
        events.close()
    elif end == "stopped":
        talk.stop_at(TextDelta)
    else:
        talk.say()
    assert closings == ["stopped" if end == "left" else end]


# Saying it again


def test_regenerating_adds_a_sibling_and_both_stay(talk):
    talk.say("One.")
    first = talk.say("Two.", answer="First.")
    again = talk.regenerate(first.turn_id)
    siblings = talk.store.siblings(first.turn_id)
    assert [turn.turn_id for turn in siblings] == [first.turn_id, again.turn_id]
    assert {turn.user_text for turn in siblings} == {"Two."}
    assert talk.trace(again).prompt == talk.trace(first).prompt


def test_editing_adds_a_sibling_that_parts_from_the_common_past(talk):
    first = talk.say("One.", answer="Yes.")
    old = talk.say("Two.", answer="Old answer.")
    new = talk.edit(old.turn_id, "Three.")
    assert [turn.user_text for turn in talk.store.siblings(old.turn_id)] == ["Two.", "Three."]
    read = talk.trace(new).prompt
    assert read[: len(talk.left(first))] == talk.left(first)
    assert "Two." not in talk.read(new) and "Old answer." not in talk.read(new)


def test_the_conversation_goes_on_after_the_newest_sibling(talk):
    old = talk.say("One.", answer="Old answer.")
    talk.regenerate(old.turn_id)
    prompt = talk.read(talk.say("Two."))
    assert "Old answer." not in prompt


def test_a_turn_may_follow_any_earlier_one(talk):
    first = talk.say("One.", answer="Yes.")
    talk.say("Two.")
    branch = talk.say("Three.", parent=first.turn_id)
    assert talk.turn(branch).parent_turn_id == first.turn_id
    assert talk.trace(branch).prompt[: len(talk.left(first))] == talk.left(first)
    assert "Two." not in talk.read(branch)


def test_a_pinned_expert_stays_when_its_turn_is_regenerated(talk):
    first = talk.say("@L1 Do it.")
    again = talk.regenerate(first.turn_id)
    assert (again.route.expert, again.route.reason) == ("L1", "pinned")
    assert talk.regenerate(first.turn_id, expert="L2").route.expert == "L2"


def test_a_routed_turn_is_routed_again_when_it_is_regenerated(talk):
    first = talk.say()
    talk.runtime.will_prefer("L2")
    assert talk.regenerate(first.turn_id).route.expert == "L2"


def test_an_edit_is_routed_by_its_own_words(talk):
    first = talk.say("@L1 Do it.")
    talk.runtime.will_prefer("L2")
    assert talk.edit(first.turn_id, "Code it.").route.expert == "L2"
    assert talk.edit(first.turn_id, "@L0 Say it.").route.reason == "pinned"


def test_a_failed_turn_can_be_retried(talk):
    talk.runtime.will_fail(FAILURE)
    failed = talk.say("@L1 Do it.")
    retried = talk.regenerate(failed.turn_id)
    assert (retried.state, retried.route.expert) == ("answered", "L1")
    assert talk.turn(retried).user_text == "Do it."


def test_a_turn_that_a_crash_interrupted_can_be_retried(tmp_path):
    with open_talk(tmp_path) as talk:
        before = talk.say("One.", answer="Yes.")
        talk.store.open_turn(
            "Two.", conversation_id=before.conversation_id, parent_turn_id=before.turn_id, profile="test"
        )
    with open_talk(tmp_path, conversation_id=before.conversation_id) as talk:
        interrupted = talk.turns()[-1]
        assert interrupted.state == "interrupted"
        retried = talk.regenerate(interrupted.turn_id)
        assert retried.state == "answered"
        assert talk.trace(retried).prompt[: len(talk.left(before))] == talk.left(before)


# What other turns read


def test_failed_turns_are_read_by_nobody(talk):
    talk.runtime.will_fail(FAILURE, after="Half a")
    talk.say("Broken?")
    for expert in SYSTEMS:
        prompt = talk.read(talk.say("Next.", expert))
        assert "Broken?" not in prompt and "Half a" not in prompt


def test_turns_stopped_before_the_first_word_are_read_by_nobody(talk):
    talk.stop_at(Reading, "Unanswered?", phase="answer")
    assert "Unanswered?" not in talk.read(talk.say("Next."))


def test_interrupted_turns_are_read_by_nobody(tmp_path):
    with open_talk(tmp_path) as talk:
        first = talk.say("One.")
        talk.store.open_turn(
            "Crashed?", conversation_id=first.conversation_id, parent_turn_id=first.turn_id, profile="test"
        )
    with open_talk(tmp_path, conversation_id=first.conversation_id) as talk:
        assert "Crashed?" not in talk.read(talk.say("Next."))


def test_a_stopped_turn_is_read_with_the_words_it_got_out(talk):
    talk.runtime.will_say("Hello, how are you?")
    stopped = talk.stop_at(TextDelta, "Greet me.")
    following = talk.say("Next.")
    assert talk.trace(following).prompt[: len(talk.left(stopped))] == talk.left(stopped)
    assert "Greet me.<|im_end|>\n<|im_start|>assistant\nH<|im_end|>\n" in talk.read(following)
