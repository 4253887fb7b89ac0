"""What a model proposes is read line by line; what is no proposal is left out."""

from engine.memory.writing.model_proposals import read_proposals
from engine.memory.writing.proposals import Proposal


def test_lines_that_are_proposals_are_read():
    answer = """Here they are:
{"kind": "fact", "text": "Lives in Oslo", "evidence": "I moved to Oslo."},
{"kind": "preference", "text": "用户喜欢茶", "evidence": "我喜欢茶。"}
"""
    assert read_proposals(answer) == (
        Proposal("Lives in Oslo", "fact", "I moved to Oslo.", author="model"),
        Proposal("用户喜欢茶", "preference", "我喜欢茶。", author="model"),
    )


def test_anything_else_is_left_out():
    lines = [
        "nothing",
        "{",
        "[]",
        '{"kind": "secret", "text": "a", "evidence": "b"}',
        '{"kind": "fact", "text": 1, "evidence": "b"}',
        '{"kind": "fact", "text": "a"}',
        '{"kind": "fact", "kind": "plan", "text": "a", "evidence": "b"}',
        '{"a":' * 2000,
        '{"kind": "fact", "text": "' + "a" * 5000 + '", "evidence": "b"}',
    ]
    assert read_proposals("\n".join(lines)) == ()
