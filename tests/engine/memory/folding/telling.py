"""Turns of a conversation as tests of folding tell them."""

from typing import Any

from engine.memory.folding.values import FoldedLine
from engine.values import TurnRecord


def told(number: int, user_text: str, answer_text: str = "", **changes: Any) -> TurnRecord:
    """An answered turn that was typed on 30 November 2026, a Monday."""
    values: dict[str, Any] = {
        "turn_id": f"t{number}",
        "conversation_id": "c",
        "parent_turn_id": None,
        "state": "answered",
        "user_text": user_text,
        "answer_text": answer_text,
        "provenance": "typed",
        "created_at": "2026-11-30T10:00:00+00:00",
    }
    return TurnRecord(**values | changes)


def characters(line: FoldedLine) -> int:
    """A line's size where each character is a token."""
    return len(line.shown)
