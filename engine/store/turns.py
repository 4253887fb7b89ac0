"""The statements for conversations, turns and messages.

Each function works on the connection it is given and leaves transactions to its caller.
"""

import json
import sqlite3
from collections.abc import Sequence

import engine.store.index as index
import engine.store.rows as rows
from engine.errors import UnknownName
from engine.store.attribution import MISSING_ROW
from engine.values import Answer, Attachment, Conversation, MemoryLine, Provenance, TurnRecord

TITLE_CHARACTERS = 60

_CONVERSATIONS = """
    SELECT *, (SELECT count(*) FROM turns WHERE turns.conversation_id = conversations.conversation_id) AS turn_count
    FROM conversations
"""
_TURNS = """
    SELECT turns.*, asked.text AS user_text, asked.provenance, said.text AS answer_text,
        (SELECT text FROM summaries WHERE summaries.turn_id = turns.turn_id
         ORDER BY summary_id DESC LIMIT 1) AS summary,
        (SELECT value FROM signals WHERE signals.turn_id = turns.turn_id AND kind = 'thumb'
         ORDER BY signal_id DESC LIMIT 1) AS rating,
        (SELECT json_group_array(json_array(name, text))
         FROM (SELECT name, text FROM attachments WHERE attachments.turn_id = turns.turn_id ORDER BY position)
        ) AS files,
        (SELECT json_group_array(json_array(position, tool, source, arguments, state, result, is_tainted, seconds))
         FROM (SELECT * FROM calls WHERE calls.turn_id = turns.turn_id ORDER BY position)
        ) AS calls,
        (SELECT json_group_array(json_array(memory_id, line))
         FROM (SELECT memory_id, line FROM recalled WHERE recalled.turn_id = turns.turn_id ORDER BY position)
        ) AS recalled,
        (SELECT promotions.content_hash FROM traces
         JOIN promotions ON promotions.content_hash = json_extract(traces.adapters, '$[#-1].content_hash')
         WHERE traces.turn_id = turns.turn_id AND traces.kind = 'answer'
         ORDER BY trace_id DESC LIMIT 1) AS adapter
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


def insert_question(
    connection: sqlite3.Connection,
    turn_id: str,
    text: str,
    provenance: Provenance,
    attachments: Sequence[Attachment],
    now: str,
) -> None:
    """The user's message with its files, and its search row."""
    connection.executemany(
        "INSERT INTO attachments (turn_id, position, name, text) VALUES (?, ?, ?, ?)",
        [(turn_id, position, file.name, file.text) for position, file in enumerate(attachments)],
    )
    index.insert(connection, _insert_message(connection, turn_id, "user", text, provenance, now), text, attachments)


def insert_answer(connection: sqlite3.Connection, turn_id: str, text: str, now: str) -> None:
    """The expert's message and its search row."""
    index.insert(connection, _insert_message(connection, turn_id, "assistant", text, None, now), text)


def _insert_message(
    connection: sqlite3.Connection, turn_id: str, role: str, text: str, provenance: Provenance | None, now: str
) -> int:
    message_id = connection.execute(
        "INSERT INTO messages (turn_id, role, text, provenance, created_at) VALUES (?, ?, ?, ?, ?)",
        [turn_id, role, text, provenance, now],
    ).lastrowid
    assert message_id is not None
    return message_id


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


def insert_recalled(connection: sqlite3.Connection, turn_id: str, recalled: Sequence[MemoryLine]) -> None:
    connection.executemany(
        "INSERT INTO recalled (turn_id, position, memory_id, line) VALUES (?, ?, ?, ?)",
        [(turn_id, position, one.memory_id, one.line) for position, one in enumerate(recalled)],
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
    if turns[0].parent_turn_id is not None:
        # Only where an index no longer knows a row that is there; half a conversation must not pass for all of it.
        raise sqlite3.DatabaseError(f"{MISSING_ROW}: turn {turns[0].parent_turn_id}")
    return turns


def siblings(connection: sqlite3.Connection, turn_id: str) -> tuple[TurnRecord, ...]:
    of = turn(connection, turn_id)
    found = connection.execute(
        f"{_TURNS} WHERE turns.conversation_id = ? AND turns.parent_turn_id IS ? ORDER BY turns.turn_id",
        [of.conversation_id, of.parent_turn_id],
    )
    return tuple(rows.turn_of(row) for row in found)


def tree(connection: sqlite3.Connection, conversation_id: str) -> tuple[TurnRecord, ...]:
    """Ids sort by age, so a parent comes before its children."""
    found = connection.execute(f"{_TURNS} WHERE turns.conversation_id = ? ORDER BY turns.turn_id", [conversation_id])
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


def unknown_turn(turn_id: str) -> UnknownName:
    return UnknownName(f"There is no turn `{turn_id}`.", "List what there is with `macaron history list`.")


def unknown_conversation(conversation_id: str) -> UnknownName:
    return UnknownName(
        f"There is no conversation `{conversation_id}`.", "List what there is with `macaron history list`."
    )
