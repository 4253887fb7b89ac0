"""The statements for the search indexes: what is put into them, found in them, checked and made anew.

Each function works on the connection it is given; all but `rebuild` leave transactions to their caller. A message is
found by its own words and by those of the files that went with it. Memories have an index of their own, of the terms
that are kept with them; what it is asked is said by `memories`.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import engine.store.rows as rows
import engine.store.search as search
from engine.values import Attachment, SearchHit

TABLE: Final = "messages_fts"
MEMORIES: Final = "memories_fts"
TABLES: Final = (TABLE, MEMORIES)
"""What the names of all tables of the indexes begin with."""
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


def replace(connection: sqlite3.Connection, turn_id: str) -> None:
    """Index what the messages of a turn say now. What they said before stays in pages of the index until `optimize`."""
    found = connection.execute(
        f"SELECT messages.message_id, messages.text, {_FILES} FROM messages WHERE turn_id = ?", [turn_id]
    ).fetchall()
    for row in found:
        connection.execute("DELETE FROM messages_fts WHERE rowid = ?", [row["message_id"]])
        connection.execute(
            "INSERT INTO messages_fts (rowid, terms) VALUES (?, ?)",
            [row["message_id"], search.terms(_searched_in(row))],
        )


def optimize(connection: sqlite3.Connection) -> None:
    """Merge the pages of the indexes, so that none holds a term that is in no row any more."""
    for table in TABLES:
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")


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


def exists(connection: sqlite3.Connection, table: str = TABLE) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [table]).fetchone() is not None


def answers(connection: sqlite3.Connection) -> bool:
    """Whether the indexes are there and their beginnings and newest parts can be read.

    Raises: sqlite3.DatabaseError when they cannot.
    """
    for table in _wanted(connection):
        if not exists(connection, table):
            return False
        connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid DESC LIMIT 50").fetchall()
        connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH '\"a\"' LIMIT 50").fetchall()
    return True


def _wanted(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The indexes that a database of this age has."""
    return TABLES if exists(connection, "memories") else (TABLE,)


def rebuild(connection: sqlite3.Connection) -> None:
    """Make the indexes anew from messages and memories. Not within a transaction: it takes several, and a kill between
    them leaves a database without an index, which is known by that.

    An index that is damaged cannot be dropped: freeing its pages would trust what they say about other pages. So it
    is forgotten, and its pages go when the whole file is written anew.
    """
    with _transaction(connection):
        connection.execute("PRAGMA writable_schema = ON")
        for table in TABLES:
            connection.execute("DELETE FROM sqlite_master WHERE name GLOB ?", [f"{table}*"])
        connection.execute("PRAGMA writable_schema = RESET")
    connection.execute("VACUUM")
    with _transaction(connection):
        connection.execute(f"CREATE VIRTUAL TABLE {TABLE} USING fts5 (terms, tokenize = 'ascii')")
        connection.executemany(f"INSERT INTO {TABLE} (rowid, terms) VALUES (?, ?)", _search_rows(connection))
        connection.execute(f"CREATE VIRTUAL TABLE {MEMORIES} USING fts5 (terms, tokenize = 'ascii')")
        connection.execute(f"CREATE VIRTUAL TABLE {MEMORIES}_terms USING fts5vocab ({MEMORIES}, row)")
        connection.execute(
            f"INSERT INTO {MEMORIES} (rowid, terms) SELECT memory_id, terms FROM memories WHERE state = 'active'"
        )


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
        (unknown,) = connection.execute(
            "SELECT count(*) FROM memories WHERE state = 'active' AND memory_id NOT IN (SELECT rowid FROM memories_fts)"
        ).fetchone()
        for table in TABLES:
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        return f"the search index is damaged: {error}"
    if missing:
        return f"{missing} messages are missing from the search index"
    return f"{unknown} memories are missing from the search index" if unknown else ""


def _search_rows(connection: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    for row in connection.execute(f"SELECT messages.message_id, messages.text, {_FILES} FROM messages"):
        yield row["message_id"], search.terms(_searched_in(row))


def _searched_in(row: sqlite3.Row) -> str:
    return _searched(row["text"], rows.attachments_of(row["files"]))


def _searched(text: str, files: Sequence[Attachment]) -> str:
    return "\n".join([text, *(f"{file.name}\n{file.text}" for file in files)])
