"""One turn that goes well, as its face, its store and its runtime see it."""

import pytest

from engine.errors import BadText, ContextOverflow, UnknownName
from engine.events import Reading, RouteChosen, TextDelta
from engine.runtime.protocol import Usage
from engine.values import TurnRecord
from tests.support.scripted_runtime import OTHER_NATS, PREFERRED_NATS
from tests.support.talking import ROUTE_TEXT, make_profile, open_talk, stack_of

LONG = "A long answer that other experts only hear about."


# Opening


def test_the_message_is_committed_before_the_runtime_is_asked_anything(talk):
    seen: list[tuple[TurnRecord, ...]] = []
    talk.runtime.on_request = lambda: seen.append(talk.turns())
    talk.say("Hello.")
    assert [(turn.user_text, turn.state, turn.answer_text) for turn in seen[0]] == [("Hello.", "running", "")]


def test_a_turn_without_a_conversation_begins_one_and_the_next_continues_it(talk):
    first, second = talk.say("One."), talk.say("Two.")
    assert second.conversation_id == first.conversation_id
    assert [turn.turn_id for turn in talk.store.path(second.turn_id)] == [first.turn_id, second.turn_id]


@pytest.mark.parametrize(
    ("text", "expert", "error"),
    [
        pytest.param(" \n", None, BadText, id="empty"),
        pytest.param("caf\udce9", None, BadText, id="not-utf-8"),
        pytest.param("@L1 ", None, BadText, id="pin-alone"),
        pytest.param("@L9 Hello.", None, UnknownName, id="unknown-pin"),
        pytest.param("Hello.", "L9", UnknownName, id="unknown-expert"),
    ],
)
def test_what_cannot_be_said_is_refused_before_anything_is_stored(talk, text, expert, error):
    with pytest.raises(error):
        talk.say(text, expert)
    assert talk.store.conversations() == ()
    assert talk.runtime.requests == []


def test_a_message_longer_than_the_context_is_refused_before_anything_is_stored(tmp_path):
    with open_talk(tmp_path, profile=make_profile(context_tokens=600)) as talk:
        with pytest.raises(ContextOverflow, match="The message has 700 tokens") as caught:
            talk.say("x" * 700)
        assert "Shorten it" in caught.value.hint
        assert talk.store.conversations() == ()


def test_the_longest_message_that_is_taken_is_also_read_whole(tmp_path):
    with open_talk(tmp_path, profile=make_profile(context_tokens=600, max_answer_tokens=1)) as talk:
        talk.say("A first turn, which the second message drives out.", answer="." * 200)
        with pytest.raises(ContextOverflow) as caught:
            talk.say("x" * 600)
        room = int(caught.value.problem.split("can read ")[1].split()[0])
        with pytest.raises(ContextOverflow):
            talk.say("x" * (room + 1))
        longest = talk.say("x" * room)
        assert longest.problem == ""
        assert "x" * room in talk.read(longest)


# Routing


def test_the_preferred_expert_answers_under_its_own_adapter(talk):
    talk.runtime.will_prefer("L2")
    closed = talk.say("Fix this.")
    assert (closed.route.expert, closed.route.reason) == ("L2", "best")
    assert closed.route.scores == {"L0": OTHER_NATS, "L1": OTHER_NATS, "L2": PREFERRED_NATS}
    assert [request.adapters for request in talk.runtime.requests] == [stack_of("L2")]


def test_without_a_clear_preference_the_default_answers_first_and_then_whoever_answered_last(talk):
    assert talk.say().route.reason == "default"
    talk.say(expert="L1")
    following = talk.say()
    assert (following.route.expert, following.route.reason) == ("L1", "current")


@pytest.mark.parametrize(("text", "expert"), [("@L1 Do it.", None), ("Do it.", "L1")], ids=["in-the-text", "beside-it"])
def test_a_pinned_turn_asks_no_scores(talk, text, expert):
    talk.runtime.will_prefer("L2")
    closed = talk.say(text, expert)
    assert (closed.route.expert, closed.route.reason, closed.route.scores) == ("L1", "pinned", {})
    assert talk.turn(closed).user_text == "Do it."
    assert talk.runtime.score_requests == []


def test_an_only_expert_asks_no_scores(tmp_path):
    with open_talk(tmp_path, profile=make_profile({"L0": "I do it all."})) as talk:
        assert talk.say().route.reason == "only_expert"
        assert talk.runtime.score_requests == []


def test_the_route_is_told_before_the_answer_and_again_at_the_end(talk):
    closed = talk.say()
    (chosen,) = (event for event in talk.events if isinstance(event, RouteChosen))
    assert talk.events.index(chosen) == 1
    assert chosen.route == closed.route == talk.turn(closed).route


def test_the_router_reads_the_current_request_and_nothing_that_was_said_before(talk):
    talk.say("My name is Ada.", answer="Hello, Ada.")
    talk.say("What time is it?")
    request = talk.runtime.score_requests[-1]
    assert talk.runtime.decode(request.tokens) == (
        f"<|im_start|>system\n{ROUTE_TEXT}<|im_end|>\n"
        "<|im_start|>user\nWhat time is it?\nmodel_id=<|im_end|>\n<|im_start|>assistant\n"
    )
    assert [talk.runtime.decode(label) for label in request.labels] == ["L0", "L1", "L2"]
    assert request.adapters == stack_of("L0")


