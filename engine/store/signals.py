"""The statements for signals: what users gave as evidence about answers, and what may be learned of it.

Each function works on the connection it is given and leaves transactions to its caller.
"""

import sqlite3
from collections.abc import Collection, Sequence
from typing import Final

from engine.errors import UnknownName
from engine.signals.values import Correction, Signal, SignalKind, SignalSource

PAGE: Final = 50
GONE_ON: Final = 0.5
"""Value of a pick where the user only went on from one of two answers."""
CHOSEN: Final = 1.0
"""Value of a pick where the user said which answer is the better one."""
NOT_GOOD_ENOUGH: Final = -1.0
"""Value of a better answer: the one there was would not do."""
_LEARNED: Final = "('correction', 'edit')"
_CORRECTIONS: Final = f"""
    SELECT signals.signal_id, signals.turn_id, turns.conversation_id, coalesce(turns.expert, '') AS expert,
        asked.text AS prompt, coalesce(said.text, '') AS before, signals.text AS after, signals.kind,
        signals.created_at
    FROM signals
    JOIN turns USING (turn_id)
    JOIN messages AS asked ON asked.turn_id = turns.turn_id AND asked.role = 'user'
    LEFT JOIN messages AS said ON said.turn_id = turns.turn_id AND said.role = 'assistant'
    WHERE signals.kind IN {_LEARNED} AND NOT signals.is_tainted AND NOT signals.is_erased AND NOT EXISTS (
        SELECT 1 FROM signals AS later
        WHERE later.turn_id = signals.turn_id AND later.kind IN {_LEARNED} AND NOT later.is_tainted
            AND later.signal_id > signals.signal_id
    )
"""
_OTHER_ANSWERS: Final = """
    SELECT other.turn_id
    FROM turns AS one
    JOIN messages AS one_asked ON one_asked.turn_id = one.turn_id AND one_asked.role = 'user'
    JOIN turns AS other ON other.conversation_id = one.conversation_id AND other.turn_id <> one.turn_id
        AND other.parent_turn_id IS one.parent_turn_id
    JOIN messages AS other_asked ON other_asked.turn_id = other.turn_id AND other_asked.role = 'user'
        AND other_asked.text = one_asked.text
    WHERE one.turn_id = ? AND one.state = 'answered' AND other.state = 'answered'
        AND (SELECT count(*) FROM messages WHERE turn_id IN (one.turn_id, other.turn_id) AND role = 'assistant') = 2
    ORDER BY other.turn_id
"""
_LAST_PICK: Final = """
    SELECT * FROM signals
    WHERE kind = 'pick' AND ((turn_id = ? AND other_turn_id = ?) OR (turn_id = ? AND other_turn_id = ?))
    ORDER BY signal_id DESC LIMIT 1
"""


def insert(
    connection: sqlite3.Connection,
    turn_id: str,
    kind: SignalKind,
    source: SignalSource,
    now: str,
    *,
    value: float = 0.0,
    text: str = "",
    other_turn_id: str | None = None,
    is_tainted: bool = False,
) -> int:
    """The number it gets. What came before stays; of each turn the newest of a kind counts."""
    signal_id = connection.execute(
        "INSERT INTO signals (turn_id, kind, value, source, created_at, text, other_turn_id, is_tainted)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [turn_id, kind, value, source, now, text, other_turn_id, is_tainted],
    ).lastrowid
    assert signal_id is not None
    return signal_id


def known(connection: sqlite3.Connection, signal_id: int) -> Signal:
    """Raises: UnknownName when there is none of this number, or none any more."""
    row = connection.execute("SELECT * FROM signals WHERE signal_id = ? AND NOT is_erased", [signal_id]).fetchone()
    if row is None:
        raise UnknownName(f"There is no signal {signal_id}.", "List what there is with `macaron signals list`.")
    return _signal_of(row)


