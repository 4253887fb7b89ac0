"""Turns in which an expert uses tools, with a scripted model and real permissions."""

import sqlite3
import threading
import time
from contextlib import closing

import pytest

from engine.asides import Aside, at_once
from engine.errors import ConversationBusy, UsageProblem
from engine.events import ApprovalAsked, ToolCalled, ToolReturned, TurnClosed
from engine.harness.builtin.delegate import DelegateToolbox
from engine.harness.permissions import Rule
from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import ToolResult
from engine.store import Store
from tests.support.hands import TestHands, call_text, tool_of
from tests.support.talking import Talk, open_talk, stack_of

NUMBER = {"type": "integer"}


def adding():
    return tool_of("add", lambda given: str(given["a"] + given["b"]), a=NUMBER, b=NUMBER)


def writing():
    return tool_of("write", lambda given: "written", reach="files", changes=True, path={"type": "string"})


@pytest.fixture
def add():
    return adding()


@pytest.fixture
def write():
    return writing()


@pytest.fixture
def talk(tmp_path, add, write):
    with open_talk(tmp_path, hands=TestHands([add, write])) as talk:
        yield talk


def of(talk: Talk, kind):
    return [event for event in talk.events if isinstance(event, kind)]


def approve(talk: Talk, answer, *, text="Write it.", expert="L1") -> TurnClosed:
    """Say something, and answer every approval that is asked."""
    events = talk.agent.turn(text, conversation_id=talk.conversation_id, expert=expert)
    talk.events = []
    for event in events:
        if isinstance(event, Aside):
            event.run()
            continue
        talk.events.append(event)
        if isinstance(event, ApprovalAsked):
            talk.hands.approvals.answer(event.approval_id, answer(event) if callable(answer) else answer)
    closed = talk.events[-1]
    assert isinstance(closed, TurnClosed)
    talk.conversation_id = closed.conversation_id
    return closed


# The loop


def test_an_expert_calls_a_tool_reads_the_result_and_answers(talk, add):
    talk.runtime.will_say("Let me add. " + call_text("add", a=2, b=3), "It is 5.")
    closed = talk.say("What is 2 + 3?", "L1")
    assert closed.state == "answered"
    assert add.ran == [{"a": 2, "b": 3}]
    assert closed.text == "Let me add.\n\nIt is 5." == talk.shown()
    (called,), (returned,) = of(talk, ToolCalled), of(talk, ToolReturned)
    assert (called.call, called.tool) == (1, "add")
    assert (returned.state, returned.text, returned.is_tainted) == ("done", "5", False)
    assert "<tool_response>\n5\n</tool_response>" in talk.runtime.last_prompt()


def test_what_the_view_holds_is_what_was_read_and_written(talk):
    talk.runtime.will_say(call_text("add", a=2, b=3), "It is 5.")
    first = talk.say("What is 2 + 3?", "L1")
    one, two = talk.store.traces(first.turn_id)
    assert two.prompt[: len(one.prompt) + len(one.completion)] == (*one.prompt, *one.completion)
    talk.say("And now?", "L1")
    last = talk.runtime.answers[-1].tokens
    assert last[: len(two.prompt) + len(two.completion)] == (*two.prompt, *two.completion)


def test_a_call_that_has_begun_is_held_to_the_form_of_a_call(talk):
    talk.runtime.will_say("Well. " + call_text("add", a=2, b=3), "It is 5.")
    talk.say("What is 2 + 3?", "L1")
    free, held, _ = talk.runtime.answers
    assert (free.grammar, talk.runtime.decode(held.said)) == (None, "<tool_call>")
    assert held.tokens[: len(free.tokens)] == free.tokens
    assert talk.runtime.decode(held.tokens[len(free.tokens) :]) == "Well. <tool_call>"
    assert "add" in held.grammar and "write" in held.grammar


def test_what_only_looks_like_a_call_is_written_freely(talk):
    talk.runtime.will_say("Write `<tool_call>` to call.")
    assert talk.say("How?", "L1").text == "Write `<tool_call>` to call."
    assert [request.grammar for request in talk.runtime.answers] == [None]


