"""What finds memories: the index of their terms, their vectors, and the codes of these. Lives in the store's database.

Terms, expressions, codes and vectors come ready-made from `engine.memory`. Only active memories are in the index and
have vectors. Every method is one transaction or one read and raises StoreProblem or one of its children when the disk
or the file fails; a damaged index is made anew.
"""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.memory.values import MemoryKind
from engine.store.database import Database
from engine.store.mending import IndexMender, with_a_sound_index

_CANDIDATE: Final = "memory_id, conversation_id, kind, terms, r0, validation, due_on, created_at, validated_at"
_FREQUENCY: Final = "SELECT doc FROM memories_fts_terms WHERE term = ?"
_UNEMBEDDED: Final = """
    FROM memories WHERE state = 'active' AND NOT EXISTS (
        SELECT 1 FROM memory_codes WHERE memory_codes.memory_id = memories.memory_id AND embedder = ?
    ) ORDER BY memory_id DESC
"""


@dataclass(frozen=True, slots=True)
class Vector:
    """Of a text, by the embedder of that name: what is compared, and its signs for a first pass."""

    embedder: str
    vector: bytes
    """Little-endian float32; empty, as the code, where the embedder could make nothing of the text."""
    code: bytes


@dataclass(frozen=True, slots=True)
class Candidate:
    """What ranking needs to know of an active memory."""

    memory_id: int
    conversation_id: str | None
    kind: MemoryKind
    terms: tuple[str, ...]
    r0: float
    validation: float
    due_on: str
    created_at: str
    validated_at: str | None


class MemorySearch:
    def __init__(self, database: Database, mender: IndexMender) -> None:
        self._database = database
        self.mender = mender

    def count(self) -> int:
        """How many are active."""
        with self._database.reading() as connection:
            (count,) = connection.execute("SELECT count(*) FROM memories WHERE state = 'active'").fetchone()
            return int(count)

    @with_a_sound_index
    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """How many active memories hold each term; those that none holds are left out."""
        with self._database.reading() as connection:
            asked = ((term, connection.execute(_FREQUENCY, [term]).fetchone()) for term in terms)
            return {term: row[0] for term, row in asked if row is not None}

    @with_a_sound_index
    def matching(self, expression: str, limit: int) -> tuple[int, ...]:
        """The active memories that an FTS5 expression finds, the best first."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ? ORDER BY rank LIMIT ?", [expression, limit]
            )
            return tuple(memory_id for (memory_id,) in found)

    def candidates(self, memory_ids: Collection[int]) -> dict[int, Candidate]:
        """By number; those that are not active are left out."""
        with self._database.reading() as connection:
            # The plus keeps SQLite from walking all that are active.
            found = connection.execute(
                f"SELECT {_CANDIDATE} FROM memories WHERE memory_id IN ({marks(memory_ids)}) AND +state = 'active'",
                list(memory_ids),
            )
            return {row[0]: _candidate_of(tuple(row)) for row in found}

    def vectors(self, memory_ids: Collection[int]) -> dict[int, bytes]:
        """Little-endian float32, by number; those without one are left out."""
        with self._database.reading() as connection:
            return dict(
                connection.execute(
                    f"SELECT memory_id, vector FROM memory_vectors WHERE memory_id IN ({marks(memory_ids)})",
                    list(memory_ids),
                )
            )

    def codes(self, embedder: str) -> tuple[list[int], bytes]:
        """The numbers of all memories with a vector by this embedder, and their codes one after the other."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT memory_id, code FROM memory_codes WHERE embedder = ? AND code <> x'' ORDER BY memory_id",
                [embedder],
            ).fetchall()
        return [row[0] for row in found], b"".join(row[1] for row in found)

    def unembedded(self, embedder: str, limit: int) -> Sequence[tuple[int, str]]:
        """(number, text) of active memories without a vector by this embedder, the newest first."""
        with self._database.reading() as connection:
            found = connection.execute(f"SELECT memory_id, text {_UNEMBEDDED} LIMIT ?", [embedder, limit])
            return tuple((row[0], row[1]) for row in found)

    def count_unembedded(self, embedder: str) -> int:
        with self._database.reading() as connection:
            (count,) = connection.execute(f"SELECT count(*) FROM (SELECT 1 {_UNEMBEDDED})", [embedder]).fetchone()
            return int(count)

    def put_vectors(self, vectors: Sequence[tuple[int, Vector]]) -> Sequence[int]:
        """Replace the vectors of active memories; the numbers of those that were still there."""
        with self._database.transaction() as connection:
            there = [
                (memory_id, vector)
                for memory_id, vector in vectors
                if connection.execute(
                    "SELECT 1 FROM memories WHERE memory_id = ? AND state = 'active'", [memory_id]
                ).fetchone()
            ]
            for memory_id, vector in there:
                put_vector(connection, memory_id, vector)
            return tuple(memory_id for memory_id, _ in there)


def put_vector(connection: sqlite3.Connection, memory_id: int, vector: Vector) -> None:
    """In the place of any other; within a transaction of the caller's."""
    connection.execute(
        "INSERT OR REPLACE INTO memory_codes (memory_id, embedder, code) VALUES (?, ?, ?)",
        [memory_id, vector.embedder, vector.code],
    )
    connection.execute("DELETE FROM memory_vectors WHERE memory_id = ?", [memory_id])
    if vector.vector:
        connection.execute("INSERT INTO memory_vectors (memory_id, vector) VALUES (?, ?)", [memory_id, vector.vector])


def _candidate_of(row: tuple[Any, ...]) -> Candidate:
    memory_id, conversation_id, kind, terms, r0, validation, due_on, created_at, validated_at = row
    return Candidate(
        memory_id, conversation_id, kind, tuple(terms.split()), r0, validation, due_on, created_at, validated_at
    )


def marks(values: Collection[object]) -> str:
    """A place in a statement for each value."""
    return ", ".join("?" for _ in values)
