"""What a face lets a person do to one adapter: which changes are possible, the question before each, and the change.

Every change is by hand: the gate's verdict is told with the question and stops nobody. Knows no widget.
"""

from typing import Final, Literal

from engine.adapters.records import AdapterDetails, AdapterRecord
from engine.errors import UsageProblem
from ui.adapter_lines import short, state_text, swap_line
from ui.adapter_shelf import AdapterShelf
from ui.inert import display_line
from ui.sizes import size_text
from ui.strings import say
from ui.verdicts import gate_warning

Change = Literal["promote", "rollback", "remove"]
CHANGES: Final[tuple[Change, ...]] = ("promote", "rollback", "remove")
BY_HAND: Final = "By hand."
"""The reason that the log gets."""


def possible_changes(record: AdapterRecord) -> tuple[Change, ...]:
    """What can be done to it in the state it is in."""
    if record.state == "factory":
        return ()
    changes: list[Change] = []
    if record.state != "champion" and not record.is_forgotten:
        changes.append("promote")
    changes.append("rollback" if record.state in ("champion", "canary") else "remove")
    return tuple(changes)


def check_possible(change: Change, record: AdapterRecord, language: str) -> None:
    """Raises: UsageProblem that says what state it is in, and what that allows."""
    possible = possible_changes(record)
    if change in possible:
        return
    problem = say(
        f"adapters.cannot.{change}", language, name=short(record.content_hash), state=state_text(record, language)
    )
    hints = [say(f"adapters.can.{other}", language) for other in possible]
    raise UsageProblem(problem, " ".join(hints) or say("adapters.can.nothing", language))


def question(change: Change, details: AdapterDetails, language: str) -> str:
    """What the person agrees to; and what the gate said, where an adapter is to be promoted that it did not pass."""
    record = details.record
    asked = say(
        f"adapters.{change}.ask",
        language,
        name=short(record.content_hash),
        expert=display_line(record.expert),
        size=size_text(record.size_bytes),
    )
    warning = gate_warning(details, language) if change == "promote" else ""
    return f"{warning}\n{asked}" if warning else asked


def carry_out(change: Change, record: AdapterRecord, shelf: AdapterShelf, language: str) -> str:
    """Do it; what was done, as a sentence. Raises: AgentError."""
    match change:
        case "promote":
            swap = shelf.promote_adapter(record.content_hash, BY_HAND)
            return swap_line("adapters.now_answers", swap, record.expert, language)
        case "rollback":
            swap = shelf.roll_back_adapter(record.content_hash, BY_HAND)
            return swap_line("adapters.rolled_back", swap, record.expert, language)
        case "remove":
            shelf.remove_adapter(record.content_hash)
            return say("adapters.is_gone", language, name=short(record.content_hash))
