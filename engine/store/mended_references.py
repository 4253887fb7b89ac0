"""Make what a salvage has saved whole again: whatever was said is kept, even where the row it belongs to is lost.

Knows the tables, not where they came from. Each function works on the connection it is given, without foreign keys,
and leaves transactions to its caller.
"""

import sqlite3
from datetime import UTC, datetime
from typing import Final

import engine.store.turns as turns
from engine.store.ids import IdMaker

LOST_TEXT: Final = "(This message could not be read.)"
LOST_TITLE: Final = "(Salvaged)"
_STATES: Final = ("running", "answered", "stopped", "failed", "interrupted")
_NUMBERS: Final = ("usage", "usage_other", "timing")
_LOST_TURNS = """
    SELECT turn_id, max(role = 'assistant') AS is_answered, min(created_at) AS created_at,
        COALESCE(
            (SELECT conversation_id FROM turns AS next WHERE next.parent_turn_id = messages.turn_id LIMIT 1),
            (SELECT conversation_id FROM segments JOIN epochs USING (epoch_id)
             WHERE segments.turn_id = messages.turn_id LIMIT 1)
        ) AS conversation_id
    FROM messages WHERE turn_id NOT IN (SELECT turn_id FROM turns) GROUP BY turn_id ORDER BY turn_id
"""
_LOST_CONVERSATIONS = """
    SELECT lost.*, (SELECT text FROM messages WHERE turn_id = first_turn_id AND role = 'user') AS text
    FROM (
        SELECT conversation_id, min(turn_id) AS first_turn_id, min(created_at) AS created_at,
            max(created_at) AS updated_at
        FROM turns WHERE conversation_id NOT IN (SELECT conversation_id FROM conversations) GROUP BY conversation_id
    ) AS lost
"""
_CUT_OFF = """
    parent_turn_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM turns AS parent
        WHERE parent.turn_id = turns.parent_turn_id AND parent.conversation_id = turns.conversation_id
            AND parent.turn_id < turns.turn_id
    )
"""


def fill(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Put something in place of each row that others need; what was put there, as sentences."""
    _straighten(connection)
    counts = {
        "turns were lost; their messages are kept in turns without a route.": _fill_turns(connection),
        "conversations were lost; their turns are kept under a new title.": _fill_conversations(connection),
        "turns have lost the turn before them and now begin a branch.": connection.execute(
            f"UPDATE turns SET parent_turn_id = NULL WHERE {_CUT_OFF}"
        ).rowcount,
        f"messages of the user were lost; in their place stands {LOST_TEXT!r}.": _fill_messages(connection),
    }
    connection.execute(
        """
        UPDATE conversations SET leaf_turn_id = (
            SELECT max(turn_id) FROM turns WHERE turns.conversation_id = conversations.conversation_id
        )
        WHERE leaf_turn_id IS NULL OR NOT EXISTS (
            SELECT 1 FROM turns
            WHERE turns.turn_id = leaf_turn_id AND turns.conversation_id = conversations.conversation_id
        )
        """
    )
    return tuple(f"{count} {what}" for what, count in counts.items() if count)


def drop_orphans(connection: sqlite3.Connection) -> dict[str, int]:
    """Drop rows that still name a missing one, such as tokens of a lost epoch; how many, by table."""
    orphans = {(row[0], row[1]) for row in connection.execute("PRAGMA foreign_key_check")}
    for table, rowid in orphans:
        connection.execute(f'DELETE FROM "{table}" WHERE rowid = ?', [rowid])
    tables = [table for table, _ in orphans]
    return {table: tables.count(table) for table in set(tables)}


def _straighten(connection: sqlite3.Connection) -> None:
    """Values that no reader of a turn could take."""
    connection.execute(f"UPDATE turns SET state = 'interrupted' WHERE state NOT IN {_STATES}")
    for column in _NUMBERS:
        connection.execute(f"UPDATE turns SET {column} = NULL WHERE NOT json_valid({column})")
    connection.execute(
        "UPDATE turns SET expert = NULL WHERE expert IS NOT NULL AND (route_reason IS NULL"
        " OR route_scores IS NULL OR NOT json_valid(route_scores))"
    )


def _fill_turns(connection: sqlite3.Connection) -> int:
    lost = connection.execute(_LOST_TURNS).fetchall()
    salvaged = ""
    for row in lost:
        if row["conversation_id"] is None and not salvaged:
            salvaged = IdMaker().make("c")
            turns.insert_conversation(connection, salvaged, LOST_TITLE, "", datetime.now(UTC).isoformat())
        connection.execute(
            "INSERT INTO turns (turn_id, conversation_id, parent_turn_id, state, created_at) VALUES (?, ?, NULL, ?, ?)",
            [
                row["turn_id"],
                row["conversation_id"] or salvaged,
                "answered" if row["is_answered"] else "interrupted",
                row["created_at"],
            ],
        )
    return len(lost)


def _fill_conversations(connection: sqlite3.Connection) -> int:
    lost = connection.execute(_LOST_CONVERSATIONS).fetchall()
    for row in lost:
        connection.execute(
            "INSERT INTO conversations (conversation_id, title, profile, created_at, updated_at)"
            " VALUES (?, ?, '', ?, ?)",
            [
                row["conversation_id"],
                turns.title_of(row["text"] or "") or LOST_TITLE,
                row["created_at"],
                row["updated_at"],
            ],
        )
    return len(lost)


def _fill_messages(connection: sqlite3.Connection) -> int:
    """Not `typed`: nobody typed them."""
    return connection.execute(
        """
        INSERT INTO messages (turn_id, role, text, provenance, created_at)
        SELECT turn_id, 'user', ?, 'imported', created_at FROM turns
        WHERE turn_id NOT IN (SELECT turn_id FROM messages WHERE role = 'user')
        """,
        [LOST_TEXT],
    ).rowcount
