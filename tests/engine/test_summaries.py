"""What one expert hears of another: when it is written, by whom, and that nobody sees it."""

import threading

from engine.events import Reading
from engine.runtime.protocol import Usage
from engine.values import Conversation, ConversationCopy, Route, TurnRecord
from tests.support.talking import SUMMARY_QUESTION, SYSTEMS, make_profile, open_talk, stack_of

LONG = "A long answer that other experts only hear about."


def test_another_experts_turn_is_read_as_the_users_text_and_its_summary(talk):
    talk.say("Book it.", "L1", answer=LONG)
    talk.runtime.will_say("Booked.")
    read = talk.read(talk.say("Thanks.", "L2"))
    assert read == (
        "<|im_start|>system\nI code.<|im_end|>\n"
        "<|im_start|>user\nBook it.<|im_end|>\n"
        "<|im_start|>assistant\n(another expert answered: Booked.)<|im_end|>\n"
        "<|im_start|>user\nThanks.<|im_end|>\n<|im_start|>assistant\n"
    )


def test_the_expert_that_answered_writes_the_summary_after_its_own_turn(talk):
    talk.say("Before.", "L1", answer="Yes.")
    about = talk.say("Book it.", "L1", answer=LONG)
    talk.runtime.will_say("Booked.")
    talk.say("Thanks.", "L2")
    (request,) = talk.runtime.summaries
    asked = f"<|im_start|>user\n{SUMMARY_QUESTION}<|im_end|>\n<|im_start|>assistant\n"
    assert request.adapters == stack_of("L1")
    assert request.tokens[: len(talk.left(about))] == talk.left(about)
    assert talk.runtime.decode(request.tokens[len(talk.left(about)) :]) == asked


def test_a_summary_of_a_turn_under_older_texts_is_written_from_that_turn_alone(talk):
    talk.say("Before.", "L1", answer="Yes.")
    talk.say("Book it.", "L1", answer=LONG)
    talk.restart(profile=make_profile(SYSTEMS | {"L1": "I act anew."}))
    talk.say("Thanks.", "L2")
    assert talk.runtime.decode(talk.runtime.summaries[0].tokens) == (
        "<|im_start|>system\nI act anew.<|im_end|>\n"
        f"<|im_start|>user\nBook it.<|im_end|>\n<|im_start|>assistant\n{LONG}<|im_end|>\n"
        f"<|im_start|>user\n{SUMMARY_QUESTION}<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_view_too_full_for_the_summary_question_is_quoted_instead(tmp_path):
    profile = make_profile(context_tokens=1000, max_answer_tokens=200, summary_tokens=90)
    with open_talk(tmp_path, profile=profile) as talk:
        talk.say("y" * 350, "L1", answer="Yes.")
        talk.say("x" * 300, "L1", answer="word " * 40)
        talk.idle()
        assert [turn.summary for turn in talk.turns()] == ["Yes.", ("word " * 40).strip()]
        assert talk.runtime.summaries == []


def test_a_summary_is_written_only_when_another_view_needs_it_and_then_once(talk):
    for expert in ("L1", "L1"):
        talk.say("Go on.", expert, answer=LONG)
    assert talk.runtime.summaries == []
    talk.runtime.will_say("First.", "Second.", "Answer.")
    talk.say("Now you.", "L2")
    assert len(talk.runtime.summaries) == 2
    talk.say("And you.", "L0")
    assert len(talk.runtime.summaries) == 2


def test_idle_time_writes_the_summaries_that_the_next_turn_would_wait_for(talk):
    talk.say("Book it.", "L1", answer=LONG)
    talk.runtime.will_say("Booked.")
    talk.idle()
    assert talk.turns()[0].summary == "Booked."
    talk.idle()
    closed = talk.say("Thanks.", "L2")
    assert len(talk.runtime.summaries) == 1
    assert closed.usage_other == Usage()
    assert "(another expert answered: Booked.)" in talk.read(closed)


def test_idle_work_ends_when_it_is_stopped(talk):
    talk.say("Book it.", "L1", answer=LONG)
    stop = threading.Event()
    stop.set()
    talk.idle(stop)
    assert talk.runtime.summaries == []
    assert talk.turns()[0].summary is None


def test_idle_work_does_not_begin_while_a_turn_runs(talk):
    talk.say("Book it.", "L1", answer=LONG)
    running = talk.agent.turn("Thanks.", conversation_id=talk.conversation_id, expert="L1")
    next(running)
    talk.idle()
    running.close()
    assert talk.runtime.summaries == []


def test_a_short_answer_is_its_own_summary(talk):
    talk.say("Ready?", "L1", answer="Yes,\nready.")
    closed = talk.say("Go.", "L2")
    assert talk.runtime.summaries == []
    assert "(another expert answered: Yes, ready.)" in talk.read(closed)


def test_a_summary_is_never_shown(talk):
    talk.say("Book it.", "L1", answer=LONG)
    talk.runtime.will_say("Booked.", "You are welcome.")
    closed = talk.say("Thanks.", "L2")
    assert talk.shown() == closed.text == "You are welcome."
    assert "summary" in {event.phase for event in talk.events if isinstance(event, Reading)}


def test_an_expert_that_says_nothing_for_a_summary_is_quoted_instead(talk):
    answer = "word " * 60
    talk.say("Book it.", "L1", answer=answer)
    talk.runtime.will_say(" ")
    read = talk.read(talk.say("Thanks.", "L2"))
    assert "(another expert answered: word word" in read and "…)" in read


def test_turns_of_an_expert_that_is_gone_are_quoted(talk):
    talk.say("Book it.", "L2", answer=LONG)
    talk.restart(profile=make_profile({"L0": "I chat.", "L1": "I act."}))
    assert f"(another expert answered: {LONG})" in talk.read(talk.say("Thanks.", "L0"))
    assert talk.runtime.summaries == []


def test_what_another_program_answered_is_quoted(talk):
    now = "2026-05-01T12:00:00+00:00"
    asked = TurnRecord("a", "c", None, "answered", "Book it.", LONG, "imported", now, Route("Elsewhere 4", "imported"))
    merged = talk.store.merge_copy(ConversationCopy(Conversation("c", "Trip", "p", now, now, "a", 1), (asked,)))
    talk.conversation_id = merged.conversation_id
    said = talk.say("Thanks.", "L0", parent=talk.store.conversation(merged.conversation_id).leaf_turn_id)
    assert f"user\nBook it.<|im_end|>\n<|im_start|>assistant\n(another expert answered: {LONG})" in talk.read(said)
    assert talk.runtime.summaries == [] and [turn.provenance for turn in talk.path(said)] == ["imported", "typed"]
