"""Shelves in tests: a real catalogue of adapters with real files, whose weights nobody reads, and real memories."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.adapters.shelf import StoreShelf
from app.memory.shelf import StoredMemories
from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord, Source
from engine.memory.keeping import KeptMemories
from engine.runtime.identity import adapter_ref
from engine.store import Store
from engine.values import About
from tests.engine.adapters.catalogued import named
from tests.ui.scripted import ScriptedClient


@dataclass(frozen=True)
class Shelf:
    catalogue: Catalogue
    folder: Path
    client: ScriptedClient
    """Answers with the profile "starter" and shows this shelf."""

    def put(self, name: str, *sources: Source, **changes: Any) -> AdapterRecord:
        """An adapter of L2 unless `changes` say otherwise, with a file of its own; its note is `name`."""
        file = self.folder / f"{name}.gguf"
        file.write_bytes(name.encode() * 100)
        record = named(name, content_hash=adapter_ref(file).content_hash, size_bytes=2_500_000, **changes)
        return self.catalogue.add(record, sources)

    def answering(self) -> str:
        """The notes of those that answer."""
        return ", ".join(record.note for record in self.catalogue.in_use("starter"))


@contextmanager
def open_shelf(folder: Path) -> Iterator[Shelf]:
    files = folder / "adapters"
    files.mkdir()
    with Store.open(folder / "macaron.db") as store:
        catalogue = Catalogue(store.database)
        about = About("A small base", "CPU, 1 thread (a processor)", "there is no GPU", profile="starter")
        client = ScriptedClient(shelf=StoreShelf(catalogue, files), what_answers=about)
        yield Shelf(catalogue, files, client)


@contextmanager
def open_memories(folder: Path) -> Iterator[ScriptedClient]:
    """A client that shows the memories of a store of its own."""
    with Store.open(folder / "macaron.db") as store:
        yield ScriptedClient(memories=StoredMemories(KeptMemories(store, None), store))
