"""Which personal adapters answer the next turn: what the catalogue says, as far as the files bear it out."""

from pathlib import Path

from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord, InUse
from engine.errors import ModelMissing
from engine.personal import Note, NoteCode, Personal
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterRef


class CatalogueAdapters:
    """See `engine.personal.PersonalAdapters`. Of one profile on one base."""

    def __init__(self, catalogue: Catalogue, folder: Path, profile: str, base_hash: str) -> None:
        self._catalogue = catalogue
        self._folder = folder
        self._profile = profile
        self._base_hash = base_hash
        self._left_out: dict[str, str] = {}
        """Why the runtime could not use them, by hash."""

    def current(self) -> Personal:
        """Trials are judged first. An adapter on trial that cannot be used gives way to the champion."""
        notes: list[Note] = []
        adapters: dict[str, AdapterRef] = {}
        for expert, used in self._settled(notes).items():
            for record in (used.canary, used.champion):
                if record is None or expert in adapters:
                    continue
                adapter, problem = self._usable(record)
                if adapter is not None:
                    adapters[expert] = adapter
                else:
                    notes.append(Note("adapter_left_out", expert, record.content_hash, problem))
        return Personal(adapters, tuple(notes))

    def leave_out(self, adapter: AdapterRef, problem: str) -> None:
        self._left_out[adapter.content_hash] = problem

    def answered(self, adapter: AdapterRef, turn_id: str) -> None:
        self._catalogue.count_turn(adapter.content_hash, turn_id)

    def _settled(self, notes: list[Note]) -> dict[str, InUse]:
        """Who answers once every trial that is over has ended."""
        found = self._catalogue.answering(self._profile, self._base_hash)
        trials = [used.canary for used in found.values() if used.canary is not None]
        verdicts = [self._catalogue.settle_canary(canary.content_hash) for canary in trials]
        for canary, verdict in zip(trials, verdicts, strict=True):
            if verdict != "go_on":
                code: NoteCode = "canary_promoted" if verdict == "promote" else "canary_rolled_back"
                notes.append(Note(code, canary.expert, canary.content_hash))
        return self._catalogue.answering(self._profile, self._base_hash) if notes else found

    def _usable(self, record: AdapterRecord) -> tuple[AdapterRef | None, str]:
        """The adapter, or None and why not."""
        if record.content_hash in self._left_out:
            return None, self._left_out[record.content_hash]
        try:
            adapter = adapter_ref(self._folder / record.file)
        except ModelMissing as error:
            return None, error.problem
        if adapter.content_hash != record.content_hash:
            return None, f"The content of {record.file} changed."
        return adapter, ""