def page(
    connection: sqlite3.Connection,
    limit: int,
    before: int | None,
    kinds: Collection[SignalKind],
    expert: str | None,
    conversation_id: str | None,
) -> tuple[Signal, ...]:
    """The newest first, those numbered below `before`; without `kinds` of all kinds."""
    conditions, values = ["NOT is_erased"], list[str | int]()
    if before is not None:
        conditions.append("signal_id < ?")
        values.append(before)
    if kinds:
        conditions.append(f"kind IN ({', '.join('?' for _ in kinds)})")
        values.extend(kinds)
    if expert is not None:
        conditions.append("(SELECT expert FROM turns WHERE turns.turn_id = signals.turn_id) = ?")
        values.append(expert)
    if conversation_id is not None:
        conditions.append("turn_id IN (SELECT turn_id FROM turns WHERE conversation_id = ?)")
        values.append(conversation_id)
    found = connection.execute(
        f"SELECT * FROM signals WHERE {' AND '.join(conditions)} ORDER BY signal_id DESC LIMIT ?", [*values, limit]
    )
    return tuple(map(_signal_of, found))


def of_conversation(connection: sqlite3.Connection, conversation_id: str) -> tuple[Signal, ...]:
    """Oldest first, without thumbs, which are part of a turn, and answers to suggestions, which are of this home."""
    found = connection.execute(
        "SELECT signals.* FROM signals JOIN turns USING (turn_id)"
        " WHERE conversation_id = ? AND kind NOT IN ('thumb', 'suggestion') AND NOT is_erased ORDER BY signal_id",
        [conversation_id],
    )
    return tuple(map(_signal_of, found))


def corrections(connection: sqlite3.Connection, expert: str | None) -> tuple[Correction, ...]:
    """What may be learned: the last of every turn, the newest last."""
    of_expert, values = ("", []) if expert is None else ("AND turns.expert = ?", [expert])
    found = connection.execute(f"{_CORRECTIONS} {of_expert} ORDER BY signals.signal_id", values)
    return tuple(Correction(**dict(row)) for row in found)


def erase(connection: sqlite3.Connection, signal_id: int) -> None:
    """Raises: UnknownName."""
    known(connection, signal_id)
    connection.execute("UPDATE signals SET text = '', value = 0, is_erased = 1 WHERE signal_id = ?", [signal_id])


def confirm(connection: sqlite3.Connection, signal_id: int) -> Signal:
    """A person has looked at it: it may teach. Raises: UnknownName."""
    known(connection, signal_id)
    connection.execute("UPDATE signals SET is_tainted = 0 WHERE signal_id = ?", [signal_id])
    return known(connection, signal_id)


def other_answers(connection: sqlite3.Connection, turn_id: str) -> Sequence[str]:
    """The turns that answered the same message in another way, oldest first; none when this one did not answer."""
    return [other for (other,) in connection.execute(_OTHER_ANSWERS, [turn_id])]


def pick(connection: sqlite3.Connection, turn_id: str, value: float, now: str) -> None:
    """Prefer an answer to each other one to the same message; said again it adds nothing.

    What the user erased comes back only when it was chosen (`CHOSEN`), not because they went on.
    """
    for other in other_answers(connection, turn_id):
        last = connection.execute(_LAST_PICK, [turn_id, other, other, turn_id]).fetchone()
        is_same = last is not None and last["turn_id"] == turn_id
        if is_same and (value == GONE_ON or (last["value"] == CHOSEN and not last["is_erased"])):
            continue
        insert(connection, turn_id, "pick", "user", now, value=value, other_turn_id=other)


def _signal_of(row: sqlite3.Row) -> Signal:
    return Signal(
        signal_id=row["signal_id"],
        turn_id=row["turn_id"],
        kind=row["kind"],
        value=row["value"],
        text=row["text"],
        other_turn_id=row["other_turn_id"],
        source=row["source"],
        is_tainted=bool(row["is_tainted"]),
        created_at=row["created_at"],
    )
