"""The statements for the search index: what is put into it, found in it, checked and made anew.

Each function works on the connection it is given; all but `rebuild` leave transactions to their caller. A message is
found by its own words and by those of the files that went with it.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import engine.store.rows as rows
import engine.store.search as search
from engine.values import Attachment, SearchHit

TABLE: Final = "messages_fts"
LOOKED_AT_CHARACTERS: Final = 100_000
"""A match further into a message than this is found, but its snippet is the beginning of the message."""

_FILES = """
    (SELECT json_group_array(json_array(name, text))
     FROM (SELECT name, text FROM attachments WHERE attachments.turn_id = messages.turn_id ORDER BY position)
     WHERE messages.role = 'user') AS files
"""
_HITS = f"""
    SELECT messages.*, conversations.conversation_id, conversations.title, {_FILES}
    FROM (
        SELECT rowid, rank FROM messages_fts WHERE messages_fts MATCH ? ORDER BY rank, rowid DESC LIMIT ?
    ) AS best
    JOIN messages ON messages.message_id = best.rowid
    JOIN turns ON turns.turn_id = messages.turn_id
    JOIN conversations ON conversations.conversation_id = turns.conversation_id
    ORDER BY best.rank, best.rowid DESC
"""


def insert(connection: sqlite3.Connection, message_id: int, text: str, files: Sequence[Attachment] = ()) -> None:
    connection.execute(
        "INSERT INTO messages_fts (rowid, terms) VALUES (?, ?)", [message_id, search.terms(_searched(text, files))]
    )


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
            snippet=search.snippet(_searched_in(row)[:LOOKED_AT_CHARACTERS], query),
            created_at=row["created_at"],
        )
        for row in connection.execute(_HITS, [expression, limit])
    )


def exists(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [TABLE]).fetchone() is not None


def answers(connection: sqlite3.Connection) -> bool:
    """Whether the index is there and its beginning and its newest part can be read.

    Raises: sqlite3.DatabaseError when they cannot.
    """
    if not exists(connection):
        return False
    connection.execute(f"SELECT rowid FROM {TABLE} ORDER BY rowid DESC LIMIT 50").fetchall()
    connection.execute(f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH '\"a\"' LIMIT 50").fetchall()
    return True


def rebuild(connection: sqlite3.Connection) -> None:
    """Make the index anew from the messages. Not within a transaction: it takes several, and a kill between them
    leaves a database without an index, which is known by that.

    An index that is damaged cannot be dropped: freeing its pages would trust what they say about other pages. So it
    is forgotten, and its pages go when the whole file is written anew.
    """
    with _transaction(connection):
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE name GLOB ?", [f"{TABLE}*"])
        connection.execute("PRAGMA writable_schema = RESET")
    connection.execute("VACUUM")
    with _transaction(connection):
        connection.execute(f"CREATE VIRTUAL TABLE {TABLE} USING fts5 (terms, tokenize = 'ascii')")
        connection.executemany(f"INSERT INTO {TABLE} (rowid, terms) VALUES (?, ?)", _search_rows(connection))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def problem(connection: sqlite3.Connection) -> str:
    """What is wrong with the search index, or "". Needs a connection that may write, but changes nothing."""
    try:
        (missing,) = connection.execute(
            "SELECT count(*) FROM messages WHERE message_id NOT IN (SELECT rowid FROM messages_fts)"
        ).fetchone()
        connection.execute("INSERT INTO messages_fts (messages_fts) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        return f"the search index is damaged: {error}"
    return f"{missing} messages are missing from the search index" if missing else ""


def _search_rows(connection: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    for row in connection.execute(f"SELECT messages.message_id, messages.text, {_FILES} FROM messages"):
        yield row["message_id"], search.terms(_searched_in(row))


def _searched_in(row: sqlite3.Row) -> str:
    return _searched(row["text"], rows.attachments_of(row["files"]))


def _searched(text: str, files: Sequence[Attachment]) -> str:
    return "\n".join([text, *(f"{file.name}\n{file.text}" for file in files)])
