"""G-1: "I'll remember that" is only true when something was written."""

import pytest

from engine.memory.writing.claiming import claim_in, unkept_claim

CLAIMS = [
    "I'll remember that.",
    "Got it! I will keep that in mind for next time.",
    "I've noted your allergy.",
    "Sure, I'll make a note of it.",
    "Noted!",
    "Your preference has been saved.",
    "I won't forget.",
    "I have saved this to my memory.",
    "好的，我会记住的。",
    "我记住了！",
    "已经帮你记下了。",
    "没问题，我会一直记得你对花生过敏。",
    "已保存。",
]
NO_CLAIMS = [
    "I can't remember things between chats.",
    "Do you want me to remember that?",
    "If you like, I will remember it.",
    "Remember to drink water.",
    "You noted that earlier.",
    'He said "I will remember that".',
    "Save the file and run it.",
    "The file is saved by the editor when you close it.",
    "```\nI'll remember that\n```",
    "我没有记忆，无法记住。",
    "需要我记住吗？",
    "你可以记下这个公式。",
    "记住：先热锅再放油。",
    "Tea is a drink.",
]


@pytest.mark.parametrize("answer", CLAIMS)
def test_a_claim_is_seen(answer):
    assert claim_in(answer) is not None


@pytest.mark.parametrize("answer", NO_CLAIMS)
def test_anything_else_is_no_claim(answer):
    assert claim_in(answer) is None


def test_a_claim_is_unkept_only_when_nothing_was_written():
    assert unkept_claim("Thanks. I'll remember that.", 0) == "I'll remember that."
    assert unkept_claim("Thanks. I'll remember that.", 1) is None
    assert unkept_claim("Thanks.", 0) is None
