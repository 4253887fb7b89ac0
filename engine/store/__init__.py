"""Everything that must survive: SQLite with one writer, append-only migrations, search."""

from engine.store.store import Store

__all__ = ["Store"]