def test_of_a_long_request_the_router_reads_the_beginning_and_the_end(talk):
    talk.say("a" * 30 + "b" * 500 + "c" * 30)
    prompt = talk.runtime.decode(talk.runtime.score_requests[0].tokens)
    assert f"user\n{'a' * 20}{'c' * 20}\nmodel_id=" in prompt


# Answering


def test_the_text_is_shown_as_it_comes_and_stored_as_it_was_shown(talk):
    closed = talk.say("Hello.", answer="Hi, 你好!")
    assert [event.text for event in talk.events if isinstance(event, TextDelta)] == list("Hi, 你好!")
    assert closed.text == talk.turn(closed).answer_text == "Hi, 你好!"
    assert closed.state == talk.turn(closed).state == "answered"


def test_what_the_runtime_held_back_until_the_end_is_part_of_the_answer(talk):
    talk.runtime.will_say("Hi", held_back="\ufffd")
    assert talk.say().text == talk.shown() == "Hi\ufffd"


def test_reading_a_long_prompt_is_told_step_by_step(talk):
    talk.say("x" * 200)
    steps = [event for event in talk.events if isinstance(event, Reading)]
    assert {step.phase for step in steps} == {"answer"}
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].done == steps[-1].total == talk.events[-1].usage.prompt_tokens


def test_an_answer_cut_at_its_longest_says_so(tmp_path):
    with open_talk(tmp_path, profile=make_profile(max_answer_tokens=5)) as talk:
        closed = talk.say(answer="123456789")
        assert (closed.text, closed.state) == ("12345", "answered")
        assert talk.notices() == {"length": {"tokens": 5}}


def test_a_whole_answer_gives_no_notice(talk):
    talk.say(answer="Done.")
    assert talk.notices() == {}


def test_usage_is_of_the_answer_and_usage_other_of_route_and_summaries(talk):
    talk.say("One.", "L1", answer=LONG)
    assert talk.events[-1].usage_other == Usage()
    talk.runtime.will_prefer("L2")
    talk.runtime.will_say("Short.", "Yes.")
    closed = talk.say("Two.")
    (scored,), (summary,) = talk.runtime.score_requests, talk.runtime.summaries
    assert closed.usage.prompt_tokens == len(talk.trace(closed).prompt)
    assert closed.usage.completion_tokens == len("Yes.") + 1
    assert closed.usage_other.prompt_tokens == len(scored.tokens) + len(summary.tokens)
    assert closed.usage_other.completion_tokens == len("Short.") + 1
    assert (talk.turn(closed).usage, talk.turn(closed).usage_other) == (closed.usage, closed.usage_other)


def test_times_rise_from_the_route_to_the_first_text_to_the_end(talk):
    closed = talk.say(answer="Hello.")
    timing = closed.timing
    assert 0 < timing.route < timing.first_token < timing.total
    assert talk.turn(closed).timing == timing


def test_an_answer_without_a_word_has_no_first_token(talk):
    assert talk.say(answer="").timing.first_token is None


def test_every_answer_gets_a_seed_of_its_own_and_its_trace_keeps_it(talk):
    turns = [talk.say(), talk.say()]
    seeds = [request.sampling.seed for request in talk.runtime.answers]
    assert seeds == [talk.trace(turn).seed for turn in turns]
    assert len(set(seeds)) == 2


# Traces


def test_a_trace_holds_what_was_read_and_written_under_which_weights_and_texts(talk):
    closed = talk.say("Hello.", "L1", answer="Hi.")
    trace, (request,) = talk.trace(closed), talk.runtime.requests
    assert trace.prompt == request.tokens
    assert talk.runtime.decode(trace.completion) == "Hi.<|im_end|>"
    assert (trace.expert, trace.adapters) == ("L1", stack_of("L1"))
    assert (trace.base_hash, trace.harness_version) == ("base-1", talk.harness.version)
    assert trace.logprobs is None


def test_a_routed_turn_has_a_trace_of_the_label_that_was_likeliest(talk):
    talk.runtime.will_prefer("L2")
    trace = talk.trace(talk.say(), "route")
    assert trace.prompt == talk.runtime.score_requests[0].tokens
    assert talk.runtime.decode(trace.completion) == "L2"
    assert (trace.expert, trace.adapters) == ("L0", stack_of("L0"))


def test_a_summary_has_a_trace_with_the_turn_that_it_is_about(talk):
    about = talk.say("One.", "L1", answer=LONG)
    talk.runtime.will_say("Short.")
    talk.say("Two.", "L2")
    trace = talk.trace(about, "summary")
    assert trace.prompt == talk.runtime.summaries[0].tokens
    assert (trace.expert, talk.runtime.decode(trace.completion)) == ("L1", "Short.<|im_end|>")
