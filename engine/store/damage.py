"""Is a database file sound, and if not: is it what was said, or only the search index, which can be made anew?

Reads, changes nothing. A full check reads the whole file, so a large one that was closed in order is only sampled at
start; whatever is read or changed later is checked by SQLite page by page at that moment.
"""

import sqlite3
from dataclasses import dataclass
from typing import Final

import engine.store.index as index

SMALL_BYTES: Final = 32 << 20
"""Files up to this size are checked whole at every start; that takes some hundredths of a second."""
_SAMPLE_ROWS: Final = 50
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong, in SQLite's words; empty where nothing is."""

    content: str = ""
    """With the tables that hold what was said: they cannot be replaced by anything in the file."""
    rest: str = ""
    """With the search index or with pages that belong to no table, while all that was said is whole."""


def sample(connection: sqlite3.Connection) -> Findings:
    """Look at the newest rows of every table, where the next ones will be written, and check all if one is amiss."""
    try:
        for table in _names(connection):
            connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid DESC LIMIT {_SAMPLE_ROWS}').fetchall()
        is_sound = index.answers(connection)
    except sqlite3.DatabaseError:
        is_sound = False
    return Findings() if is_sound else examine(connection)


def examine(connection: sqlite3.Connection) -> Findings:
    """Check the whole file: its pages, and that every index knows the rows of its table."""
    overall = _check(connection, "PRAGMA integrity_check(20)")
    if not overall:
        return Findings()
    if content := content_problem(connection):
        return Findings(content=content)
    return Findings(rest=overall)


def content_problem(connection: sqlite3.Connection) -> str:
    """Check every table but the search index, its indexes and references: also that no row has gone missing."""
    for table in _names(connection):
        # A tree that was cut down to a whole but smaller one is found by the indexes that still know its rows.
        if problem := _check(connection, f'PRAGMA integrity_check("{table}")'):
            return f"{table}: {problem}"
    try:
        missing = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error)
    return f"{missing[0]} names a missing row" if missing else ""


def _names(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute(_TABLES) if not name.startswith(index.TABLES)]


def _check(connection: sqlite3.Connection, statement: str) -> str:
    """The findings on one line, or "". A check that cannot even run is a finding too."""
    try:
        findings = " ".join(" ".join(str(row[0]).split()) for row in connection.execute(statement))
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if findings == "ok" else findings
