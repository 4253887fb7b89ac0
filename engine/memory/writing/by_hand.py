"""What a user writes into their memories by hand, read by the rules: the words stay theirs, whatever the rules see.

Pure.
"""

from dataclasses import replace
from datetime import date

from engine.memory.escaping import escaped
from engine.memory.values import MemoryKind
from engine.memory.writing.own_words import SENTENCE_CHARACTERS
from engine.memory.writing.proposals import Proposal
from engine.memory.writing.proposing import proposals_in


def as_written(text: str, today: date, kind: MemoryKind | None = None, due_on: str = "", slot: str = "") -> Proposal:
    """The text as it is; kind, slot and a plan's day as the rules find them, where they are not given.

    `slot` is that of the wording before, which holds on where the rules see none and it tells no value itself.
    """
    text = escaped(text.strip())
    found = next(proposals_in(text, today), None) if len(text) <= SENTENCE_CHARACTERS else None
    if found is None or kind not in (None, found.kind):
        return Proposal(text, kind or "fact", text, slot="" if ":" in slot else slot, due_on=due_on)
    return replace(found, text=text, evidence=text, due_on=due_on or found.due_on)
