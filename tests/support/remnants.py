"""What is left of words and of token ids below a folder: in raw bytes of every file, and in every column of a database.

Reads database files as bytes, so no store may have them open.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from engine.store.rows import pack_tokens, unpack_tokens

_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


def files_with(folder: Path, *texts: str) -> list[str]:
    """Names of the files that hold one of the texts, as it is, in lower case or as JSON escapes it."""
    wanted = {form for text in texts for form in (text, text.casefold(), text.encode("unicode_escape").decode())}
    needles = [form.encode(encoding) for form in wanted for encoding in _ENCODINGS]
    return [
        file.relative_to(folder).as_posix()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and any(needle in file.read_bytes() for needle in needles)
    ]


def files_with_tokens(folder: Path, tokens: Sequence[int]) -> list[str]:
    """Names of the files that hold these token ids in a row, as columns hold them."""
    needle = pack_tokens(tuple(tokens))
    return [file.name for file in sorted(folder.rglob("*")) if file.is_file() and needle in file.read_bytes()]


def columns_with_tokens(database: Path, tokens: Sequence[int]) -> list[str]:
    """`table.column` of every blob that holds these token ids in a row once it is decoded."""
    wanted = " ".join(map(str, tokens))
    found = []
    for table, column, value in blobs(database):
        if len(value) % 4 == 0 and f" {wanted} " in f" {' '.join(map(str, unpack_tokens(value)))} ":
            found.append(f"{table}.{column}")
    return found


def blobs(database: Path) -> Iterator[tuple[str, str, bytes]]:
    """(table, column, value) of every blob of every table."""
    with closing(sqlite3.connect(database)) as connection:
        for table in tables(connection):
            for column in columns(connection, table):
                rows = connection.execute(f'SELECT "{column}" FROM "{table}" WHERE typeof("{column}") = \'blob\'')
                for (value,) in rows.fetchall():
                    yield table, column, value


def texts(database: Path) -> Iterator[tuple[str, str, str]]:
    """(table, column, value) of every text of every table, those of the search indexes included."""
    with closing(sqlite3.connect(database)) as connection:
        for table in tables(connection):
            for column in columns(connection, table):
                rows = connection.execute(f'SELECT "{column}" FROM "{table}" WHERE typeof("{column}") = \'text\'')
                for (value,) in rows.fetchall():
                    yield table, column, value


def tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%_terms'")
    return [name for (name,) in found]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
