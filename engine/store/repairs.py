"""The statements for the record of what was mended, by which mending does not go on for ever.

Each function works on the connection it is given and leaves transactions to its caller.
"""

import sqlite3
from datetime import datetime, timedelta
from typing import Final

MOST_A_DAY: Final = 3
"""What breaks more often than this is broken by something that mending does not reach, such as a failing disk."""


def record(connection: sqlite3.Connection, what: str, problem: str, now: datetime) -> None:
    connection.execute(
        "INSERT INTO repairs (what, problem, created_at) VALUES (?, ?, ?)",
        [what, problem, now.isoformat(timespec="microseconds")],
    )


def recent(connection: sqlite3.Connection, now: datetime) -> int:
    """How many there were within a day; the clock may have been set back since."""
    day = timedelta(days=1)
    (count,) = connection.execute(
        "SELECT count(*) FROM repairs WHERE created_at BETWEEN ? AND ?",
        [(now - day).isoformat(timespec="microseconds"), (now + day).isoformat(timespec="microseconds")],
    ).fetchone()
    return int(count)