def test_calls_and_their_results_are_kept_with_the_turn(talk):
    talk.runtime.will_say(call_text("add", a=2, b=3), "It is 5.")
    (call,) = talk.turn(talk.say("What is 2 + 3?", "L1")).calls
    assert (call.position, call.tool, call.arguments, call.state, call.result) == (
        1,
        "add",
        '{"a": 2, "b": 3}',
        "done",
        "5",
    )


def test_parallel_calls_run_in_their_order(talk, add):
    talk.runtime.will_say(call_text("add", a=1, b=1) + "\n" + call_text("add", a=2, b=2), "Two and four.")
    talk.say("Add.", "L1")
    assert [given["a"] for given in add.ran] == [1, 2]
    assert [event.text for event in of(talk, ToolReturned)] == ["2", "4"]


def test_experts_without_tools_read_nothing_of_them(talk):
    talk.say("Hi.", "L0")
    assert "add" not in talk.runtime.last_prompt()
    talk.say("Hi.", "L1")
    assert '"name": "add"' in talk.runtime.last_prompt()


def test_what_is_wrong_with_a_call_is_told_once_and_then_tools_are_gone(talk, add):
    talk.runtime.will_say(call_text("add", a="x"), call_text("add", a="y"), "I cannot.")
    closed = talk.say("Add.", "L1")
    assert add.ran == []
    assert closed.text == "I cannot."
    assert "Call no tool now" in talk.runtime.last_prompt()


def test_the_same_call_in_a_row_is_not_run_again_and_then_ends_the_tools(talk, add):
    same = call_text("add", a=1, b=1)
    talk.runtime.will_say(same, same, same, same + " Still 2.")
    closed = talk.say("Add.", "L1")
    assert add.ran == [{"a": 1, "b": 1}]
    assert [event.state for event in of(talk, ToolReturned)] == ["done", "refused", "refused"]
    assert closed.state == "answered"


def test_when_the_time_of_the_turn_is_over_no_more_tools_are_run_and_waiting_for_a_person_does_not_count(tmp_path):
    slow = tool_of("slow", lambda given: time.sleep(0.3) or "slept")
    write = writing()
    with open_talk(tmp_path, hands=TestHands([slow, write], tool_seconds=0.2)) as talk:
        talk.runtime.will_say(call_text("slow"), call_text("write", path="a"), "It is late.")
        assert talk.say("Do both.", "L1").text == "It is late."
        assert [event.state for event in of(talk, ToolReturned)] == ["done", "refused"]
        assert not write.ran
    with open_talk(tmp_path, hands=TestHands([write], tool_seconds=0.2)) as talk:
        talk.runtime.will_say(call_text("write", path="a"), call_text("write", path="b"), "Both are written.")
        approve(talk, lambda _event: time.sleep(0.3) or "once")
        assert [given["path"] for given in write.ran] == ["a", "b"]


def test_a_tool_that_fails_says_so_to_the_model_and_the_turn_goes_on(talk, add):
    def fail(given):
        raise UsageProblem("There is no such thing.", "Ask for another.")

    add.work = fail
    talk.runtime.will_say(call_text("add", a=1, b=1), "It failed.")
    closed = talk.say("Add.", "L1")
    assert (closed.state, of(talk, ToolReturned)[0].state) == ("answered", "failed")
    assert "There is no such thing. Ask for another." in talk.runtime.last_prompt()


def test_a_mistake_in_a_tool_ends_neither_the_turn_nor_the_agent(talk, add):
    def fail(given):
        raise ZeroDivisionError("by zero")

    add.work = fail
    talk.runtime.will_say(call_text("add", a=1, b=1), "It failed.")
    assert talk.say("Add.", "L1").state == "answered"
    assert len(add.ran) == 1


def test_a_result_that_does_not_fit_is_cut_and_says_so(talk, add):
    add.work = lambda given: "x" * 100_000
    talk.runtime.will_say(call_text("add", a=1, b=1), "Long.")
    assert talk.say("Add.", "L1").state == "answered"
    assert "[The rest of this result does not fit here.]" in talk.runtime.last_prompt()


# Permission


def test_what_changes_something_waits_for_a_person(talk, write):
    talk.runtime.will_say(call_text("write", path="a.txt"), "Done.")
    closed = approve(talk, "once")
    (asked,) = of(talk, ApprovalAsked)
    assert (asked.tool, asked.reason, asked.pattern) == ("write", "changes", "a.txt")
    assert asked.detail == '{"path": "a.txt"}'
    assert (closed.text, write.ran) == ("Done.", [{"path": "a.txt"}])
    assert talk.hands.remembered == []


