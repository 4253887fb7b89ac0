"""Notes: short texts that the user or a tool keeps. Lives in the store's database.

Found by words, Chinese ones too, with the terms that `search` makes. They are compared row by row: a person's notes
are few, and an index of their own would be one more thing that can break. Every method is one transaction or one read
and raises StoreProblem or one of its children when the disk or the file fails.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import engine.store.search as search
from engine.errors import BadText, UnknownName, UsageProblem
from engine.store.database import Database
from engine.store.rows import checked_text

Source = Literal["user", "model", "imported"]
"""Who wrote it. Only what the user wrote is their word."""

MOST_NOTES: Final = 10_000
TITLE_CHARACTERS: Final = 200
TEXT_CHARACTERS: Final = 100_000
PAGE: Final = 50
KEPT_AFTER_REMOVAL: Final = timedelta(days=30)
"""How long a removed note can be brought back; then its text is gone."""


@dataclass(frozen=True, slots=True)
class Note:
    note_id: int
    title: str
    text: str
    source: Source
    created_at: str
    updated_at: str
    is_removed: bool = False


class NoteStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, title: str, text: str, source: Source) -> Note:
        """Raises: BadText for empty, too long or invalid text; UsageProblem when there are too many notes."""
        title, text = _checked(title, text)
        now = _now()
        with self._database.transaction() as connection:
            _purge(connection)
            (count,) = connection.execute("SELECT count(*) FROM notes").fetchone()
            if count >= MOST_NOTES:
                raise UsageProblem(f"There are {MOST_NOTES:,} notes already.", "Remove some first.")
            note_id = connection.execute(
                "INSERT INTO notes (title, text, terms, source, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
                [title, text, _terms(title, text), source, now, now],
            ).lastrowid
            assert note_id is not None
            return _known(connection, note_id)

    def get(self, note_id: int) -> Note:
        """Also one that was removed. Raises: UnknownName."""
        with self._database.reading() as connection:
            return _known(connection, note_id)

    def undone(self, note_id: int) -> Note:
        """What `undo` would make of it. Raises: as `undo`."""
        with self._database.reading() as connection:
            return _undone(connection, _known(connection, note_id))

    def page(self, limit: int = PAGE, skipped: int = 0) -> Sequence[Note]:
        """The last changed first, without those removed."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT * FROM notes WHERE removed_at IS NULL ORDER BY updated_at DESC, note_id DESC LIMIT ? OFFSET ?",
                [limit, skipped],
            )
            return tuple(map(_note_of, found))

    def search(self, query: str, limit: int = PAGE) -> Sequence[Note]:
        """Those that hold every word of the query, whose last may be the beginning of one; the last changed first."""
        needles = _needles(query)
        if not needles:
            return ()
        conditions = " AND ".join("instr(' ' || terms || ' ', ?)" for _ in needles)
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT * FROM notes WHERE removed_at IS NULL AND {conditions}"
                " ORDER BY updated_at DESC, note_id DESC LIMIT ?",
                [*needles, limit],
            )
            return tuple(map(_note_of, found))

    def edit(self, note_id: int, title: str, text: str, source: Source) -> Note:
        """What it was before is kept, once. Raises: UnknownName, BadText; UsageProblem for a removed one."""
        title, text = _checked(title, text)
        with self._database.transaction() as connection:
            known = _present(connection, note_id)
            _write(connection, known, title, text, source)
            return _known(connection, note_id)

    def remove(self, note_id: int) -> Note:
        """It can be brought back with `undo` for a month. Raises: UnknownName, UsageProblem."""
        with self._database.transaction() as connection:
            _purge(connection)
            _present(connection, note_id)
            connection.execute("UPDATE notes SET removed_at = ? WHERE note_id = ?", [_now(), note_id])
            return _known(connection, note_id)

    def undo(self, note_id: int) -> Note:
        """Bring back a removed note, or else what it was before its last edit; undoing an edit twice does it again.

        Raises: UnknownName; UsageProblem when nothing was changed.
        """
        with self._database.transaction() as connection:
            known = _known(connection, note_id)
            undone = _undone(connection, known)
            if known.is_removed:
                connection.execute("UPDATE notes SET removed_at = NULL WHERE note_id = ?", [note_id])
            else:
                _write(connection, known, undone.title, undone.text, undone.source)
            return _known(connection, note_id)

    def erase(self, note_id: int) -> None:
        """Gone at once, with what it was before. Raises: UnknownName."""
        with self._database.transaction() as connection:
            _known(connection, note_id)
            connection.execute("DELETE FROM notes WHERE note_id = ?", [note_id])


def _undone(connection: sqlite3.Connection, known: Note) -> Note:
    """Raises: UsageProblem when nothing was changed."""
    if known.is_removed:
        return replace(known, is_removed=False)
    (previous,) = connection.execute("SELECT previous FROM notes WHERE note_id = ?", [known.note_id]).fetchone()
    if previous is None:
        raise UsageProblem(f"Note {known.note_id} was never edited.", "Read it to see what it says.")
    title, text, source = json.loads(previous)
    return replace(known, title=title, text=text, source=source)


def _write(connection: sqlite3.Connection, known: Note, title: str, text: str, source: Source) -> None:
    previous = json.dumps([known.title, known.text, known.source], ensure_ascii=False)
    connection.execute(
        "UPDATE notes SET title = ?, text = ?, terms = ?, source = ?, updated_at = ?, previous = ? WHERE note_id = ?",
        [title, text, _terms(title, text), source, _now(), previous, known.note_id],
    )


def _known(connection: sqlite3.Connection, note_id: int) -> Note:
    row = connection.execute("SELECT * FROM notes WHERE note_id = ?", [note_id]).fetchone()
    if row is None:
        raise UnknownName(f"There is no note {note_id}.", "List the notes to see their numbers.")
    return _note_of(row)


def _present(connection: sqlite3.Connection, note_id: int) -> Note:
    known = _known(connection, note_id)
    if known.is_removed:
        raise UsageProblem(f"Note {note_id} was removed.", "Bring it back with undo first.")
    return known


def _purge(connection: sqlite3.Connection) -> None:
    over = (datetime.now(UTC) - KEPT_AFTER_REMOVAL).isoformat(timespec="microseconds")
    connection.execute("DELETE FROM notes WHERE removed_at < ?", [over])


def _checked(title: str, text: str) -> tuple[str, str]:
    """Without a title the first line is one. Raises: BadText."""
    text = checked_text(text).strip()
    title = " ".join(checked_text(title).split()) or " ".join(text.split("\n", 1)[0].split())[:80]
    if not text and not title:
        raise BadText("The note is empty.", "Write what is to be noted.")
    if len(title) > TITLE_CHARACTERS or len(text) > TEXT_CHARACTERS:
        raise BadText(
            f"A note takes {TITLE_CHARACTERS} characters of title and {TEXT_CHARACTERS:,} of text.", "Write less."
        )
    return title, text


def _terms(title: str, text: str) -> str:
    return search.terms(f"{title}\n{text}")


def _needles(query: str) -> list[str]:
    """What the terms of a note must hold, each from a space on: whole words, phrases, and beginnings."""
    asked = search.expression(query)
    parts = asked.split(" AND ") if asked else []
    return [f" {part.removesuffix(' *').strip(chr(34))}{'' if part.endswith('*') else ' '}" for part in parts]


def _note_of(row: sqlite3.Row) -> Note:
    return Note(
        note_id=row["note_id"],
        title=row["title"],
        text=row["text"],
        source=row["source"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        is_removed=row["removed_at"] is not None,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
