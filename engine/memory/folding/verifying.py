"""Whether a running memory may stand for its turns: nothing pinned is lost, nothing is invented, nothing contradicts.

Pure, and independent of who wrote it: rules or a model. A line is held against the turn that it names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.memory.escaping import escaped
from engine.memory.folding.noting import Noted, is_clean_turn
from engine.memory.folding.values import STATEMENTS, FoldedLine, RunningMemory, Written
from engine.memory.folding.writing import Size, is_ended_by, is_said_again, noted_of
from engine.memory.writing.reconciling import is_opposite
from engine.memory.writing.verifying import invented_in
from engine.values import TurnRecord

FaultKind = Literal["lost", "invented", "unknown_turn", "tainted", "contradiction", "control", "too_long"]
"""What is wrong: a pinned line is neither kept, nor replaced, nor told to be moved out; a line holds names, numbers or
words that its turn does not; it names a turn that is not there; it takes words from text that is not the user's own; it
cannot hold beside another; it holds control tokens; all of them take more than the budget."""


@dataclass(frozen=True, slots=True)
class Fault:
    kind: FaultKind
    line: FoldedLine | None = None


def faults(
    before: RunningMemory,
    segment: Sequence[TurnRecord],
    earlier: Sequence[TurnRecord],
    written: Written,
    budget_tokens: int,
    size: Size,
) -> tuple[Fault, ...]:
    """Of what was written for `segment` after `before`, which stands for `earlier`; none where all is well."""
    turns = {turn.turn_id: turn for turn in (*earlier, *segment)}
    lines = written.memory.lines
    found = [Fault("lost", line) for line in _lost(before, list(noted_of(segment, earlier, {})), written)]
    found += [Fault(kind, line) for line in lines if (kind := fault_of(line, turns))]
    found += [Fault("contradiction", line) for line in _contradicted(lines)]
    if sum(map(size, lines)) > budget_tokens:
        found.append(Fault("too_long"))
    return tuple(found)


def fault_of(line: FoldedLine, turns: Mapping[str, TurnRecord]) -> FaultKind | None:
    """What is wrong with a line by itself."""
    turn = turns.get(line.turn_id)
    if turn is None:
        return "unknown_turn"
    if escaped(line.text) != line.text:
        return "control"
    if line.kind in ("attached", "pasted"):
        return None
    if line.kind == "answered":
        return _invented(line, (turn.summary, turn.answer_text)) if is_clean_turn(turn) else "tainted"
    return _invented(line, (turn.user_text,)) if turn.provenance == "typed" else "tainted"


def _invented(line: FoldedLine, sources: Sequence[str | None]) -> FaultKind | None:
    evidence = _plain(" ".join(source for source in sources if source))
    return "invented" if invented_in(_plain(line.text.removesuffix("…")), evidence) else None


def _plain(text: str) -> str:
    """With apostrophes as a typewriter has them, which is how own words are read."""
    return escaped(text).replace("’", "'").replace("ʼ", "'")


def _lost(before: RunningMemory, noted: Sequence[Noted], written: Written) -> list[FoldedLine]:
    """Pinned lines of before and of the segment that are nowhere, and that nothing said later has replaced."""
    there = {(line.kind, line.text) for line in (*written.memory.lines, *written.moved_out)}
    wanted = [(line, -1) for line in before.lines if line.is_pinned]
    wanted += [(one.line, place) for place, one in enumerate(noted) if one.line.is_pinned]
    return [
        line
        for line, place in wanted
        if (line.kind, line.text) not in there
        and not any(is_said_again(line, later) or is_ended_by(line, later) for later in noted[place + 1 :])
    ]


def _contradicted(lines: Sequence[FoldedLine]) -> list[FoldedLine]:
    """Statements that a later one in the same slot, or the opposite, has overtaken."""
    statements = [line for line in lines if line.kind in STATEMENTS]
    return [
        line
        for place, line in enumerate(statements)
        for later in statements[place + 1 :]
        if (line.slot and line.slot == later.slot) or is_opposite(later, line)
    ]
