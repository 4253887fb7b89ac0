"""All a face may do with adapters. Needs no model; what changes holds from the next turn on."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from engine.adapters.records import AdapterDetails, AdapterRecord, AdapterState, Evaluation, GateVerdict, Source, Swap


class AdapterShelf(Protocol):
    """The catalogue and its files. Every call may raise `engine.AgentError`. Adapters are named by their whole hash."""

    def adapters(
        self,
        *,
        profile: str | None = None,
        expert: str | None = None,
        state: AdapterState | None = None,
        limit: int = 50,
        before: int | None = None,
    ) -> Sequence[AdapterRecord]:
        """The newest first; `before` is the `number` of the last one of the page before."""
        ...

    def adapter(self, prefix: str) -> AdapterDetails:
        """By the beginning of its hash."""
        ...

    def adapters_in_use(self, profile: str) -> Sequence[AdapterRecord]:
        """Champions, and those on trial, of a profile on any base."""
        ...

    def adapter_verdicts(self, content_hashes: Sequence[str]) -> Mapping[str, GateVerdict]:
        """The gate's newest by hash; those that it has not seen are left out."""
        ...

    def unused_adapters(self, *, limit: int = 50, after: int = 0) -> Sequence[AdapterRecord]:
        """What has retired and need not be kept, the oldest first; `after` is the `number` of the last one before."""
        ...

    def add_adapter(self, record: AdapterRecord, sources: Sequence[Source] = ()) -> AdapterRecord:
        """Enter one whose file is there; the stored entry when it is known already."""
        ...

    def add_evaluation(self, content_hash: str, evaluation: Evaluation) -> None:
        """Write down how it did in one suite, or what the gate said of it."""
        ...

    def promote_adapter(self, content_hash: str, reason: str = "") -> Swap: ...

    def begin_canary(self, content_hash: str, reason: str = "") -> Swap:
        """Let it answer the next turns of its expert on trial; it goes back by itself when they are not liked."""
        ...

    def roll_back_adapter(self, content_hash: str, reason: str = "", *, to_factory: bool = False) -> Swap:
        """Nothing changes where this adapter is not in use, so that asking twice goes back once."""
        ...

    def remove_adapter(self, content_hash: str) -> bool:
        """Delete its file and its entry. False when there is no such adapter."""
        ...

    def close(self) -> None: ...
