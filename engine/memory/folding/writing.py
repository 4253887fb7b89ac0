"""M(i+1) = write(M(i), segment): the running memory after some more turns, within its budget.

Pure. What the user said later takes the place of what it contradicts; what is said again stands once. When not all
fits, short remarks on what was asked go first, then what is not pinned, and of what is pinned the oldest, standing
instructions last of all, since no question would ever bring them back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from engine.memory.checking import user_said_so
from engine.memory.folding.noting import Noted, is_clean_turn, noted_in
from engine.memory.folding.values import STATEMENTS, FoldedLine, RunningMemory, Written
from engine.memory.writing.frames import NO_FRAME, frame_after, is_made_up
from engine.memory.writing.proposals import Proposal
from engine.memory.writing.reconciling import is_replaced, says_the_same
from engine.values import TurnRecord

Size = Callable[[FoldedLine], int]
"""Tokens that a line takes where it is read."""

_PASSING: Final = frozenset(("asked", "answered", "attached", "pasted"))


def write(
    before: RunningMemory,
    segment: Sequence[TurnRecord],
    earlier: Sequence[TurnRecord],
    budget_tokens: int,
    size: Size,
    proposals: Mapping[str, Sequence[Proposal]] | None = None,
) -> Written:
    """`earlier`: the turns of the branch before `segment`, which `before` stands for. `proposals`: a model's, by turn.

    Whatever does not fit is left out; of what is pinned it is told.
    """
    lines: Sequence[FoldedLine] = before.lines
    for noted in noted_of(segment, earlier, proposals or {}):
        lines = merged(lines, noted)
    return fitted(lines, budget_tokens, size)


def noted_of(
    segment: Sequence[TurnRecord], earlier: Sequence[TurnRecord], proposals: Mapping[str, Sequence[Proposal]]
) -> Iterator[Noted]:
    """What the turns of a segment give, in their order."""
    frame = frame_after((turn.user_text for turn in earlier if turn.provenance == "typed"), NO_FRAME)
    is_clean = all(map(is_clean_turn, earlier))
    for turn in segment:
        frame = frame_after([turn.user_text], frame) if turn.provenance == "typed" else frame
        is_clean = is_clean and is_clean_turn(turn)
        speaks = not frame.is_open and not is_made_up(turn.user_text)
        yield from noted_in(turn, speaks=speaks, is_clean=is_clean, proposals=proposals.get(turn.turn_id, ()))


def merged(lines: Sequence[FoldedLine], noted: Noted) -> list[FoldedLine]:
    """`lines` with what was noted, without what it says again or puts an end to."""
    same = [line for line in lines if is_said_again(line, noted)]
    kept = [line for line in lines if line not in same and not is_ended_by(line, noted)]
    return [*kept, replace(noted.line, is_pinned=noted.line.is_pinned or any(line.is_pinned for line in same))]


def is_said_again(line: FoldedLine, noted: Noted) -> bool:
    if noted.proposal is None or line.kind not in STATEMENTS:
        return (line.kind, line.text) == (noted.line.kind, noted.line.text)
    return says_the_same(noted.proposal, line)


def is_ended_by(line: FoldedLine, noted: Noted) -> bool:
    """Whether a line cannot hold any more after what was noted."""
    if line.kind not in STATEMENTS or noted.proposal is None:
        return False
    return is_replaced(noted.proposal, line) or user_said_so(line, noted.evidence) == "check_failed"


def fitted(lines: Sequence[FoldedLine], budget_tokens: int, size: Size) -> Written:
    """Those that fit, in their order; the worthier and then the newer have the first choice of the room."""
    kept, left = set[int](), budget_tokens
    for place in sorted(range(len(lines)), key=lambda place: (_rank(lines[place]), -place)):
        if (taken := size(lines[place])) <= left:
            left -= taken
            kept.add(place)
    out = tuple(line for place, line in enumerate(lines) if place not in kept and line.is_pinned)
    return Written(RunningMemory(tuple(line for place, line in enumerate(lines) if place in kept)), out)


def _rank(line: FoldedLine) -> int:
    if line.is_pinned:
        return 0 if line.kind == "instruction" else 1
    return 3 if line.kind in _PASSING else 2
