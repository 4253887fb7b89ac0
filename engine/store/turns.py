"""The statements for conversations, turns and messages.

Each function works on the connection it is given and leaves transactions to its caller.
"""

import json
import sqlite3
from collections.abc import Iterator
from typing import Literal

import engine.store.rows as rows
import engine.store.search as search
from engine.errors import UnknownName
from engine.values import Answer, Conversation, Provenance, SearchHit, TurnRecord

TITLE_CHARACTERS = 60

_CONVERSATIONS = """
    SELECT *, (SELECT count(*) FROM turns WHERE turns.conversation_id = conversations.conversation_id) AS turn_count
    FROM conversations
"""
_TURNS = """
    SELECT turns.*, asked.text AS user_text, asked.provenance, said.text AS answer_text,
        (SELECT text FROM summaries WHERE summaries.turn_id = turns.turn_id
         ORDER BY summary_id DESC LIMIT 1) AS summary
    FROM turns
    JOIN messages AS asked ON asked.turn_id = turns.turn_id AND asked.role = 'user'
    LEFT JOIN messages AS said ON said.turn_id = turns.turn_id AND said.role = 'assistant'
"""
_BRANCH = """
    WITH RECURSIVE branch (turn_id, parent_turn_id, depth) AS (
        SELECT turn_id, parent_turn_id, 0 FROM turns WHERE turn_id = ?
        UNION ALL
        SELECT turns.turn_id, turns.parent_turn_id, depth + 1
        FROM turns JOIN branch ON turns.turn_id = branch.parent_turn_id
    )
"""
_NEWEST_DESCENDANT = """
    WITH RECURSIVE below (turn_id) AS (
        VALUES (?)
        UNION ALL
        SELECT turns.turn_id FROM turns JOIN below ON turns.parent_turn_id = below.turn_id
    )
    SELECT max(turn_id) FROM below
"""
_HITS = """
    SELECT messages.*, conversations.conversation_id, conversations.title
    FROM (
        SELECT rowid, rank FROM messages_fts WHERE messages_fts MATCH ? ORDER BY rank, rowid DESC LIMIT ?
    ) AS best
    JOIN messages ON messages.message_id = best.rowid
    JOIN turns ON turns.turn_id = messages.turn_id
    JOIN conversations ON conversations.conversation_id = turns.conversation_id
    ORDER BY best.rank, best.rowid DESC
"""


def title_of(text: str) -> str:
    """The first line that is not blank, cut to 60 characters."""
    first_line = next((line for line in text.splitlines() if line.strip()), "")
    return first_line.strip()[:TITLE_CHARACTERS].rstrip()


def insert_conversation(
    connection: sqlite3.Connection, conversation_id: str, title: str, profile: str, now: str
) -> None:
    connection.execute(
        "INSERT INTO conversations (conversation_id, title, profile, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
        [conversation_id, title, profile, now, now],
    )


def insert_turn(
    connection: sqlite3.Connection, turn_id: str, conversation_id: str, parent_turn_id: str | None, now: str
) -> None:
    """A running turn, which becomes the leaf of its conversation."""
    connection.execute(
        "INSERT INTO turns (turn_id, conversation_id, parent_turn_id, state, created_at)"
        " VALUES (?, ?, ?, 'running', ?)",
        [turn_id, conversation_id, parent_turn_id, now],
    )
    connection.execute(
        "UPDATE conversations SET leaf_turn_id = ?, updated_at = ? WHERE conversation_id = ?",
        [turn_id, now, conversation_id],
    )


def insert_message(
    connection: sqlite3.Connection,
    turn_id: str,
    role: Literal["user", "assistant"],
    text: str,
    provenance: Provenance | None,
    now: str,
) -> None:
    """A message and its search row."""
    message_id = connection.execute(
        "INSERT INTO messages (turn_id, role, text, provenance, created_at) VALUES (?, ?, ?, ?, ?)",
        [turn_id, role, text, provenance, now],
    ).lastrowid
    connection.execute("INSERT INTO messages_fts (rowid, terms) VALUES (?, ?)", [message_id, search.terms(text)])


def close(connection: sqlite3.Connection, answer: Answer, now: str) -> None:
    """The end of a running turn: everything but its message, segments and traces.

    Raises: ValueError when the turn is not running or would not be ended, UnknownName.
    """
    if answer.state == "running":
        raise ValueError(f"turn {answer.turn_id} cannot be closed as running")
    route = answer.route
    changed = connection.execute(
        """
        UPDATE turns
        SET state = ?, closed_at = ?, expert = ?, route_reason = ?, route_scores = ?,
            usage = ?, usage_other = ?, timing = ?, problem = ?, hint = ?
        WHERE turn_id = ? AND state = 'running'
        """,
        [
            answer.state,
            now,
            route.expert if route else None,
            route.reason if route else None,
            json.dumps(dict(route.scores)) if route else None,
            rows.pack_numbers(answer.usage),
            rows.pack_numbers(answer.usage_other),
            rows.pack_numbers(answer.timing),
            rows.writable(answer.problem),
            rows.writable(answer.hint),
            answer.turn_id,
        ],
    ).rowcount
    if not changed:
        raise ValueError(f"turn {answer.turn_id} is {turn(connection, answer.turn_id).state}, not running")
    connection.execute(
        "UPDATE conversations SET updated_at = ?"
        " WHERE conversation_id = (SELECT conversation_id FROM turns WHERE turn_id = ?)",
        [now, answer.turn_id],
    )


