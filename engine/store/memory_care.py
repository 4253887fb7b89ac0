"""What it takes to look after memories: how many there are, what they say word for word, and whether more are made.

Lives in the store's database. Every method is one transaction or one read and raises StoreProblem or one of its
children when the disk or the file fails.
"""

from datetime import datetime

from engine.store.database import Database


class MemoryCare:
    def __init__(self, database: Database) -> None:
        self._database = database

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
