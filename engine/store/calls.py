"""The statements for the tool calls of turns.

Each function works on the connection it is given and leaves transactions to its caller.
"""

import sqlite3

import engine.store.rows as rows
from engine.values import CallRecord, CallState

OPEN = ("waiting", "running")


def insert(connection: sqlite3.Connection, turn_id: str, call: CallRecord, now: str) -> None:
    connection.execute(
        "INSERT INTO calls (turn_id, position, tool, source, arguments, state, began_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [turn_id, call.position, rows.writable(call.tool), call.source, rows.writable(call.arguments), call.state, now],
    )


def run(connection: sqlite3.Connection, turn_id: str, position: int) -> None:
    """Raises: ValueError when it does not wait."""
    changed = connection.execute(
        "UPDATE calls SET state = 'running' WHERE turn_id = ? AND position = ? AND state = 'waiting'",
        [turn_id, position],
    ).rowcount
    if not changed:
        raise ValueError(f"call {position} of turn {turn_id} does not wait")


def close(
    connection: sqlite3.Connection,
    turn_id: str,
    position: int,
    state: CallState,
    result: str,
    *,
    is_tainted: bool,
    seconds: float,
    now: str,
) -> None:
    """Raises: ValueError when it is over already."""
    changed = connection.execute(
        "UPDATE calls SET state = ?, result = ?, is_tainted = ?, seconds = ?, closed_at = ?"
        " WHERE turn_id = ? AND position = ? AND state IN (?, ?)",
        [state, rows.writable(result), is_tainted, seconds, now, turn_id, position, *OPEN],
    ).rowcount
    if not changed:
        raise ValueError(f"call {position} of turn {turn_id} is over already")


def counts(connection: sqlite3.Connection, since: str) -> dict[str, int]:
    """How often each tool did what it was called for."""
    found = connection.execute(
        "SELECT tool, count(*) FROM calls WHERE state = 'done' AND began_at >= ? GROUP BY tool", [since]
    )
    return dict(found.fetchall())


def interrupt_open(connection: sqlite3.Connection, now: str) -> None:
    """End the calls that a process left open when it died."""
    connection.execute("UPDATE calls SET state = 'interrupted', closed_at = ? WHERE state IN (?, ?)", [now, *OPEN])