def interrupt_running(connection: sqlite3.Connection, now: str) -> None:
    """End the turns that a process left running when it died."""
    connection.execute("UPDATE turns SET state = 'interrupted', closed_at = ? WHERE state = 'running'", [now])


def newest_turn_id(connection: sqlite3.Connection) -> str:
    """Of all conversations; empty when there is none."""
    (turn_id,) = connection.execute("SELECT max(turn_id) FROM turns").fetchone()
    return turn_id or ""


def turn(connection: sqlite3.Connection, turn_id: str) -> TurnRecord:
    row = connection.execute(f"{_TURNS} WHERE turns.turn_id = ?", [turn_id]).fetchone()
    if row is None:
        raise unknown_turn(turn_id)
    return rows.turn_of(row)


def require_turn_in(connection: sqlite3.Connection, conversation_id: str, turn_id: str) -> None:
    """Raises: UnknownName when this conversation has no such turn."""
    if turn(connection, turn_id).conversation_id != conversation_id:
        raise UnknownName(
            f"Conversation `{conversation_id}` has no turn `{turn_id}`.",
            f"Show the turns it has with `macaron history show {conversation_id}`.",
        )


def path(connection: sqlite3.Connection, turn_id: str) -> tuple[TurnRecord, ...]:
    found = connection.execute(
        f"{_BRANCH} {_TURNS} JOIN branch ON branch.turn_id = turns.turn_id ORDER BY depth DESC", [turn_id]
    )
    turns = tuple(rows.turn_of(row) for row in found)
    if not turns:
        raise unknown_turn(turn_id)
    return turns


def siblings(connection: sqlite3.Connection, turn_id: str) -> tuple[TurnRecord, ...]:
    of = turn(connection, turn_id)
    found = connection.execute(
        f"{_TURNS} WHERE turns.conversation_id = ? AND turns.parent_turn_id IS ? ORDER BY turns.turn_id",
        [of.conversation_id, of.parent_turn_id],
    )
    return tuple(rows.turn_of(row) for row in found)


def select(connection: sqlite3.Connection, turn_id: str) -> None:
    """Make the newest turn below this one, or this one, the leaf. Ids sort by age, so the newest has none below it."""
    conversation_id = turn(connection, turn_id).conversation_id
    (leaf_turn_id,) = connection.execute(_NEWEST_DESCENDANT, [turn_id]).fetchone()
    connection.execute(
        "UPDATE conversations SET leaf_turn_id = ? WHERE conversation_id = ?", [leaf_turn_id, conversation_id]
    )


def conversation(connection: sqlite3.Connection, conversation_id: str) -> Conversation:
    row = connection.execute(f"{_CONVERSATIONS} WHERE conversation_id = ?", [conversation_id]).fetchone()
    if row is None:
        raise unknown_conversation(conversation_id)
    return rows.conversation_of(row)


def conversations(connection: sqlite3.Connection, limit: int, offset: int) -> tuple[Conversation, ...]:
    found = connection.execute(
        f"{_CONVERSATIONS} ORDER BY updated_at DESC, conversation_id DESC LIMIT ? OFFSET ?", [limit, offset]
    )
    return tuple(rows.conversation_of(row) for row in found)


def rename(connection: sqlite3.Connection, conversation_id: str, title: str) -> None:
    changed = connection.execute(
        "UPDATE conversations SET title = ? WHERE conversation_id = ?", [title, conversation_id]
    ).rowcount
    if not changed:
        raise unknown_conversation(conversation_id)


def hits(connection: sqlite3.Connection, query: str, limit: int) -> tuple[SearchHit, ...]:
    """The best matches first, among equals the newest."""
    expression = search.expression(query)
    if not expression:
        return ()
    return tuple(
        SearchHit(
            conversation_id=row["conversation_id"],
            turn_id=row["turn_id"],
            role=row["role"],
            title=row["title"],
            snippet=search.snippet(row["text"], query),
            created_at=row["created_at"],
        )
        for row in connection.execute(_HITS, [expression, limit])
    )


def rebuild_search(connection: sqlite3.Connection) -> None:
    """Make the index anew from the messages; the old one may be damaged, so it is dropped rather than emptied."""
    (definition,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'messages_fts'").fetchone()
    connection.execute("DROP TABLE messages_fts")
    connection.execute(definition)
    connection.executemany("INSERT INTO messages_fts (rowid, terms) VALUES (?, ?)", _search_rows(connection))


def _search_rows(connection: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    for message_id, text in connection.execute("SELECT message_id, text FROM messages"):
        yield message_id, search.terms(text)


def search_problem(connection: sqlite3.Connection) -> str:
    """What is wrong with the search index, or "". Needs a connection that may write, but changes nothing."""
    try:
        (missing,) = connection.execute(
            "SELECT count(*) FROM messages WHERE message_id NOT IN (SELECT rowid FROM messages_fts)"
        ).fetchone()
        connection.execute("INSERT INTO messages_fts (messages_fts) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        return f"the search index is damaged: {error}"
    return f"{missing} messages are missing from the search index" if missing else ""


def unknown_turn(turn_id: str) -> UnknownName:
    return UnknownName(f"There is no turn `{turn_id}`.", "List what there is with `macaron history list`.")


def unknown_conversation(conversation_id: str) -> UnknownName:
    return UnknownName(
        f"There is no conversation `{conversation_id}`.", "List what there is with `macaron history list`."
    )