def test_always_is_remembered_and_not_asked_again(talk, write):
    talk.runtime.will_say(call_text("write", path="a.txt"), "Done.")
    approve(talk, "always")
    assert talk.hands.remembered == [Rule("write", "a.txt", True)]
    talk.runtime.will_say(call_text("write", path="a.txt"), "Done.")
    talk.say("Again.", "L1")
    assert (of(talk, ApprovalAsked), len(write.ran)) == ([], 2)


def test_what_is_rejected_does_not_run_and_the_model_is_told(talk, write):
    talk.runtime.will_say(call_text("write", path="a.txt"), "As you wish.")
    closed = approve(talk, "reject")
    assert (write.ran, closed.text) == ([], "As you wish.")
    assert [call.state for call in talk.turn(closed).calls] == ["rejected"]
    assert "the user rejected it" in talk.runtime.last_prompt()


def test_where_nobody_can_be_asked_it_is_refused(talk, write):
    talk.hands.can_ask = False
    talk.runtime.will_say(call_text("write", path="a.txt"), "I could not.")
    closed = talk.say("Write.", "L1")
    assert (write.ran, of(talk, ApprovalAsked), closed.text) == ([], [], "I could not.")


def test_a_conversation_is_tainted_by_what_others_wrote_into_it(talk, add):
    add.work = lambda given: ToolResult("From the web.", is_tainted=True)
    talk.runtime.will_say(call_text("add", a=1, b=1), call_text("add", a=2, b=1), "Done.")
    talk.say("Add.", "L1")
    talk.runtime.will_say(call_text("add", a=3, b=1), "Done.")
    talk.say("Again.", "L1")
    assert [one.is_tainted for one in talk.hands.seen] == [False, True, True]


# Waiting


def until_asked(turn):
    """Drive a turn until it asks; its steps, the last of which is what it then waits for."""
    steps = []
    for step in turn:
        steps.append(step)
        if isinstance(step, Aside) and any(isinstance(one, ApprovalAsked) for one in steps):
            return steps
        if isinstance(step, Aside):
            step.run()
    raise AssertionError("it asked for nothing")


def test_while_one_conversation_waits_another_is_answered(talk, write):
    talk.runtime.will_say(call_text("write", path="a.txt"))
    waiting = talk.agent.turn("Write.", expert="L1")
    steps = until_asked(waiting)
    (asked,) = [step for step in steps if isinstance(step, ApprovalAsked)]
    assert talk.say("Hello.", "L0", answer="Hi.").text == "Hi."
    with pytest.raises(ConversationBusy):
        list(talk.agent.turn("More.", conversation_id=steps[0].conversation_id))
    talk.runtime.will_say("Done.")
    talk.hands.approvals.answer(asked.approval_id, "once")
    steps[-1].run()
    rest = list(at_once(waiting))
    assert rest[-1].text == "Done."
    assert write.ran == [{"path": "a.txt"}]


def test_a_stop_while_it_waits_rejects_the_call(talk, write):
    stop = threading.Event()
    talk.runtime.will_say(call_text("write", path="a.txt"))
    turn = talk.agent.turn("Write.", expert="L1", stop=stop)
    until_asked(turn)
    stop.set()
    closed = list(at_once(turn))[-1]
    assert closed.state == "stopped"
    assert (write.ran, talk.hands.approvals.waiting()) == ([], ())
    assert [call.state for call in talk.store.turn(closed.turn_id).calls] == ["interrupted"]


def test_a_turn_that_is_given_up_while_it_waits_is_closed(talk, write):
    talk.runtime.will_say(call_text("write", path="a.txt"))
    turn = talk.agent.turn("Write.", expert="L1")
    opened = until_asked(turn)[0]
    turn.close()
    found = talk.store.turn(opened.turn_id)
    assert (found.state, [call.state for call in found.calls]) == ("stopped", ["interrupted"])
    assert write.ran == []
    assert talk.say("Hello.", "L0").state == "answered"


