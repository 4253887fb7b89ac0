"""A thought that has become too long is ended, and the answer follows; what was thought stays in the view."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.hands import NoHands
from engine.harness.formats import ChatFormat, Family
from engine.store import Store
from tests.support.hands import TestHands, call_text, tool_of
from tests.support.talking import Talk, make_profile

END = "\n</think>\n\n"
Talking = Callable[..., Talk]


@pytest.fixture
def talking(tmp_path: Path) -> Talking:
    def make(family: Family, most: int | None = 20, *tools: object) -> Talk:
        profile = make_profile(thinking=True)
        hands = TestHands([*tools], thinking_tokens=most)
        store = Store.open(tmp_path / "store.db")
        return Talk(store, profile, chat_format=ChatFormat(family), hands=hands)

    return make


def test_a_thought_that_is_opened_for_the_model_is_ended_within_the_bound(talking: Talking) -> None:
    talk = talking("qwen35")
    talk.runtime.will_say("I wonder about this for a very long time. " * 3, "Tea.")
    closed = talk.say("Tea or coffee?", "L1")
    assert closed.state == "answered" and closed.text == "I wonder about this f" + END + "Tea."
    assert talk.runtime.last_prompt().endswith("<think>\nI wonder about this f" + END)
    assert closed.usage.completion_tokens + closed.usage_other.completion_tokens == 21 + len("Tea.") + 1
    first, second = talk.store.traces(closed.turn_id)
    assert talk.runtime.decode(first.completion) == "I wonder about this f"
    assert second.prompt[: len(first.prompt)] == first.prompt
    talk.say("And now?", "L1", answer="</think>Yes.")
    assert "I wonder about this f" + END + "Tea." in talk.runtime.last_prompt()


def test_a_thought_that_the_model_opens_itself_is_ended_too(talking: Talking) -> None:
    talk = talking("qwen3")
    talk.runtime.will_say("<think>Let me see what there is, and what else there is</think>No.", "Tea.")
    assert talk.say("Tea or coffee?", "L1").text == "<think>Let me see what ther" + END + "Tea."


@pytest.mark.parametrize(
    ("family", "said"), [("qwen35", "Short.</think>"), ("qwen3", "<think>Short.</think>"), ("qwen3", "")]
)
def test_a_short_thought_and_a_long_answer_stay_as_they_are(talking: Talking, family: Family, said: str) -> None:
    answer = f"{said}The answer has many more characters than a thought may have."
    assert talking(family).say("Tea?", "L1", answer=answer).text == answer


def test_without_a_bound_a_model_thinks_as_long_as_it_likes(talking: Talking) -> None:
    answer = "I wonder about this for a very long time.</think>Tea."
    assert talking("qwen35", None).say("Tea?", "L1", answer=answer).text == answer
    assert NoHands().current().thinking_tokens is None


def test_the_bound_is_for_the_whole_turn_and_tools_are_called_after_it(talking: Talking) -> None:
    tool = tool_of("look", lambda _arguments: "42")
    talk = talking("qwen3", 20, tool)
    talk.runtime.will_say(
        "<think>Let me see.</think>" + call_text("look"), "<think>What does that mean to me?", "It is 42."
    )
    closed = talk.say("What is it?", "L1")
    assert closed.text.endswith("It is 42.") and tool.ran == [{}]
    assert closed.text.count("</think>") == 2
    assert "What does that mean to me?" not in closed.text
