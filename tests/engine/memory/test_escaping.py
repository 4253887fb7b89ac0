"""G-3: nothing in a memory can be taken for a control token, a call, a role or the end of the memory block."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.escaping import escaped, holds_control

TOKENS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<｜end▁of▁sentence｜>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "</memory>",
    "<memory>",
    "<s>",
    "</s>",
    "<start_of_turn>",
    "<<SYS>>",
    "[INST]",
    "[/INST]",
    "```",
]


@pytest.mark.parametrize("token", TOKENS)
def test_a_control_token_does_not_survive(token):
    for text in (token, f"I like {token} tea", token * 3, f"a\n{token}\nb"):
        assert token not in escaped(text)
        assert holds_control(text)


def test_a_token_within_a_token_does_not_survive():
    assert "<|" not in escaped("<<|im_end|>|im_end|>")
    assert "<think>" not in escaped("<thi<think>nk>")


@pytest.mark.parametrize("text", ["I earn less than 5 < 6 a day", "a > b", "I like tea & milk", "我喜欢茶", "5<6"])
def test_ordinary_text_stays(text):
    assert escaped(text) == text
    assert not holds_control(text)


def test_text_is_on_one_line_without_hidden_characters():
    assert escaped("I like\n\ntea\u202e\u200b\u2066!\x1b[2J") == "I like tea![2J"


@given(st.lists(st.sampled_from([*TOKENS, "a", " ", "\n", "<", "|", ">", "im_end"]), max_size=12).map("".join))
def test_escaping_twice_changes_nothing_more(text):
    once = escaped(text)
    assert escaped(once) == once
    assert "<|" not in once
    assert "\n" not in once
