"""Values to columns and back: token ids as little-endian int32, log-probabilities as float32, the rest as JSON.

Knows the columns, runs no statement.
"""

import json
import sqlite3
import struct
from collections.abc import Sequence
from dataclasses import asdict

from engine.errors import BadText
from engine.memory.folding.values import RunningMemory
from engine.runtime.protocol import AdapterRef, AdapterStack, Tokens, Usage
from engine.values import (
    Attachment,
    CallRecord,
    Conversation,
    Epoch,
    MemoryLine,
    Rating,
    Route,
    Segment,
    Timing,
    Trace,
    TurnRecord,
)


def pack_tokens(tokens: Tokens) -> bytes:
    return struct.pack(f"<{len(tokens)}i", *tokens)


def unpack_tokens(blob: bytes) -> Tokens:
    return struct.unpack(f"<{len(blob) // 4}i", blob)


def pack_logprobs(logprobs: Sequence[float] | None) -> bytes | None:
    return None if logprobs is None else struct.pack(f"<{len(logprobs)}f", *logprobs)


def unpack_logprobs(blob: bytes | None) -> tuple[float, ...] | None:
    return None if blob is None else struct.unpack(f"<{len(blob) // 4}f", blob)


def pack_adapters(adapters: AdapterStack) -> str:
    return json.dumps([asdict(adapter) for adapter in adapters])


def pack_numbers(numbers: Usage | Timing) -> str:
    return json.dumps(asdict(numbers))


def checked_text(text: str) -> str:
    """Raises: BadText for text that UTF-8 cannot write (half of a surrogate pair)."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadText(
            f"The text is not valid Unicode at character {error.start + 1}.", "Type or paste it again, saved as UTF-8."
        ) from error
    return text


def writable(text: str) -> str:
    """`text`, with a question mark for each half of a surrogate pair: what was computed is not lost over one."""
    return text.encode(errors="replace").decode()


def conversation_of(row: sqlite3.Row) -> Conversation:
    return Conversation(
        conversation_id=row["conversation_id"],
        title=row["title"],
        profile=row["profile"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        leaf_turn_id=row["leaf_turn_id"],
        turn_count=row["turn_count"],
    )


def turn_of(row: sqlite3.Row) -> TurnRecord:
    return TurnRecord(
        turn_id=row["turn_id"],
        conversation_id=row["conversation_id"],
        parent_turn_id=row["parent_turn_id"],
        state=row["state"],
        user_text=row["user_text"],
        answer_text=row["answer_text"] or "",
        provenance=row["provenance"],
        created_at=row["created_at"],
        route=_route_of(row),
        usage=_usage_of(row["usage"]),
        usage_other=_usage_of(row["usage_other"]),
        timing=Timing(**json.loads(row["timing"])) if row["timing"] else Timing(),
        problem=row["problem"],
        hint=row["hint"],
        summary=row["summary"],
        attachments=attachments_of(row["files"]),
        rating=_rating_of(row["rating"]),
        adapter=row["adapter"] or "",
        calls=calls_of(row["calls"]),
        recalled=tuple(MemoryLine(*one) for one in json.loads(row["recalled"])),
    )


def attachments_of(column: str) -> tuple[Attachment, ...]:
    return tuple(Attachment(name, text) for name, text in json.loads(column))


def calls_of(column: str) -> tuple[CallRecord, ...]:
    return tuple(
        CallRecord(position, tool, source, arguments, state, result, bool(is_tainted), seconds)
        for position, tool, source, arguments, state, result, is_tainted, seconds in json.loads(column)
    )


def _rating_of(value: float | None) -> Rating:
    return 1 if (value or 0) > 0 else -1 if (value or 0) < 0 else 0


def _route_of(row: sqlite3.Row) -> Route | None:
    if row["expert"] is None:
        return None
    return Route(row["expert"], row["route_reason"], json.loads(row["route_scores"]))


def _usage_of(column: str | None) -> Usage:
    return Usage(**json.loads(column)) if column else Usage()


def epoch_of(row: sqlite3.Row, memory: RunningMemory) -> Epoch:
    return Epoch(
        epoch_id=row["epoch_id"],
        conversation_id=row["conversation_id"],
        expert=row["expert"],
        number=row["number"],
        head=unpack_tokens(row["head"]),
        base_hash=row["base_hash"],
        harness_version=row["harness_version"],
        reason=row["reason"],
        folded_through=row["folded_through"],
        memory=memory,
    )


def segment_of(row: sqlite3.Row) -> Segment:
    return Segment(row["turn_id"], row["epoch_id"], unpack_tokens(row["tokens"]))


def trace_of(row: sqlite3.Row) -> Trace:
    return Trace(
        turn_id=row["turn_id"],
        kind=row["kind"],
        expert=row["expert"],
        prompt=unpack_tokens(row["prompt"]),
        completion=unpack_tokens(row["completion"]),
        adapters=tuple(AdapterRef(**adapter) for adapter in json.loads(row["adapters"])),
        base_hash=row["base_hash"],
        harness_version=row["harness_version"],
        seed=row["seed"],
        logprobs=unpack_logprobs(row["logprobs"]),
    )
