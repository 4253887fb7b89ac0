"""The statements for epochs, segments, summaries and traces: what each expert has read and written.

Each function works on the connection it is given and leaves transactions to its caller.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Final

import engine.store.rows as rows
from engine.memory.folding.values import FoldedLine, RunningMemory
from engine.values import Epoch, Segment, Trace

FORGOTTEN: Final = "forgotten"
"""Version of no harness: that of epochs whose past was forgotten, so that none goes on with them."""


def latest_epoch(
    connection: sqlite3.Connection, conversation_id: str, expert: str, on_path: Collection[str], below: int | None
) -> Epoch | None:
    """The highest-numbered epoch that this path can read; of equal numbers the one that began last."""
    found = connection.execute(
        "SELECT epoch_id, folded_through FROM epochs WHERE conversation_id = ? AND expert = ?"
        " AND (? IS NULL OR number < ?) ORDER BY number DESC, epoch_id DESC",
        [conversation_id, expert, below, below],
    )
    for epoch_id, folded_through in found:
        if folded_through is None or folded_through in on_path:
            return _epoch(connection, epoch_id)
    return None


def epoch_of_turn(connection: sqlite3.Connection, turn_id: str, expert: str) -> Epoch | None:
    """The epoch of this view in which the turn was answered: the first that holds it; later ones only read it."""
    row = connection.execute(
        "SELECT epoch_id FROM epochs JOIN segments USING (epoch_id) WHERE segments.turn_id = ? AND epochs.expert = ?"
        " ORDER BY epochs.number, epochs.epoch_id LIMIT 1",
        [turn_id, expert],
    ).fetchone()
    return None if row is None else _epoch(connection, row["epoch_id"])


def latest_memory(
    connection: sqlite3.Connection, conversation_id: str, turn_ids: Sequence[str]
) -> tuple[RunningMemory, str] | None:
    """Of the epochs of any view that are folded within these turns (oldest first), the memory that stands for the most
    of them, and through which turn; an epoch without lines stands for nothing.
    """
    places = {turn_id: place for place, turn_id in enumerate(turn_ids)}
    found = connection.execute(
        "SELECT DISTINCT epoch_id, folded_through FROM epochs JOIN running_memory_lines USING (epoch_id)"
        " WHERE conversation_id = ? AND folded_through IS NOT NULL",
        [conversation_id],
    )
    known = [(places[through], epoch_id, through) for epoch_id, through in found if through in places]
    if not known:
        return None
    _, epoch_id, through = max(known)
    return _memory(connection, epoch_id), through


def insert_epoch(connection: sqlite3.Connection, epoch: Epoch, now: str) -> None:
    connection.execute(
        """
        INSERT INTO epochs (epoch_id, conversation_id, expert, number, head, base_hash, harness_version, reason,
            folded_through, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
            epoch.epoch_id,
            epoch.conversation_id,
            epoch.expert,
            epoch.number,
            rows.pack_tokens(epoch.head),
            epoch.base_hash,
            epoch.harness_version,
            epoch.reason,
            epoch.folded_through,
            now,
        ],
    )
    connection.executemany(
        """
        INSERT INTO running_memory_lines (epoch_id, position, turn_id, kind, text, is_pinned, slot, due_on)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
            (epoch.epoch_id, place, line.turn_id, line.kind, line.text, line.is_pinned, line.slot, line.due_on)
            for place, line in enumerate(epoch.memory.lines)
        ],
    )


def _epoch(connection: sqlite3.Connection, epoch_id: str) -> Epoch:
    row = connection.execute("SELECT * FROM epochs WHERE epoch_id = ?", [epoch_id]).fetchone()
    return rows.epoch_of(row, _memory(connection, epoch_id))


def _memory(connection: sqlite3.Connection, epoch_id: str) -> RunningMemory:
    found = connection.execute("SELECT * FROM running_memory_lines WHERE epoch_id = ? ORDER BY position", [epoch_id])
    return RunningMemory(
        tuple(
            FoldedLine(row["kind"], row["text"], row["turn_id"], bool(row["is_pinned"]), row["slot"], row["due_on"])
            for row in found
        )
    )


def segments(connection: sqlite3.Connection, epoch_id: str, turn_ids: Collection[str]) -> dict[str, Segment]:
    """By turn; turns without a segment in this epoch are left out."""
    found = connection.execute(
        "SELECT * FROM segments WHERE epoch_id = ? AND turn_id IN (SELECT value FROM json_each(?))",
        [epoch_id, json.dumps(list(turn_ids))],
    )
    return {row["turn_id"]: rows.segment_of(row) for row in found}


def insert_segments(connection: sqlite3.Connection, segments: Iterable[Segment]) -> None:
    """A segment that is already there stays as it is: the past of an epoch never changes."""
    connection.executemany(
        "INSERT INTO segments (epoch_id, turn_id, tokens) VALUES (?, ?, ?) ON CONFLICT (epoch_id, turn_id) DO NOTHING",
        [(segment.epoch_id, segment.turn_id, rows.pack_tokens(segment.tokens)) for segment in segments],
    )


def insert_summary(connection: sqlite3.Connection, turn_id: str, text: str, expert: str, now: str) -> None:
    connection.execute(
        "INSERT INTO summaries (turn_id, expert, text, created_at) VALUES (?, ?, ?, ?)", [turn_id, expert, text, now]
    )


def traces(connection: sqlite3.Connection, turn_id: str) -> tuple[Trace, ...]:
    """In the order they were written."""
    found = connection.execute("SELECT * FROM traces WHERE turn_id = ? ORDER BY trace_id", [turn_id])
    return tuple(rows.trace_of(row) for row in found)


def insert_traces(connection: sqlite3.Connection, traces: Iterable[Trace], now: str) -> None:
    connection.executemany(
        """
        INSERT INTO traces (turn_id, kind, expert, prompt, completion, adapters, base_hash, harness_version, seed,
            logprobs, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
            (
                trace.turn_id,
                trace.kind,
                trace.expert,
                rows.pack_tokens(trace.prompt),
                rows.pack_tokens(trace.completion),
                rows.pack_adapters(trace.adapters),
                trace.base_hash,
                trace.harness_version,
                trace.seed,
                rows.pack_logprobs(trace.logprobs),
                now,
            )
            for trace in traces
        ],
    )
