"""What it takes to look after memories: how many there are, what they say word for word, and whether more are made.

Lives in the store's database. Every method is one transaction or one read and raises StoreProblem or one of its
children when the disk or the file fails.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from engine.memory.values import Memory, MemoryState, Standing
from engine.store.database import Database
from engine.store.memories import COLUMNS, memory_of
from engine.store.memory_search import marks

MOST_WORDS: Final = 8
"""Of what is looked for; the rest is left."""


class MemoryCare:
    def __init__(self, database: Database) -> None:
        self._database = database

    def standing(self) -> Standing:
        with self._database.reading() as connection:
            counts = dict(connection.execute("SELECT state, count(*) FROM memories GROUP BY state").fetchall())
        return Standing(
            counts.get("active", 0), counts.get("pending", 0), counts.get("superseded", 0), self.paused_since()
        )

    def texts(self, states: Collection[MemoryState]) -> Sequence[str]:
        """What all memories in these states say."""
        with self._database.reading() as connection:
            found = connection.execute(f"SELECT text FROM memories WHERE state IN ({marks(states)})", list(states))
            return tuple(text for (text,) in found)

    def holding(self, words: str, states: Collection[MemoryState], limit: int) -> Sequence[Memory]:
        """Those whose text holds each of the words, letter for letter but for the case of a to z; the newest first."""
        wanted = [f"%{_plain(word)}%" for word in words.split()[:MOST_WORDS]]
        if not wanted:
            return ()
        conditions = " AND ".join(["text LIKE ? ESCAPE '!'"] * len(wanted))
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {COLUMNS} FROM memories WHERE state IN ({marks(states)}) AND {conditions}"
                " ORDER BY memory_id DESC LIMIT ?",
                [*states, *wanted, limit],
            )
            return tuple(map(memory_of, found))

    # Pause

    def paused_since(self) -> str | None:
        """Since when nothing is remembered of what the user says, ISO 8601; None while it is."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT since FROM memory_pauses").fetchone()
            return None if row is None else str(row["since"])

    def pause(self, now: datetime) -> None:
        """Where it is paused already it stays so, since then."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO memory_pauses (since) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM memory_pauses)",
                [now.isoformat(timespec="microseconds")],
            )

    def resume(self) -> None:
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM memory_pauses")


def _plain(word: str) -> str:
    """Without a meaning in a pattern."""
    for sign in "!%_":
        word = word.replace(sign, f"!{sign}")
    return word
