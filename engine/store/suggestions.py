"""Suggestions: made, answered, and which kinds are off; and what the user asked lately, from which habits are seen.

Lives in the store's database. No words of the user are kept here; they are read where they were said. Every method is
one transaction or one read and raises StoreProblem or one of its children when the disk or the file fails.
"""

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final

import engine.store.signals as signals
from engine.errors import UnknownName, UsageProblem
from engine.store.database import Database
from engine.suggestions.values import (
    About,
    Asked,
    Candidate,
    Suggestion,
    SuggestionKind,
    SuggestionState,
    Switches,
)

PAGE: Final = 200
_ALL: Final = "all"
"""What a switch for all kinds is called."""
_WITH_TEXT: Final = """
    SELECT suggestions.*, coalesce(
        (SELECT text FROM memories WHERE memories.memory_id = suggestions.memory_id AND state = 'active'),
        (SELECT title FROM events WHERE events.event_id = suggestions.event_id AND cancelled_at IS NULL),
        (SELECT text FROM messages WHERE messages.turn_id = suggestions.turn_id AND role = 'user'),
        ''
    ) AS text
    FROM suggestions
"""
_ASKED: Final = """
    SELECT turns.turn_id, messages.text, turns.created_at
    FROM turns JOIN messages ON messages.turn_id = turns.turn_id AND messages.role = 'user'
    WHERE turns.created_at >= ? AND messages.provenance = 'typed'
    ORDER BY turns.turn_id DESC LIMIT ?
"""


class SuggestionStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, candidate: Candidate, now: datetime) -> Suggestion:
        """Made now, after the newest turn there is; or the one that is open, where somebody else has made one."""
        about = candidate.about
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO suggestions (kind, key, memory_id, event_id, turn_id, facts, state, made_at,"
                " after_turn_id) VALUES (?, ?, ?, ?, ?, ?, 'offered', ?, (SELECT max(turn_id) FROM turns))",
                [
                    candidate.kind,
                    candidate.key,
                    about.memory_id,
                    about.event_id,
                    about.turn_id,
                    json.dumps(dict(candidate.facts)),
                    _written(now),
                ],
            )
            row = connection.execute(f"{_WITH_TEXT} WHERE state = 'offered'").fetchone()
            return _suggestion_of(row)

    def get(self, suggestion_id: int) -> Suggestion:
        """Raises: UnknownName."""
        with self._database.reading() as connection:
            return _known(connection, suggestion_id)

    def page(self, limit: int = PAGE) -> Sequence[Suggestion]:
        """The newest first."""
        with self._database.reading() as connection:
            found = connection.execute(f"{_WITH_TEXT} ORDER BY suggestion_id DESC LIMIT ?", [limit])
            return tuple(map(_suggestion_of, found))

    def answer(self, suggestion_id: int, state: SuggestionState, now: datetime) -> Suggestion:
        """The user has answered, or it is too late. An answer is a signal too, at the turn after which it was made.

        Raises: UnknownName; UsageProblem where it was answered before.
        """
        with self._database.transaction() as connection:
            if _known(connection, suggestion_id).state != "offered":
                raise UsageProblem(f"Suggestion {suggestion_id} is answered.", "List the one that is open.")
            connection.execute(
                "UPDATE suggestions SET state = ?, answered_at = ? WHERE suggestion_id = ?",
                [state, _written(now), suggestion_id],
            )
            if state != "expired":
                _signal(connection, suggestion_id, 1.0 if state == "accepted" else -1.0, now)
            return _known(connection, suggestion_id)

    # Switches

    def switches(self) -> Switches:
        with self._database.reading() as connection:
            off = [row["kind"] for row in connection.execute("SELECT kind FROM suggestions_off ORDER BY kind")]
        return Switches(_ALL not in off, tuple(kind for kind in off if kind != _ALL))

    def switch(self, kind: SuggestionKind | None, *, is_on: bool) -> None:
        """One kind, or all. Switched on, earlier refusals make it quiet no more."""
        with self._database.transaction() as connection:
            if not is_on:
                connection.execute("INSERT OR IGNORE INTO suggestions_off (kind) VALUES (?)", [kind or _ALL])
                return
            of_kind, values = ("", []) if kind is None else (" WHERE kind = ?", [kind])
            connection.execute(f"UPDATE suggestions SET is_counted = 0{of_kind}", values)
            connection.execute(f"DELETE FROM suggestions_off{of_kind}", values)

    def counted(self) -> frozenset[int]:
        """The suggestions whose answers were given since their kind was last switched on."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT suggestion_id FROM suggestions WHERE is_counted")
            return frozenset(row["suggestion_id"] for row in found)

    # What the user did

    def asked(self, since: datetime, most: int, zone: tzinfo) -> Sequence[Asked]:
        """What the user typed since then, the newest first, by the clocks of `zone`."""
        with self._database.reading() as connection:
            found = connection.execute(_ASKED, [_written(since), most])
            return tuple(
                Asked(row["turn_id"], row["text"], datetime.fromisoformat(row["created_at"]).astimezone(zone))
                for row in found
            )


def _signal(connection: sqlite3.Connection, suggestion_id: int, value: float, now: datetime) -> None:
    row = connection.execute(
        "SELECT turn_id FROM turns WHERE turn_id = (SELECT after_turn_id FROM suggestions WHERE suggestion_id = ?)",
        [suggestion_id],
    ).fetchone()
    if row is not None:
        signals.insert(connection, row["turn_id"], "suggestion", "user", _written(now), value=value)


def _known(connection: sqlite3.Connection, suggestion_id: int) -> Suggestion:
    row = connection.execute(f"{_WITH_TEXT} WHERE suggestion_id = ?", [suggestion_id]).fetchone()
    if row is None:
        raise UnknownName(f"There is no suggestion {suggestion_id}.", "List them: macaron suggestions list.")
    return _suggestion_of(row)


def _suggestion_of(row: sqlite3.Row) -> Suggestion:
    return Suggestion(
        row["suggestion_id"],
        row["kind"],
        row["key"],
        row["text"],
        json.loads(row["facts"]),
        row["state"],
        row["made_at"],
        row["answered_at"],
        About(row["memory_id"], row["event_id"], row["turn_id"]),
    )


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
