"""The branches of a conversation: which versions a turn has, and how a tree of turns is read by a person.

Pure: turns in, values out. Knows no widget. Edits and regenerations are siblings: same parent, another turn.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.values import TurnRecord

Position = tuple[int, int]
"""(which version, of how many), from 1."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A turn, the turns that simply follow it, and the branches that begin behind the last of them."""

    turns: tuple[TurnRecord, ...]
    """At least one."""
    branches: tuple["Branch", ...]


def positions(turns: Sequence[TurnRecord]) -> Mapping[str, Position]:
    """Turn → its place among its versions, for all turns of a conversation, oldest first."""
    versions = _children(turns)
    return {
        record.turn_id: (place, len(siblings))
        for siblings in versions.values()
        for place, record in enumerate(siblings, start=1)
    }


def neighbour(siblings: Sequence[TurnRecord], turn_id: str, step: int) -> TurnRecord | None:
    """The version `step` places behind this one; None where there is none."""
    ids = [record.turn_id for record in siblings]
    place = ids.index(turn_id) + step if turn_id in ids else -1
    return siblings[place] if 0 <= place < len(siblings) else None


def outline(turns: Sequence[TurnRecord]) -> tuple[Branch, ...]:
    """The whole conversation as branches: a stretch without alternatives is one of them, however long it is."""
    versions = _children(turns)
    # Without recursion: a conversation may have more turns than Python has frames.
    stretches: dict[str, tuple[TurnRecord, ...]] = {}
    waiting = list(versions[None])
    begun = []
    while waiting:
        first = waiting.pop()
        stretch = [first]
        while len(following := versions.get(stretch[-1].turn_id, [])) == 1:
            stretch.append(following[0])
        stretches[first.turn_id] = tuple(stretch)
        begun.append(first.turn_id)
        waiting.extend(following)
    built: dict[str, Branch] = {}
    for turn_id in reversed(begun):
        stretch_of = stretches[turn_id]
        behind = versions.get(stretch_of[-1].turn_id, [])
        built[turn_id] = Branch(stretch_of, tuple(built[record.turn_id] for record in behind))
    return tuple(built[record.turn_id] for record in versions[None])


def _children(turns: Sequence[TurnRecord]) -> dict[str | None, list[TurnRecord]]:
    """Turn → those that answer it, oldest first. Under None: those that begin the conversation."""
    known = {record.turn_id for record in turns}
    found: dict[str | None, list[TurnRecord]] = defaultdict(list)
    for record in turns:
        # A parent that is not here, as after forgetting, makes its turn a beginning.
        found[record.parent_turn_id if record.parent_turn_id in known else None].append(record)
    return found
