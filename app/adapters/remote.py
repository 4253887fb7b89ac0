"""The catalogue of a host that runs: `ui.adapter_shelf.AdapterShelf` over HTTP."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from app.host.connection import HostConnection
from engine.adapters.records import AdapterDetails, AdapterRecord, AdapterState, Evaluation, GateVerdict, Source, Swap
from engine.runtime import wire
from engine.store.adapter_entries import PAGE


class RemoteShelf:
    """Closes the connection it is given."""

    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection

    def adapters(
        self,
        *,
        profile: str | None = None,
        expert: str | None = None,
        state: AdapterState | None = None,
        limit: int = PAGE,
        before: int | None = None,
    ) -> Sequence[AdapterRecord]:
        found = self._call("adapters", profile=profile, expert=expert, state=state, limit=limit, before=before)
        return cast(Sequence[AdapterRecord], found)

    def adapter(self, prefix: str) -> AdapterDetails:
        return cast(AdapterDetails, self._call("adapter", prefix=prefix))

    def adapters_in_use(self, profile: str) -> Sequence[AdapterRecord]:
        return cast(Sequence[AdapterRecord], self._call("adapters_in_use", profile=profile))

    def adapter_verdicts(self, content_hashes: Sequence[str]) -> Mapping[str, GateVerdict]:
        found = self._call("adapter_verdicts", content_hashes=list(content_hashes))
        return cast(Mapping[str, GateVerdict], found)

    def unused_adapters(self, *, limit: int = PAGE, after: int = 0) -> Sequence[AdapterRecord]:
        return cast(Sequence[AdapterRecord], self._call("unused_adapters", limit=limit, after=after))

    def add_adapter(self, record: AdapterRecord, sources: Sequence[Source] = ()) -> AdapterRecord:
        plain = {"record": wire.to_plain(record), "sources": wire.to_plain(tuple(sources))}
        return cast(AdapterRecord, self._call("add_adapter", **plain))

    def add_evaluation(self, content_hash: str, evaluation: Evaluation) -> None:
        self._call("add_evaluation", content_hash=content_hash, evaluation=wire.to_plain(evaluation))

    def promote_adapter(self, content_hash: str, reason: str = "") -> Swap:
        return cast(Swap, self._call("promote_adapter", content_hash=content_hash, reason=reason))

    def begin_canary(self, content_hash: str, reason: str = "") -> Swap:
        return cast(Swap, self._call("begin_canary", content_hash=content_hash, reason=reason))

    def roll_back_adapter(self, content_hash: str, reason: str = "", *, to_factory: bool = False) -> Swap:
        swap = self._call("roll_back_adapter", content_hash=content_hash, reason=reason, to_factory=to_factory)
        return cast(Swap, swap)

    def remove_adapter(self, content_hash: str) -> bool:
        return cast(bool, self._call("remove_adapter", content_hash=content_hash))

    def close(self) -> None:
        self._connection.close()

    def _call(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.call(name, **arguments)
