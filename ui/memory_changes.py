"""What a face lets a person do to one memory: which changes are possible, and the question before what is for good.

Pure. Knows no shelf and no widget.
"""

from typing import Final, Literal

from engine.errors import UsageProblem
from engine.memory.values import Memory
from ui.memory_lines import state_text, text_line
from ui.strings import say

Change = Literal["approve", "edit", "forget"]
CHANGES: Final[tuple[Change, ...]] = ("approve", "edit", "forget")


def possible_changes(memory: Memory) -> tuple[Change, ...]:
    """What can be done to it in the state it is in."""
    match memory.state:
        case "pending":
            return CHANGES
        case "active":
            return ("edit", "forget")
        case "superseded":
            return ("forget",)
        case "forgotten":
            return ()


def check_possible(change: Change, memory: Memory, language: str) -> None:
    """Raises: UsageProblem that says what state it is in."""
    if change not in possible_changes(memory):
        state = state_text(memory, language)
        raise UsageProblem(say(f"memory.cannot.{change}", language, state=state), say("memory.cannot.hint", language))


def is_asked(change: Change, memory: Memory) -> bool:
    """Whether a person is asked first: what waits was never believed, so it goes with one key."""
    return change == "forget" and memory.state != "pending"


def question(memory: Memory, language: str) -> str:
    """What a person agrees to who forgets it."""
    return f"{text_line(memory, language, None)}\n{say('memory.forget.ask.one', language)}"


def done_text(change: Change, memory: Memory, language: str) -> str:
    """What was done to it, as a sentence."""
    if change == "forget" and memory.state == "pending":
        return say("memory.rejected", language, text=text_line(memory, language))
    key = {"approve": "memory.approved", "edit": "memory.changed", "forget": "memory.is_gone"}[change]
    return say(key, language, text=text_line(memory, language))
