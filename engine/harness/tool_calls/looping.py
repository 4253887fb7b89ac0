"""When a model goes round in circles with its tools: what is not run again, and when the tools are taken away. Pure.

Knows calls alone. A result that differs each time (a clock, a job that is waited for) is reached by other calls in
between, or in a later turn.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.harness.tool_calls.calls import ToolCall

MOST_CALLS: Final = 32
"""In one turn."""
_LONGEST_CYCLE: Final = 4
"""Calls after which one may begin again."""
_SAME_BEFORE_END: Final = 3
"""The same call in a row that ends it: the second is refused, and so says why."""
_ROUNDS_BEFORE_END: Final = 3


@dataclass(frozen=True, slots=True)
class Refuse:
    """The call is not run; `text` stands in place of its result."""

    text: str


@dataclass(frozen=True, slots=True)
class EndTools:
    """The call is not run, and the model must answer without tools; `text` is the last result it gets."""

    text: str


def judge_call(past: Sequence[ToolCall], call: ToolCall, most_calls: int = MOST_CALLS) -> Refuse | EndTools | None:
    """None where `call` may run. `past` are all calls of the turn, oldest first, those that were not run included."""
    if len(past) >= most_calls:
        return EndTools(
            f"This call was not run: {most_calls} calls are the most in one turn. "
            "Answer now with what you have, and say what is left to do."
        )
    calls = [_key(one) for one in (*past, call)]
    same = _rounds(calls, 1)
    if same >= _SAME_BEFORE_END:
        return EndTools(
            f"This call of `{call.name}` was not run: it is the same for the {_ordinal(same)} time in a row. "
            "Answer now with what you have."
        )
    if same > 1:
        return Refuse(
            f"This call of `{call.name}` was not run: it is the same as the one before, and so is its result. "
            "Use that result, call with other arguments, or answer."
        )
    for length in range(2, _LONGEST_CYCLE + 1):
        rounds = _rounds(calls, length)
        if rounds >= _ROUNDS_BEFORE_END:
            return EndTools(
                f"This call of `{call.name}` was not run: the same {length} calls have come {rounds} times over. "
                "Answer now with what you have."
            )
        if rounds > 1:
            return Refuse(
                f"This call of `{call.name}` was not run: the same {length} calls would have come twice over. "
                "You have their results. Try something else, or answer."
            )
    return None


def _rounds(calls: Sequence[tuple[str, str]], length: int) -> int:
    """How often the last `length` calls have come in a row."""
    last = calls[-length:]
    rounds = 0
    while len(last) == length and calls[len(calls) - (rounds + 1) * length : len(calls) - rounds * length] == last:
        rounds += 1
    return rounds


def _key(call: ToolCall) -> tuple[str, str]:
    """The same for calls that mean the same."""
    try:
        return call.name, json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return call.name, call.arguments


def _ordinal(number: int) -> str:
    return {3: "third", 4: "fourth", 5: "fifth"}.get(number, f"{number}th")
