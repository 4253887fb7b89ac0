"""The statements that replace texts of a scope by the mark, and count where else they are said.

Each function works on the connection it is given and leaves transactions to its caller. What follows for indexes,
views and signals is the affair of `forgetting`.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import engine.store.search as search
import engine.store.turns as turns
from engine.forgetting import MARK, PlaceKind
from engine.store.echoes import echoes
from engine.store.forgetting_scope import Scope
from engine.store.spans import Spans

Counts = Counter[PlaceKind]


@dataclass(frozen=True, slots=True)
class _Texts:
    """A table whose texts are replaced. Every one of them has a rowid."""

    table: str
    kind: PlaceKind
    columns: tuple[str, ...]
    belongs: str = ""
    """Condition by which its rows belong to the conversations in `(SELECT value FROM json_each(?))`; empty: to none."""
    json_columns: tuple[str, ...] = ()


THESE: Final = "(SELECT value FROM json_each(?))"
OF_TURNS: Final = f"turn_id IN (SELECT turn_id FROM turns WHERE conversation_id IN {THESE})"
OF_CONVERSATIONS: Final = f"conversation_id IN {THESE}"
_TEXTS: Final = (
    _Texts("messages", "messages", ("text",), OF_TURNS),
    _Texts("attachments", "files", ("name", "text"), OF_TURNS),
    _Texts("calls", "calls", ("result",), OF_TURNS, ("arguments",)),
    _Texts("turns", "problems", ("problem", "hint"), OF_CONVERSATIONS),
    _Texts("conversations", "titles", ("title",), OF_CONVERSATIONS),
    _Texts("job_runs", "job_runs", ("text",), OF_CONVERSATIONS),
    _Texts("tools", "tools", ("source", "example"), OF_CONVERSATIONS),
    _Texts("notes", "notes", ("title", "text"), json_columns=("previous",)),
    _Texts("events", "events", ("title", "place", "notes")),
    _Texts("jobs", "jobs", ("title", "text")),
    _Texts("permissions", "permissions", ("pattern",)),
)
_WITH_TURNS: Final = frozenset({"messages", "attachments", "calls", "turns"})
"""Tables whose rows name their turn; changed, they make it one that was touched."""


def empty(connection: sqlite3.Connection, whole: Collection[str], counts: Counts) -> set[str]:
    """Of turns that go as a whole; those of which something went."""
    these = [as_json(whole)]
    # A message that is edited takes its files with it.
    same_files = (
        f"turn_id IN {THESE} OR (text IN (SELECT text FROM attachments WHERE text <> '' AND turn_id IN {THESE})"
        " AND turn_id IN (SELECT turn_id FROM turns WHERE conversation_id IN"
        f" (SELECT conversation_id FROM turns WHERE turn_id IN {THESE})))"
    )
    touched = {
        turn_id for (turn_id,) in connection.execute(f"SELECT turn_id FROM attachments WHERE {same_files}", these * 3)
    }
    changes: tuple[tuple[PlaceKind, str], ...] = (
        ("messages", f"UPDATE messages SET text = '{MARK}' WHERE text <> '{MARK}' AND turn_id IN {THESE}"),
        ("files", f"DELETE FROM attachments WHERE {same_files}"),
        (
            "calls",
            f"UPDATE calls SET arguments = '{{}}', result = '{MARK}' WHERE result <> '{MARK}' AND turn_id IN {THESE}",
        ),
        (
            "job_runs",
            f"UPDATE job_runs SET text = '{MARK}' WHERE text NOT IN ('', '{MARK}') AND conversation_id IN"
            f" (SELECT conversation_id FROM turns WHERE turn_id IN {THESE})",
        ),
        ("problems", f"UPDATE turns SET problem = '', hint = '' WHERE problem || hint <> '' AND turn_id IN {THESE}"),
    )
    for kind, statement in changes:
        counts[kind] += connection.execute(statement, these * statement.count(THESE)).rowcount
    return touched | set(whole)


def redact(connection: sqlite3.Connection, scope: Scope, counts: Counts) -> set[str]:
    """The turns whose texts said the words."""
    touched = set[str]()
    for texts in _TEXTS:
        if texts.belongs or scope.is_everywhere:
            for rowid, old, new in _changes(connection, texts, scope):
                if texts.table == "permissions":
                    connection.execute("DELETE FROM permissions WHERE rowid = ?", [rowid])
                else:
                    _write(connection, texts.table, rowid, new)
                counts[texts.kind] += 1
                if texts.table in _WITH_TURNS:
                    touched.add(old["turn_id"])
    return touched | _redact_answers(connection, scope, counts)


def _redact_answers(connection: sqlite3.Connection, scope: Scope, counts: Counts) -> set[str]:
    """Those that were given where a memory was told or may have been read: there they may give back a part of it.

    So does the message that it was written from, whose words are escaped in its evidence. What the user says elsewhere
    is another matter.
    """
    touched = set[str]()
    found = connection.execute(
        "SELECT message_id, turn_id, text FROM messages"
        f" WHERE (role = 'assistant' AND turn_id IN {THESE}) OR turn_id IN {THESE}",
        [as_json(_answering_turns(connection, scope)), as_json(scope.told_in)],
    ).fetchall()
    for row in found:
        new = Spans((*scope.spans.texts, *echoes(scope.told, row["text"]))).redacted(row["text"])
        if new != row["text"]:
            _write(connection, "messages", row["message_id"], {"text": new})
            counts["messages"] += 1
            touched.add(row["turn_id"])
    return touched


def _answering_turns(connection: sqlite3.Connection, scope: Scope) -> set[str]:
    found = set(scope.told_in)
    for conversation_id, moment in scope.recalled.items():
        rows = connection.execute(
            "SELECT turn_id FROM turns WHERE conversation_id = ? AND created_at >= ?", [conversation_id, moment]
        )
        found |= {turn_id for (turn_id,) in rows}
    return found


def _changes(
    connection: sqlite3.Connection, texts: _Texts, scope: Scope, *, outside: bool = False
) -> list[tuple[int, sqlite3.Row, dict[str, str]]]:
    """(rowid, the row, what its columns become) of the rows in the scope, or of those outside, that say the words."""
    found = list[tuple[int, sqlite3.Row, dict[str, str]]]()
    if not scope.spans:
        return found
    names = (*texts.columns, *texts.json_columns)
    where, values = "", list[str]()
    if texts.belongs and not scope.is_everywhere:
        where, values = f" WHERE {'NOT ' if outside else ''}({texts.belongs})", [as_json(scope.conversations)]
    turn = ", turn_id" if texts.table in _WITH_TURNS else ""
    read = f"SELECT rowid AS number, {', '.join(names)}{turn} FROM {texts.table}{where}"
    for row in connection.execute(read, values):
        given = {name: row[name] for name in names if row[name] is not None}
        new = {
            name: scope.spans.redacted_json(text) if name in texts.json_columns else scope.spans.redacted(text)
            for name, text in given.items()
        }
        if new != given:
            found.append((int(row["number"]), row, new))
    return found


def _write(connection: sqlite3.Connection, table: str, rowid: int, new: Mapping[str, str | None]) -> None:
    if table == "notes":
        new = {**new, "terms": search.terms(f"{new['title']}\n{new['text']}")}
    if table == "tools":
        new = {**new, "approved_hash": None}
    connection.execute(
        f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in new)} WHERE rowid = ?", [*new.values(), rowid]
    )


@dataclass(frozen=True, slots=True)
class Title:
    title: str
    turn_ids: tuple[str, ...]
    """First turns with whose words it begins."""


def titles(connection: sqlite3.Connection, scope: Scope) -> dict[str, Title]:
    """By conversation."""
    found = connection.execute(
        "SELECT conversation_id, title, turns.turn_id, coalesce(messages.text, '') AS text FROM conversations"
        " LEFT JOIN turns USING (conversation_id)"
        " LEFT JOIN messages ON messages.turn_id = turns.turn_id AND messages.role = 'user'"
        f" WHERE turns.parent_turn_id IS NULL AND conversation_id IN {THESE}",
        [as_json(scope.conversations)],
    )
    by_conversation = dict[str, Title]()
    for conversation_id, title, turn_id, text in found:
        before = by_conversation.get(conversation_id, Title(title, ()))
        is_from_it = turn_id is not None and turns.title_of(text) == title
        by_conversation[conversation_id] = Title(title, (*before.turn_ids, *([turn_id] if is_from_it else [])))
    return by_conversation


def retitle(connection: sqlite3.Connection, scope: Scope, before: dict[str, Title]) -> None:
    """A title is the beginning of what was said, so it may hold a part of the words: it is made as it was made."""
    for conversation_id, old in before.items():
        said = [turns.title_of(turns.turn(connection, turn_id).user_text) for turn_id in old.turn_ids]
        is_whole = conversation_id == scope.whole_conversation
        if new := MARK if is_whole else next((one for one in said if one != old.title), ""):
            connection.execute("UPDATE conversations SET title = ? WHERE conversation_id = ?", [new, conversation_id])


def elsewhere(connection: sqlite3.Connection, scope: Scope) -> Counts:
    counts = Counts()
    if not scope.spans or scope.is_everywhere:
        return counts
    for texts in _TEXTS:
        counts[texts.kind] += len(_changes(connection, texts, scope, outside=True))
    found = connection.execute(
        f"SELECT signals.text FROM signals JOIN turns USING (turn_id) WHERE conversation_id NOT IN {THESE}",
        [as_json(scope.conversations)],
    )
    counts["signals"] += sum(scope.spans.are_in(text) for (text,) in found)
    found = connection.execute(
        f"SELECT text, evidence FROM memories WHERE state <> 'forgotten' AND memory_id NOT IN {THESE}",
        [as_json(scope.memories)],
    )
    counts["memories"] += sum(scope.spans.are_in(f"{text}\n{evidence}") for text, evidence in found)
    return counts


def as_json(values: Iterable[str | int]) -> str:
    return json.dumps(list(values))
