"""Tools that were saved: every version of each, by whom, and what a person approved. Lives in the store's database.

Knows no Python. Every method is one transaction or one read and raises StoreProblem or one of its children when the
disk or the file fails.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

import engine.store.calls as calls
from engine.errors import UnknownName, UsageProblem
from engine.store.database import Database
from engine.store.rows import checked_text

MOST_TOOLS: Final = 1_000
Author = Literal["model", "user", "imported"]
_COLUMNS: Final = "name, version, source, example, author, conversation_id, is_tainted, approved_hash, created_at"


@dataclass(frozen=True, slots=True)
class ToolVersion:
    name: str
    version: int
    """From 1."""
    source: str
    example: str
    author: Author
    conversation_id: str
    """Where it was saved; empty where a person wrote it."""
    is_tainted: bool
    """Text of others was at hand where it was made."""
    approved_hash: str
    """What a person approved it with; empty before that."""
    created_at: str
    """ISO 8601, UTC."""


class ToolStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def uses(self, since: str) -> dict[str, int]:
        """How often each tool, saved or not, was run with success since then (ISO 8601)."""
        with self._database.reading() as connection:
            return calls.counts(connection, since)

    def newest(self) -> Sequence[ToolVersion]:
        """The newest version of every tool there is, by name."""
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {_COLUMNS} FROM tools WHERE removed_at IS NULL AND (name, version) IN"
                " (SELECT name, max(version) FROM tools GROUP BY name) ORDER BY name"
            ).fetchall()
        return tuple(map(_version_of, found))

    def get(self, name: str, version: int | None = None) -> ToolVersion:
        """A version, or the newest. Raises: UnknownName, also where it was removed."""
        with self._database.reading() as connection:
            return _known(connection, name, version)

    def versions(self, name: str) -> Sequence[ToolVersion]:
        """The newest first; none where there never was such a tool. Those of a removed one too."""
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {_COLUMNS} FROM tools WHERE name = ? ORDER BY version DESC", [name]
            ).fetchall()
        return tuple(map(_version_of, found))

    def add(
        self,
        name: str,
        source: str,
        example: str,
        author: Author,
        *,
        conversation_id: str = "",
        is_tainted: bool = False,
    ) -> ToolVersion:
        """The next version of this name, which nobody has approved yet; nothing new where the text is that of the last.

        Raises: BadText; UsageProblem where there are too many.
        """
        for text in (name, source, example):
            checked_text(text)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._database.transaction() as connection:
            last = connection.execute(
                f"SELECT {_COLUMNS}, removed_at FROM tools WHERE name = ? ORDER BY version DESC LIMIT 1", [name]
            ).fetchone()
            if (
                last is not None
                and last["removed_at"] is None
                and (last["source"], last["example"]) == (source, example)
            ):
                return _version_of(last)
            (count,) = connection.execute(
                "SELECT count(DISTINCT name) FROM tools WHERE removed_at IS NULL AND name != ?", [name]
            ).fetchone()
            if count >= MOST_TOOLS:
                raise UsageProblem(f"There are {MOST_TOOLS:,} tools already.", "Remove some: `macaron tools remove`.")
            connection.execute(
                "INSERT INTO tools (name, version, source, example, author, conversation_id, is_tainted, created_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [name, last["version"] + 1 if last else 1, source, example, author, conversation_id, is_tainted, now],
            )
            return _known(connection, name, None)

    def approve(self, name: str, version: int, approved_hash: str) -> None:
        """A person has approved this version with all that it reaches. Raises: UnknownName."""
        with self._database.transaction() as connection:
            _known(connection, name, version)
            connection.execute(
                "UPDATE tools SET approved_hash = ? WHERE name = ? AND version = ?", [approved_hash, name, version]
            )

    def remove(self, name: str) -> None:
        """It is offered no more; its versions can still be looked at, and a later one goes on counting.

        Raises: UnknownName.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._database.transaction() as connection:
            _known(connection, name, None)
            connection.execute("UPDATE tools SET removed_at = ? WHERE name = ? AND removed_at IS NULL", [now, name])


def _known(connection: sqlite3.Connection, name: str, version: int | None) -> ToolVersion:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM tools WHERE name = ? AND removed_at IS NULL AND (? IS NULL OR version = ?)"
        " ORDER BY version DESC LIMIT 1",
        [name, version, version],
    ).fetchone()
    if row is None:
        which = f"version {version} of the tool" if version is not None else "saved tool"
        raise UnknownName(f"There is no {which} `{name:.80}`.", "List what there is with `macaron tools list`.")
    return _version_of(row)


def _version_of(row: sqlite3.Row) -> ToolVersion:
    return ToolVersion(
        row["name"],
        row["version"],
        row["source"],
        row["example"],
        row["author"],
        row["conversation_id"],
        bool(row["is_tainted"]),
        row["approved_hash"] or "",
        row["created_at"],
    )