def test_what_was_lost_while_it_waited_is_interrupted_and_has_not_run(talk, tmp_path, write):
    talk.runtime.will_say(call_text("write", path="a.txt"))
    turn = talk.agent.turn("Write.", expert="L1")
    opened = until_asked(turn)[0]
    lost = tmp_path / "lost.db"
    with closing(sqlite3.connect(tmp_path / "macaron.db")) as here, closing(sqlite3.connect(lost)) as there:
        here.backup(there)  # as a process that dies now leaves it
    turn.close()
    with Store.open(lost) as after:
        found = after.turn(opened.turn_id)
        assert (found.state, [call.state for call in found.calls]) == ("interrupted", ["interrupted"])
    assert write.ran == []


# Tools that call tools


def test_a_tool_may_call_others_which_are_asked_for_and_kept_like_any(talk, write):
    def both(invocation):
        found = invocation.others.call(ToolCall("write", '{"path": "b.txt"}'))
        return ToolResult(f"It said {found.text}.", is_tainted=False)

    outer = tool_of("outer", lambda given: "")
    outer.run = both
    talk.hands.toolboxes.append(outer)
    talk.runtime.will_say(call_text("outer"), "Done.")
    closed = approve(talk, "once")
    assert [(call.tool, call.state) for call in talk.turn(closed).calls] == [("outer", "done"), ("write", "done")]
    assert write.ran == [{"path": "b.txt"}]
    assert "It said written." in talk.runtime.last_prompt()


def test_what_a_tool_may_not_call_is_told_to_it(talk, write):
    said = []

    def outside(invocation):
        said.append(invocation.others.call(ToolCall("nothing", "{}")).text)
        return ToolResult("Done.", is_tainted=False)

    outer = tool_of("outer", lambda given: "")
    outer.run = outside
    talk.hands.toolboxes.append(outer)
    talk.runtime.will_say(call_text("outer"), "Done.")
    assert talk.say("Go.", "L1").state == "answered"
    assert "there is no tool `nothing`" in said[0]


# Delegation


def test_an_expert_hands_a_part_of_its_task_to_another_and_both_views_stay_clean(tmp_path):
    delegate = DelegateToolbox([("L2", "Codes.")])
    with open_talk(tmp_path, hands=TestHands([delegate])) as talk:
        talk.say("A first word.", "L2", answer="Yes.")
        asked = call_text("delegate", expert="L2", task="Write a function that adds.")
        talk.runtime.will_say(asked, "def add(a, b): return a + b", "Here: def add(a, b): return a + b")
        closed = talk.say("I need a function.", "L1")
        assert closed.text == "Here: def add(a, b): return a + b"
        _, sub, _ = talk.runtime.requests[-3:]
        read = talk.runtime.decode(sub.tokens)
        assert (sub.cache_key, sub.adapters) == ("", stack_of("L2"))
        assert "Write a function that adds." in read and "I code." in read
        assert "A first word." not in read and "I need a function." not in read and "<tools>" not in read
        kinds = [(trace.kind, trace.expert) for trace in talk.store.traces(closed.turn_id)]
        assert kinds == [("answer", "L1"), ("delegate", "L2"), ("answer", "L1")]
        after = talk.say("And you?", "L2", answer="I coded.")
        view = talk.read(after)
        assert "Write a function that adds." not in view
        assert "(another expert answered: " in view


def test_who_cannot_be_asked_is_told_to_the_expert(tmp_path):
    with open_talk(tmp_path, hands=TestHands([DelegateToolbox([("L2", "Codes.")])])) as talk:
        talk.runtime.will_say(call_text("delegate", expert="L7", task="Do."), "I did it myself.")
        assert talk.say("Go.", "L1").text == "I did it myself."
        assert talk.store.traces(talk.turns()[0].turn_id)[-1].kind == "answer"


# Versions


def test_another_text_or_tool_counts_from_the_next_turn_on_under_another_version(talk, write):
    one = talk.say("Hi.", "L1")
    talk.hands.heads["L1"] = "Be brief."
    two = talk.say("Hi.", "L1")
    talk.hands.toolboxes.remove(write)
    three = talk.say("Hi.", "L1")
    versions = [talk.trace(turn).harness_version for turn in (one, two, three)]
    assert len(set(versions)) == 3
    assert "I act.\n\nBe brief." in talk.read(two)
    assert '"name": "write"' not in talk.read(three)
