"""The catalogue of this process's store together with the files it names: `ui.adapter_shelf.AdapterShelf`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.adapters.catalogue import Catalogue
from engine.adapters.files import written
from engine.adapters.records import AdapterDetails, AdapterRecord, AdapterState, Evaluation, GateVerdict, Source, Swap
from engine.errors import AdapterMismatch, ModelMissing
from engine.runtime.identity import adapter_ref
from engine.store.adapter_entries import PAGE, check


class StoreShelf:
    """Who opened the store closes it."""

    def __init__(self, catalogue: Catalogue, folder: Path) -> None:
        self._catalogue = catalogue
        self._folder = folder

    def adapters(
        self,
        *,
        profile: str | None = None,
        expert: str | None = None,
        state: AdapterState | None = None,
        limit: int = PAGE,
        before: int | None = None,
    ) -> Sequence[AdapterRecord]:
        return self._catalogue.page(profile=profile, expert=expert, state=state, limit=limit, before=before)

    def adapter(self, prefix: str) -> AdapterDetails:
        return self._catalogue.details(prefix)

    def adapters_in_use(self, profile: str) -> Sequence[AdapterRecord]:
        return self._catalogue.in_use(profile)

    def adapter_verdicts(self, content_hashes: Sequence[str]) -> Mapping[str, GateVerdict]:
        return self._catalogue.verdicts(content_hashes)

    def unused_adapters(self, *, limit: int = PAGE, after: int = 0) -> Sequence[AdapterRecord]:
        return self._catalogue.garbage(limit, after=after)

    def add_adapter(self, record: AdapterRecord, sources: Sequence[Source] = ()) -> AdapterRecord:
        check(record)
        check_file(self._folder, record)
        return self._catalogue.add(record, sources)

    def add_evaluation(self, content_hash: str, evaluation: Evaluation) -> None:
        self._catalogue.add_evaluation(content_hash, evaluation)

    def promote_adapter(self, content_hash: str, reason: str = "") -> Swap:
        self._check_file(content_hash)
        return self._catalogue.promote(content_hash, reason)

    def begin_canary(self, content_hash: str, reason: str = "") -> Swap:
        self._check_file(content_hash)
        return self._catalogue.begin_canary(content_hash, reason)

    def roll_back_adapter(self, content_hash: str, reason: str = "", *, to_factory: bool = False) -> Swap:
        return self._catalogue.rollback(content_hash, reason, to_factory=to_factory)

    def remove_adapter(self, content_hash: str) -> bool:
        return self._catalogue.remove(content_hash, self._delete_file)

    def close(self) -> None:
        """Nothing here is open beyond the store."""

    def _check_file(self, content_hash: str) -> None:
        """A file that is gone or changed is refused here rather than at the next turn."""
        record = self._catalogue.get(content_hash)
        if record.kind != "factory":
            check_file(self._folder, record)

    def _delete_file(self, record: AdapterRecord) -> None:
        path = self._folder / record.file
        with written(path):
            path.unlink(missing_ok=True)


def check_file(folder: Path, record: AdapterRecord) -> Path:
    """Where the file is. Raises: ModelMissing; AdapterMismatch when it holds something else."""
    path = folder / record.file
    if not path.is_file():
        raise ModelMissing(
            f"The file of the adapter {record.content_hash[:12]} is gone: {path}.",
            "Put it back, or import the adapter again.",
        )
    if adapter_ref(path).content_hash != record.content_hash:
        raise AdapterMismatch(
            f"The file of the adapter {record.content_hash[:12]} was changed: {path}.",
            "Remove that adapter and import it again.",
        )
    return path
