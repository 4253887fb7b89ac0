"""Conversations of other programs, which go on there: what a later copy has more is added to what was imported before.

The function leaves its transaction to its caller. The other program's ids are never stored. A conversation is known
again by a digest of its id, in the table of imports; a turn by the random half of its id, which is no chance here but a
digest of the conversation and of what the copy calls the turn. The other half, its time, only puts turns in order.
"""

import hashlib
import sqlite3
from datetime import datetime
from typing import Final

import engine.store.copies as copies
import engine.store.ids as ids
import engine.store.turns as turns
from engine.errors import UsageProblem
from engine.harness.message import shown_name
from engine.values import ConversationCopy, Merged, TurnRecord

_DIGEST_BYTES: Final = 9
"""Enough for the random half of an id."""


def merge(connection: sqlite3.Connection, copy: ConversationCopy, now: datetime) -> Merged:
    """Raises: UsageProblem where turns that it would add have the ids of others."""
    digest = _digest("conversation", copy.conversation.conversation_id)
    conversation_id = _find(connection, digest)
    if conversation_id is None:
        conversation_id = _begin(connection, copy, digest, now)
    here = {_mark(turn.turn_id): turn for turn in turns.tree(connection, conversation_id)}
    marks = {turn.turn_id: _mark_of(conversation_id, turn.turn_id) for turn in copy.turns}
    known = [turn for turn in copy.turns if marks[turn.turn_id] in here]
    if len(known) < len(copy.turns):
        _add(connection, copy, conversation_id, marks, here, now)
    differing = sum(not _is_same(turn, here[marks[turn.turn_id]]) for turn in known)
    return Merged(conversation_id, not here, len(copy.turns) - len(known), differing)


def _find(connection: sqlite3.Connection, digest: bytes) -> str | None:
    found = connection.execute("SELECT conversation_id FROM imports WHERE digest = ?", [digest.hex()]).fetchone()
    return found["conversation_id"] if found else None


def _begin(connection: sqlite3.Connection, copy: ConversationCopy, digest: bytes, now: datetime) -> str:
    """An empty conversation under an id that says when it began and is the same everywhere. Where there is one of that
    id, it is this conversation, which came with an export of this program."""
    created_at = copies.stamp(copy.conversation.created_at, now)
    conversation_id = ids.new_id("c", _time_us(created_at), int.from_bytes(digest[:_DIGEST_BYTES], "big"))
    if not copies.are_used(connection, conversation_id, ()):
        title = " ".join(copy.conversation.title.split()) or turns.title_of(copy.turns[0].user_text)
        turns.insert_conversation(connection, conversation_id, title, copy.conversation.profile, created_at)
    connection.execute(
        "INSERT INTO imports (digest, conversation_id, created_at) VALUES (?, ?, ?)",
        [digest.hex(), conversation_id, now.isoformat(timespec="microseconds")],
    )
    return conversation_id


def _add(
    connection: sqlite3.Connection,
    copy: ConversationCopy,
    conversation_id: str,
    marks: dict[str, str],
    here: dict[str, TurnRecord],
    now: datetime,
) -> None:
    """Insert the turns that are not `here`. A conversation that was gone on with here goes on where it was."""
    before = turns.conversation(connection, conversation_id)
    names = _names(copy, conversation_id, marks, here, now)
    added = [turn for turn in copy.turns if marks[turn.turn_id] not in here]
    if copies.are_used(connection, "", [names[turn.turn_id] for turn in added]):
        raise UsageProblem(
            "Turns of this conversation have the ids of turns that are here already.",
            "They came with another file, such as an export of this program that was changed.",
        )
    for turn in added:
        copies.insert_turn(connection, turn, names, now)
    is_gone_on_with = before.leaf_turn_id is not None and _mark(before.leaf_turn_id) not in marks.values()
    leaf = before.leaf_turn_id if is_gone_on_with else names[copy.conversation.leaf_turn_id or copy.turns[-1].turn_id]
    assert leaf is not None
    turns.select(connection, leaf)
    updated_at = copies.stamp(copy.conversation.updated_at, now)
    connection.execute(
        "UPDATE conversations SET updated_at = ? WHERE conversation_id = ?",
        [max(updated_at, before.updated_at) if here else updated_at, conversation_id],
    )


def _names(
    copy: ConversationCopy, conversation_id: str, marks: dict[str, str], here: dict[str, TurnRecord], now: datetime
) -> dict[str, str]:
    """By id in the copy, the id here. Ids sort by age, so a turn that claims to be older than its parent is not, and
    none lies in the future."""
    names = {copy.conversation.conversation_id: conversation_id}
    latest_us = _time_us(now.isoformat()) - len(copy.turns)
    for turn in copy.turns:
        mark = marks[turn.turn_id]
        if mark in here:
            names[turn.turn_id] = here[mark].turn_id
            continue
        time_us = min(_time_us(copies.stamp(turn.created_at, now)), latest_us)
        if turn.parent_turn_id is not None:
            time_us = max(time_us, ids.time_us_of(names[turn.parent_turn_id]) + 1)
        names[turn.turn_id] = ids.new_id("t", time_us, 0)[: -ids.RANDOM_DIGITS] + mark
    return names


def _mark_of(conversation_id: str, turn_id: str) -> str:
    """Of a turn that the copy calls `turn_id`. The conversation is part of it, so that no two ever share an id."""
    digest = _digest("turn", conversation_id, turn_id)
    return _mark(ids.new_id("t", 0, int.from_bytes(digest[:_DIGEST_BYTES], "big")))


def _mark(identifier: str) -> str:
    return identifier[-ids.RANDOM_DIGITS :]


def _digest(*names: str) -> bytes:
    return hashlib.sha256("\0".join(names).encode(errors="surrogatepass")).digest()


def _time_us(moment: str) -> int:
    """Microseconds since 1970; what is older counts as of then."""
    return max(0, int(datetime.fromisoformat(moment).timestamp() * 1e6))


def _is_same(turn: TurnRecord, stored: TurnRecord) -> bool:
    """Whether the same was said in both."""
    files = tuple((shown_name(file.name), file.text) for file in turn.attachments)
    kept = tuple((file.name, file.text) for file in stored.attachments)
    return (turn.user_text, turn.answer_text, files) == (stored.user_text, stored.answer_text, kept)
