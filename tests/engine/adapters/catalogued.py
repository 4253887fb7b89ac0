"""Adapters for the catalogue that exist as entries only, and turns that are liked or not."""

import hashlib
from dataclasses import replace
from typing import Any

from engine.adapters.catalogue import Catalogue
from engine.adapters.records import AdapterRecord
from engine.store import Store
from engine.values import Answer, Route

BASE = "b" * 32


def named(name: str, **changes: Any) -> AdapterRecord:
    """An adapter whose hash follows from `name`, for L2 of the starter unless `changes` say otherwise."""
    content_hash = hashlib.sha256(name.encode()).hexdigest()[:32]
    record = AdapterRecord(content_hash, BASE, "starter", "L2", "personal", f"{name}.gguf", 1000, 8, note=name)
    return replace(record, **changes)


def add_all(catalogue: Catalogue, *names: str, **changes: Any) -> list[AdapterRecord]:
    return [catalogue.add(named(name, **changes)) for name in names]


def answered_turn(store: Store, *, expert: str = "L2", rating: int = 0, state: Any = "answered") -> str:
    """The id of a turn that this expert answered."""
    turn = store.open_turn("Hi.", conversation_id=None, parent_turn_id=None, profile="starter")
    store.close_turn(Answer(turn.turn_id, state, "Hello.", Route(expert, "pinned")))
    if rating:
        store.rate(turn.turn_id, rating)  # type: ignore[arg-type]
    return turn.turn_id
