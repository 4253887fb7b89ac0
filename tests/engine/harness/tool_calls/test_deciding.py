"""One repair after a bad call, then none; and no going round in circles."""

import pytest

from engine.harness.tool_calls import (
    CallFault,
    EndTools,
    GiveUp,
    Refuse,
    Repair,
    ToolCall,
    after_faults,
    judge_call,
)
from engine.harness.tool_calls.looping import MOST_CALLS

MISSING = CallFault("arguments", "in the call of `a`, `city` is missing; it must be a text", "a")
UNREADABLE = CallFault("form", "a call cannot be read: a text in it never ends")


def calls(letters):
    return [ToolCall(letter.lower(), '{"n": 1}' if letter.islower() else '{"n": 2}') for letter in letters]


def judged(letters):
    *past, last = calls(letters)
    return judge_call(past, last)


def test_a_bad_call_is_repaired_once_with_what_is_wrong_in_it():
    decision = after_faults([MISSING], 0)
    assert isinstance(decision, Repair)
    assert "`city` is missing; it must be a text" in decision.text and "Write the whole call again" in decision.text


def test_the_second_bad_call_in_a_row_ends_the_tools():
    decision = after_faults([MISSING], 1)
    assert isinstance(decision, GiveUp)
    assert "`city` is missing" in decision.text and "Call no tool now" in decision.text


def test_what_may_not_have_been_meant_as_a_call_may_be_said_in_words():
    decision = after_faults([UNREADABLE], 0)
    assert isinstance(decision, Repair) and "answer in plain words" in decision.text


def test_faults_of_one_answer_are_told_together():
    decision = after_faults([MISSING, UNREADABLE], 0)
    assert isinstance(decision, Repair)
    assert MISSING.text in decision.text and UNREADABLE.text in decision.text
    assert "answer in plain words" not in decision.text


def test_more_repairs_can_be_allowed():
    assert isinstance(after_faults([MISSING], 1, most_repairs=2), Repair)


@pytest.mark.parametrize(
    ("letters", "decision"),
    [
        pytest.param("a", None, id="first"),
        pytest.param("ab", None, id="another"),
        pytest.param("aA", None, id="other_arguments"),
        pytest.param("aba", None, id="again_after_another"),
        pytest.param("aa", Refuse, id="same_twice"),
        pytest.param("baa", Refuse, id="same_twice_later"),
        pytest.param("aaa", EndTools, id="same_three_times"),
        pytest.param("aaaa", EndTools, id="same_four_times"),
        pytest.param("abab", Refuse, id="two_and_again"),
        pytest.param("xabab", Refuse, id="two_and_again_later"),
        pytest.param("ababa", Refuse, id="two_and_again_and_the_first"),
        pytest.param("ababab", EndTools, id="two_three_times"),
        pytest.param("abcabc", Refuse, id="three_and_again"),
        pytest.param("abcdabcd", Refuse, id="four_and_again"),
        pytest.param("abcdeabcde", None, id="five_and_again_may_be_work"),
        pytest.param("abAb", None, id="two_with_other_arguments"),
        pytest.param("aabab", Refuse, id="round_after_a_refused_call"),
    ],
)
def test_a_model_that_repeats_itself_is_refused_and_then_ended(letters, decision):
    found = judged(letters)
    assert found is None if decision is None else type(found) is decision


def test_arguments_are_compared_by_what_they_mean():
    past = [ToolCall("a", '{"x": 1, "y": [true]}')]
    assert isinstance(judge_call(past, ToolCall("a", '{"y":[true],"x":1}')), Refuse)
    assert judge_call(past, ToolCall("a", '{"y":[1],"x":1}')) is None


def test_arguments_that_cannot_be_read_are_compared_as_text():
    assert isinstance(judge_call([ToolCall("a", "{")], ToolCall("a", "{")), Refuse)
    assert judge_call([ToolCall("a", "{")], ToolCall("a", "[")) is None


def test_a_turn_has_a_number_of_calls():
    past = [ToolCall("a", f'{{"n": {number}}}') for number in range(MOST_CALLS)]
    new = ToolCall("a", '{"n": -1}')
    assert judge_call(past[:-1], new) is None
    decision = judge_call(past, new)
    assert isinstance(decision, EndTools) and str(MOST_CALLS) in decision.text
    assert isinstance(judge_call(past[:3], new, most_calls=3), EndTools)


def test_every_decision_says_which_call_was_not_run_and_what_to_do():
    for letters in ("aa", "aaa", "abab", "ababab"):
        found = judged(letters)
        assert found is not None and f"`{letters[-1]}` was not run" in found.text and "nswer" in found.text
