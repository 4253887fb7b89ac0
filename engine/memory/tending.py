"""What a user does with their memories by hand: add, put up for review, look for and look through.

What the user writes here is believed as it stands; what comes from elsewhere waits until they have looked at it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from engine.memory.escaping import escaped
from engine.memory.keeping import KeptMemories
from engine.memory.values import Draft, Memory, MemoryKind, MemoryState
from engine.memory.weighting import first_r0
from engine.memory.writing.by_hand import as_written

_AT_ONCE: Final = 1000
_THERE: Final[tuple[MemoryState, ...]] = ("active", "pending", "superseded")
_LOOKED_FOR: Final[tuple[MemoryState, ...]] = ("active", "pending")
_ANY_LENGTH: Final = 1 << 30


def add(
    kept: KeptMemories, text: str, now: datetime, today: date, kind: MemoryKind | None = None, due_on: str = ""
) -> Memory:
    """Written as it stands, in the place of what says the same otherwise or cannot hold beside it; what is there word
    for word is confirmed instead. Without a kind the rules find one. Raises: BadText."""
    wanted = as_written(text, today, kind, due_on)
    outcome = kept.reconciled(wanted)
    supersedes = outcome.supersedes
    if outcome.merged_into is not None:
        same = kept.store.get(outcome.merged_into)
        if (folded(same.text), same.kind, same.due_on) == (folded(wanted.text), wanted.kind, wanted.due_on):
            return kept.judge(same.memory_id, "approved", now)
        supersedes = (*supersedes, same.memory_id)
    draft = Draft(
        wanted.text,
        wanted.kind,
        wanted.text,
        None,
        "confirmed",
        first_r0("confirmed"),
        wanted.slot,
        wanted.due_on,
        source="user",
    )
    return kept.write(draft, now, supersedes)


def propose(kept: KeptMemories, drafts: Sequence[Draft], now: datetime) -> tuple[Memory, ...]:
    """Let them wait for the user, tainted, whatever they say of themselves; those that are there word for word, or were
    until something newer took their place, are left out. Those that wait now. Raises: BadText, UnknownName."""
    known = set(map(folded, kept.care.texts(_THERE)))
    written = list[Memory]()
    for draft in drafts:
        text = folded(escaped(draft.text))
        if text not in known:
            known.add(text)
            tainted = replace(draft, state="pending", trust="tainted", r0=first_r0("tainted"))
            written.append(kept.write(tainted, now))
    return tuple(written)


def search(kept: KeptMemories, query: str, now: datetime, limit: int) -> tuple[Memory, ...]:
    """What is recalled for it, the best first; then what holds its words, also of those that wait or have sunk."""
    recalled = [one.memory for one in kept.recall(query, now, most=limit, tokens=_ANY_LENGTH)]
    holding = kept.care.holding(query, _LOOKED_FOR, limit)
    found = {memory.memory_id: memory for memory in (*recalled, *holding)}
    return tuple(found.values())[:limit]


def every(kept: KeptMemories, states: Sequence[MemoryState]) -> Iterator[Memory]:
    """All in these states, the newest first."""
    before: int | None = None
    while page := kept.store.page(_AT_ONCE, before, states):
        yield from page
        before = page[-1].memory_id


def folded(text: str) -> str:
    """For telling whether two texts are the same word for word."""
    return " ".join(text.casefold().split())
