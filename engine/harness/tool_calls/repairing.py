"""What a model is told after a call that could not be run, and when it is told no more. Pure.

A model that has been told once what is wrong and does it again mostly goes on doing so; then it answers without tools.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.harness.tool_calls.checking import CallFault

MOST_REPAIRS: Final = 1
"""In a row. A call that could be run begins the count anew."""
_MOST_FAULTS: Final = 3


@dataclass(frozen=True, slots=True)
class Repair:
    """The model is told and answers again, with its tools."""

    text: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The model is told and answers without tools."""

    text: str


def after_faults(faults: Sequence[CallFault], repairs: int, most_repairs: int = MOST_REPAIRS) -> Repair | GiveUp:
    """`faults` of one answer, at least one; `repairs` is how often in a row the model has been told already."""
    said = ". Also, ".join(fault.text for fault in faults[:_MOST_FAULTS])
    if repairs >= most_repairs:
        return GiveUp(
            f"Nothing was run: {said}. Call no tool now. Answer with what you know, and say what could not be done."
        )
    if all(fault.kind == "form" for fault in faults):
        return Repair(
            f"Nothing was run: {said}. If you mean to call a tool, write the whole call again, alone and in the form "
            "that was described with the tools. If you do not, answer in plain words."
        )
    return Repair(f"Nothing was run: {said}. Write the whole call again with that corrected, or answer without it.")
