"""Memories straight from the store of this process: `ui.memory_shelf.MemoryShelf`, without a host and in it."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime

from engine.forgetting import Forgotten, Wanted
from engine.memory import tending
from engine.memory.hygiene import HygieneReport, inspected
from engine.memory.keeping import KeptMemories
from engine.memory.values import Draft, Memory, MemoryDetails, MemoryKind, MemoryState, Standing, TrustTier
from engine.memory.weighting import weight
from engine.store import Store
from ui.forgetting import Forgetter


def _now() -> datetime:
    return datetime.now(UTC)


class StoredMemories:
    """Who opened the store closes it."""

    def __init__(
        self,
        kept: KeptMemories,
        store: Store,
        forgetter: Forgetter | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """`forgetter` sees to it that all that was made of a memory is forgotten with it; without one only the memory
        is. `clock` tells the time in UTC; the user's day is that of this machine."""
        self._kept = kept
        self._store = store
        self._forgetter = forgetter
        self._clock = clock

    def memories(
        self,
        *,
        states: Sequence[MemoryState] = ("active",),
        kinds: Sequence[MemoryKind] = (),
        trusts: Sequence[TrustTier] = (),
        limit: int = 50,
        before: int | None = None,
    ) -> Sequence[Memory]:
        return self._kept.store.page(limit, before, states, kinds, trusts)

    def search_memories(self, query: str, *, limit: int = 20) -> Sequence[Memory]:
        return tending.search(self._kept, query, self._clock(), limit)

    def memory(self, memory_id: int) -> MemoryDetails:
        memory, *before = self._kept.store.history(memory_id)
        turn = None if memory.turn_id is None else self._store.turn(memory.turn_id)
        said, said_at = ("", "") if turn is None else (turn.user_text, turn.created_at)
        return MemoryDetails(memory, weight(memory, self._clock(), self._kept.rules), tuple(before), said, said_at)

    def memory_standing(self) -> Standing:
        return self._kept.care.standing()

    def memory_report(self) -> HygieneReport:
        walked = tending.every(self._kept, ("active", "pending"))
        return inspected(walked, self._clock(), self._today(), self._kept.rules)

    def add_memory(self, text: str, kind: MemoryKind | None = None, due_on: str = "") -> Memory:
        return tending.add(self._kept, text, self._clock(), self._today(), kind, due_on)

    def edit_memory(
        self, memory_id: int, text: str, kind: MemoryKind | None = None, due_on: str | None = None
    ) -> Memory:
        return self._kept.edit(memory_id, text, self._clock(), kind, due_on)

    def approve_memory(self, memory_id: int) -> Memory:
        return self._kept.approve(memory_id, self._clock())

    def forget_memory(self, memory_id: int) -> Forgotten | None:
        if self._forgetter is None or self._kept.store.get(memory_id).state == "pending":
            self._kept.forget(memory_id)
            return None
        forgotten = self._forgetter.forget(Wanted(memory_id=memory_id))
        self._kept.are_gone(forgotten.memory_ids)
        return forgotten

    def propose_memories(self, drafts: Sequence[Draft]) -> Sequence[Memory]:
        return tending.propose(self._kept, drafts, self._clock())

    def set_memory_pause(self, is_paused: bool) -> Standing:
        if is_paused:
            self._kept.care.pause(self._clock())
        else:
            self._kept.care.resume()
        return self.memory_standing()

    def _today(self) -> date:
        return self._clock().astimezone().date()
