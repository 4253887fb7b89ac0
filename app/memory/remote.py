"""The memories of a host that runs: `ui.memory_shelf.MemoryShelf` over HTTP."""

from collections.abc import Sequence
from typing import Any, cast

from app.host.connection import HostConnection
from engine.forgetting import Forgotten
from engine.memory.hygiene import HygieneReport
from engine.memory.values import Draft, Memory, MemoryDetails, MemoryKind, MemoryState, Standing, TrustTier
from engine.runtime import wire


class RemoteMemories:
    """Who opened the connection closes it."""

    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection

    def memories(
        self,
        *,
        states: Sequence[MemoryState] = ("active",),
        kinds: Sequence[MemoryKind] = (),
        trusts: Sequence[TrustTier] = (),
        limit: int = 50,
        before: int | None = None,
    ) -> Sequence[Memory]:
        return cast(
            Sequence[Memory],
            self._call(
                "memories", states=list(states), kinds=list(kinds), trusts=list(trusts), limit=limit, before=before
            ),
        )

    def search_memories(self, query: str, *, limit: int = 20) -> Sequence[Memory]:
        return cast(Sequence[Memory], self._call("search_memories", query=query, limit=limit))

    def memory(self, memory_id: int) -> MemoryDetails:
        return cast(MemoryDetails, self._call("memory", memory_id=memory_id))

    def memory_standing(self) -> Standing:
        return cast(Standing, self._call("memory_standing"))

    def memory_report(self) -> HygieneReport:
        return cast(HygieneReport, self._call("memory_report"))

    def add_memory(self, text: str, kind: MemoryKind | None = None, due_on: str = "") -> Memory:
        return cast(Memory, self._call("add_memory", text=text, kind=kind, due_on=due_on))

    def edit_memory(
        self, memory_id: int, text: str, kind: MemoryKind | None = None, due_on: str | None = None
    ) -> Memory:
        return cast(Memory, self._call("edit_memory", memory_id=memory_id, text=text, kind=kind, due_on=due_on))

    def approve_memory(self, memory_id: int) -> Memory:
        return cast(Memory, self._call("approve_memory", memory_id=memory_id))

    def forget_memory(self, memory_id: int) -> Forgotten | None:
        return cast("Forgotten | None", self._call("forget_memory", memory_id=memory_id))

    def propose_memories(self, drafts: Sequence[Draft]) -> Sequence[Memory]:
        return cast(Sequence[Memory], self._call("propose_memories", drafts=wire.to_plain(drafts)))

    def set_memory_pause(self, is_paused: bool) -> Standing:
        return cast(Standing, self._call("set_memory_pause", is_paused=is_paused))

    def _call(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.call(name, **arguments)
