"""Conversations that come from a file: checked, told from those that are here already, and written as imported.

The functions that take a connection leave transactions to their caller. Nothing that is stored is ever overwritten,
whatever ids a file claims: where an id is in use, or is not one that this program makes, the copy gets fresh ones.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, get_args

import engine.store.ids as ids
import engine.store.signals as signals
import engine.store.turns as turns
import engine.store.views as views
from engine.errors import BadText, UsageProblem
from engine.harness.message import shown_name
from engine.signals.values import Signal
from engine.values import Answer, Attachment, Conversation, ConversationCopy, Rating, TurnRecord, TurnState

MAX_TURNS: Final = 100_000
MAX_TEXT_CHARACTERS: Final = 10_000_000
"""Of one text: a message, an answer, an attached file."""
MAX_TOTAL_CHARACTERS: Final = 200_000_000
MAX_LABEL_CHARACTERS: Final = 1000
"""Of a name: a title, a profile, an expert."""

_ID: Final = re.compile(f"[ct]-[{ids.DIGITS}]{{{ids.TIME_DIGITS + ids.RANDOM_DIGITS}}}")
_HINT: Final = "Export the conversation again; the file was changed or is not whole."


def closed(turn: TurnRecord) -> TurnRecord:
    """A turn as a copy holds it: one that runs at this moment has no end that could be copied.

    The hash of an adapter means nothing where the copy is read, nor do the numbers of memories; and what is known of
    the user from elsewhere is no part of this conversation.
    """
    return replace(turn, state="interrupted" if turn.state == "running" else turn.state, adapter="", recalled=())


def check(copy: ConversationCopy) -> None:
    """Raises: UsageProblem, or BadText for text that is not Unicode, naming the first thing that is wrong."""
    conversation = copy.conversation
    if not 1 <= len(copy.turns) <= MAX_TURNS:
        raise _wrong(f"It has {len(copy.turns)} turns; a conversation has 1 to {MAX_TURNS}.")
    _check_label(conversation.title, "title")
    _check_label(conversation.profile, "profile")
    _check_time(conversation.created_at)
    _check_time(conversation.updated_at)
    seen: set[str] = set()
    total = 0
    for number, turn in enumerate(copy.turns, start=1):
        _check_place(turn, conversation, seen, f"Turn {number}")
        _check_values(turn, f"Turn {number}")
        total += _check_texts(turn, f"Turn {number}")
        seen.add(turn.turn_id)
    if len(copy.signals) > MAX_TURNS:
        raise _wrong(f"It has {len(copy.signals)} signals; at most {MAX_TURNS} are taken.")
    total += sum(_check_signal(signal, seen, f"Signal {number}") for number, signal in enumerate(copy.signals, start=1))
    if total > MAX_TOTAL_CHARACTERS:
        raise _wrong(f"It holds {total} characters; at most {MAX_TOTAL_CHARACTERS} can be imported at once.")
    if conversation.leaf_turn_id is not None and conversation.leaf_turn_id not in seen:
        raise _wrong("The branch in use ends in a turn that is not in it.")


def digest_of(copy: ConversationCopy) -> str:
    """A name for what was said in it, by which the same file is known again."""
    content = [copy.conversation.conversation_id, *map(_content_of, copy.turns)]
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()


def is_here(connection: sqlite3.Connection, copy: ConversationCopy, digest: str) -> bool:
    """Whether all that was said in the copy is stored: under its own ids, or as an import of the same content."""
    if connection.execute("SELECT 1 FROM imports WHERE digest = ?", [digest]).fetchone():
        return True
    here = {turn.turn_id: turn for turn in turns.tree(connection, copy.conversation.conversation_id)}
    return all(
        turn.turn_id in here and _content_of(closed(here[turn.turn_id])) == _content_of(turn) for turn in copy.turns
    )


def insert(
    connection: sqlite3.Connection, copy: ConversationCopy, digest: str, new_id: Callable[[str], str], now: datetime
) -> None:
    """The whole conversation, with every text `imported`."""
    names = _names(connection, copy, new_id, now)
    conversation = copy.conversation
    conversation_id = names[conversation.conversation_id]
    title = " ".join(conversation.title.split()) or turns.title_of(copy.turns[0].user_text)
    turns.insert_conversation(
        connection, conversation_id, title, conversation.profile, stamp(conversation.created_at, now)
    )
    for turn in copy.turns:
        insert_turn(connection, turn, names, now)
    for signal in copy.signals:
        _insert_signal(connection, signal, names, now)
    turns.select(connection, names[conversation.leaf_turn_id or copy.turns[-1].turn_id])
    connection.execute(
        "UPDATE conversations SET updated_at = ? WHERE conversation_id = ?",
        [stamp(conversation.updated_at, now), conversation_id],
    )
    connection.execute(
        "INSERT INTO imports (digest, conversation_id, created_at) VALUES (?, ?, ?)",
        [digest, conversation_id, now.isoformat(timespec="microseconds")],
    )


def insert_turn(connection: sqlite3.Connection, turn: TurnRecord, names: Mapping[str, str], now: datetime) -> None:
    """One turn of a copy, with every text `imported`. `names`: the ids here of it, its parent and its conversation."""
    turn_id, created_at = names[turn.turn_id], stamp(turn.created_at, now)
    parent_turn_id = names[turn.parent_turn_id] if turn.parent_turn_id is not None else None
    files = [Attachment(shown_name(file.name), file.text) for file in turn.attachments]
    turns.insert_turn(connection, turn_id, names[turn.conversation_id], parent_turn_id, created_at)
    turns.insert_question(connection, turn_id, turn.user_text, "imported", files, created_at)
    answer = Answer(
        turn_id,
        turn.state,
        turn.answer_text,
        turn.route,
        turn.usage,
        turn.usage_other,
        turn.timing,
        problem=turn.problem,
        hint=turn.hint,
    )
    turns.close(connection, answer, created_at)
    if turn.answer_text:
        turns.insert_answer(connection, turn_id, turn.answer_text, created_at)
    if turn.summary is not None:
        views.insert_summary(connection, turn_id, turn.summary, turn.route.expert if turn.route else "", created_at)
    if turn.rating:
        signals.insert(connection, turn_id, "thumb", "imported", created_at, value=turn.rating, is_tainted=True)


def _insert_signal(connection: sqlite3.Connection, signal: Signal, names: dict[str, str], now: datetime) -> None:
    signals.insert(
        connection,
        names[signal.turn_id],
        signal.kind,
        "imported",
        stamp(signal.created_at, now),
        value=signal.value,
        text=signal.text,
        other_turn_id=names[signal.other_turn_id] if signal.other_turn_id is not None else None,
        is_tainted=True,
    )


def _names(
    connection: sqlite3.Connection, copy: ConversationCopy, new_id: Callable[[str], str], now: datetime
) -> dict[str, str]:
    """By id in the copy, the id it gets here: its own where all of them are free and in order, else a fresh one."""
    turn_ids = [turn.turn_id for turn in copy.turns]
    own = [copy.conversation.conversation_id, *turn_ids]
    if _are_ours(own[0], turn_ids, now) and not are_used(connection, own[0], turn_ids):
        return {name: name for name in own}
    return {own[0]: new_id("c")} | {turn_id: new_id("t") for turn_id in turn_ids}


def _are_ours(conversation_id: str, turn_ids: Sequence[str], now: datetime) -> bool:
    """Whether these ids could have been made here: their order is that of age, and none lies in the future."""
    if not all(_ID.fullmatch(name) for name in (conversation_id, *turn_ids)):
        return False
    kinds_fit = conversation_id.startswith("c") and all(turn_id.startswith("t") for turn_id in turn_ids)
    newest = max(map(ids.time_us_of, (conversation_id, *turn_ids)))
    return kinds_fit and list(turn_ids) == sorted(turn_ids) and newest <= now.timestamp() * 1e6


def are_used(connection: sqlite3.Connection, conversation_id: str, turn_ids: Sequence[str]) -> bool:
    """Whether there is such a conversation, or any of these turns in whichever conversation."""
    found = connection.execute(
        "SELECT 1 FROM conversations WHERE conversation_id = ?"
        " UNION ALL SELECT 1 FROM turns WHERE turn_id IN (SELECT value FROM json_each(?)) LIMIT 1",
        [conversation_id, json.dumps(list(turn_ids))],
    )
    return found.fetchone() is not None


def _content_of(turn: TurnRecord) -> list[object]:
    """What was said in a turn, and where in the tree; how it is rated, titled or dated is not content."""
    files = [[shown_name(file.name), file.text] for file in turn.attachments]
    return [turn.turn_id, turn.parent_turn_id, turn.state, turn.user_text, turn.answer_text, files]


def _check_place(turn: TurnRecord, conversation: Conversation, seen: set[str], where: str) -> None:
    if turn.turn_id in seen or turn.turn_id == conversation.conversation_id:
        raise _wrong(f"{where} has an id that is there twice.")
    if turn.conversation_id != conversation.conversation_id:
        raise _wrong(f"{where} belongs to another conversation.")
    if turn.parent_turn_id is not None and turn.parent_turn_id not in seen:
        raise _wrong(f"{where} follows a turn that does not come before it.")


def _check_values(turn: TurnRecord, where: str) -> None:
    if turn.state not in get_args(TurnState) or turn.state == "running":
        raise _wrong(f"{where} has the state {turn.state!r:.40}; only turns that have ended can be imported.")
    if turn.rating not in get_args(Rating):
        raise _wrong(f"{where} has a rating that is not 1, 0 or -1.")
    if turn.route is not None:
        for label in (turn.route.expert, turn.route.reason, *turn.route.scores):
            _check_label(label, "route")
    _check_time(turn.created_at)


def _check_texts(turn: TurnRecord, where: str) -> int:
    """How many characters the turn holds."""
    files = [part for file in turn.attachments for part in (file.name, file.text)]
    texts = [turn.user_text, turn.answer_text, turn.problem, turn.hint, turn.summary or "", *files]
    for text in texts:
        if len(text) > MAX_TEXT_CHARACTERS:
            raise _wrong(f"{where} has a text of {len(text)} characters; at most {MAX_TEXT_CHARACTERS} are taken.")
        _check_unicode(text, where)
    return sum(map(len, texts))


def _check_signal(signal: Signal, turn_ids: Collection[str], where: str) -> int:
    """How many characters it holds."""
    is_pick = signal.kind == "pick"
    if signal.kind not in ("correction", "edit", "pick") or signal.turn_id not in turn_ids:
        raise _wrong(f"{where} is about no turn of it, or is none that can be imported.")
    if is_pick != (signal.other_turn_id in turn_ids) or signal.other_turn_id == signal.turn_id:
        raise _wrong(f"{where} does not choose between two of its turns.")
    if is_pick == bool(signal.text.strip()) or len(signal.text) > MAX_TEXT_CHARACTERS or not -1 <= signal.value <= 1:
        raise _wrong(f"{where} does not say what its kind says.")
    _check_unicode(signal.text, where)
    _check_time(signal.created_at)
    return len(signal.text)


def _check_label(text: str, what: str) -> None:
    if len(text) > MAX_LABEL_CHARACTERS:
        raise _wrong(f"Its {what} has {len(text)} characters; at most {MAX_LABEL_CHARACTERS} are taken.")
    _check_unicode(text, f"Its {what}")


def _check_unicode(text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadText(f"{what} is not valid Unicode at character {error.start + 1}.", _HINT) from error


def _check_time(text: str) -> None:
    try:
        is_known = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        is_known = False
    if not is_known:
        raise _wrong(f"{text!r:.60} is not a date and time with its time zone.")


def stamp(text: str, now: datetime) -> str:
    """A time in the store's form, which sorts as text; one that lies in the future becomes `now`."""
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except OverflowError:  # the first or the last day there is, seen from another zone
        moment = now
    return min(moment, now).isoformat(timespec="microseconds")


def _wrong(what: str) -> UsageProblem:
    return UsageProblem(f"This conversation cannot be imported. {what}", _HINT)
