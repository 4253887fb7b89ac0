"""How far a forgetting reaches: which turns, which words in which other turns, which memories, whose views.

Only reads. Knows nothing of models: where token ids may hold the words is told by who could have read them, and a view
that might have is dropped rather than one that has is kept.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import engine.store.memories as memories
import engine.store.turns as turns
from engine.errors import BadText, ConversationBusy, UsageProblem
from engine.forgetting import Wanted
from engine.memory.values import Memory
from engine.store.memory_search import marks
from engine.store.spans import Spans, long_enough

FEWEST_CHARACTERS: Final = 2
"""A single letter is in every text."""


@dataclass(frozen=True, slots=True)
class Scope:
    spans: Spans
    """What is replaced in the texts of `conversations`, and in answers of `recalled` ones."""
    whole: frozenset[str]
    """Turns of which nothing is left but their place in the tree."""
    whole_conversation: str
    """Where all turns of one go; its title goes too."""
    conversations: frozenset[str]
    """All there are where the words go everywhere."""
    memories: tuple[int, ...]
    told: tuple[str, ...]
    """Memories and their evidence, of which answers may have given back a part: those of `told_in` and `recalled`."""
    told_in: frozenset[str]
    recalled: Mapping[str, str]
    """Conversations in which one of the memories was read, each with the time of the first such turn."""
    since: str
    """When the first of what is forgotten was said; ISO 8601, UTC. Older copies cannot hold it."""
    is_everywhere: bool


def scope_of(connection: sqlite3.Connection, wanted: Wanted) -> Scope:
    """Raises: UnknownName; BadText for a span that is none; UsageProblem where nothing or two things are named;
    ConversationBusy while a turn of it is not over."""
    if wanted.span and len("".join(wanted.span.split())) < FEWEST_CHARACTERS:
        raise BadText(
            f"Words to be forgotten need {FEWEST_CHARACTERS} characters or more.", "Give all that is to be forgotten."
        )
    if wanted.memory_id and not (wanted.target or wanted.span):
        scope = _of_memory(connection, wanted.memory_id)
    elif wanted.is_everywhere and wanted.span and not wanted.memory_id:
        scope = _of_words(connection, wanted)
    elif wanted.target and not wanted.is_everywhere and not wanted.memory_id:
        scope = _of_target(connection, wanted)
    else:
        raise UsageProblem(
            "It is not clear what is to be forgotten.",
            "Name a turn or a conversation, or give --span with --everywhere.",
        )
    _require_rest(connection, scope.conversations | set(scope.recalled))
    return scope


def _of_target(connection: sqlite3.Connection, wanted: Wanted) -> Scope:
    is_turn = connection.execute("SELECT 1 FROM turns WHERE turn_id = ?", [wanted.target]).fetchone() is not None
    if is_turn:
        turn = turns.turn(connection, wanted.target)
        conversation_id = turn.conversation_id
        # Answered once more, a message is another turn that says the same.
        named = [one for one in turns.siblings(connection, turn.turn_id) if one.user_text == turn.user_text]
    else:
        conversation_id = turns.conversation(connection, wanted.target).conversation_id
        named = list(turns.tree(connection, conversation_id))
    is_whole = not wanted.span
    texts = long_enough(one.user_text for one in named) if is_whole else [wanted.span]
    spans = Spans(texts)
    whole = frozenset(one.turn_id for one in named) if is_whole else frozenset[str]()
    known = _with_history(connection, _written_from(connection, conversation_id, whole, spans))
    if is_whole:
        spans = Spans([*texts, *long_enough(_texts_of(known))])
    said = named if is_whole else turns.tree(connection, conversation_id)
    return Scope(
        spans=spans,
        whole=whole,
        whole_conversation=conversation_id if is_whole and not is_turn else "",
        conversations=frozenset({conversation_id}),
        memories=tuple(one.memory_id for one in known),
        # Of words only these go, not all that a memory says beside them.
        told=_texts_of(known) if is_whole else (),
        told_in=frozenset(),
        recalled=_recalled(connection, known),
        since=min([one.created_at for one in said], default=""),
        is_everywhere=False,
    )


def _of_memory(connection: sqlite3.Connection, memory_id: int) -> Scope:
    """With all that it superseded, and with the words that it was written from."""
    known = [one for one in memories.history(connection, memory_id) if one.state != "forgotten"]
    source_ids = frozenset(one.turn_id for one in known if one.turn_id)
    said_at = [turns.turn(connection, turn_id).created_at for turn_id in source_ids]
    return Scope(
        spans=Spans(_texts_of(known)),
        whole=frozenset(),
        whole_conversation="",
        conversations=frozenset(one.conversation_id for one in known if one.conversation_id),
        memories=tuple(one.memory_id for one in known),
        told=_texts_of(known),
        told_in=source_ids,
        recalled=_recalled(connection, known),
        since=min([*said_at, *(_as_written(one.created_at) for one in known)], default=""),
        is_everywhere=False,
    )


def _of_words(connection: sqlite3.Connection, wanted: Wanted) -> Scope:
    if wanted.target:
        _of_target(connection, Wanted(wanted.target, wanted.span))  # a wrong id is told, not passed over
    spans = Spans([wanted.span])
    known = _with_history(connection, [number for number, *texts in _memory_texts(connection) if _say(texts, spans)])
    every = frozenset(name for (name,) in connection.execute("SELECT conversation_id FROM conversations"))
    return Scope(
        spans=spans,
        whole=frozenset(),
        whole_conversation="",
        conversations=every,
        memories=tuple(one.memory_id for one in known),
        told=(),
        told_in=frozenset(),
        recalled=_recalled(connection, known),
        since="",
        is_everywhere=True,
    )


def _written_from(
    connection: sqlite3.Connection, conversation_id: str, whole: frozenset[str], spans: Spans
) -> list[int]:
    """The memories of turns that go, and those of the conversation that say the words or are said by a part of them."""
    found = list[int]()
    for number, turn_id, of_conversation, *texts in _memory_rows(connection):
        if turn_id in whole or (of_conversation == conversation_id and _say(texts, spans)):
            found.append(number)
    return found


def _say(texts: Iterable[str], spans: Spans) -> bool:
    """Whether texts of a memory hold the words; or its evidence, which comes first, lies within them."""
    evidence, *others = texts
    part = " ".join(evidence.split()).casefold()
    lies_within = bool(long_enough([evidence])) and any(part in text.casefold() for text in spans.texts)
    return lies_within or any(map(spans.are_in, (evidence, *others)))


def _texts_of(known: Iterable[Memory]) -> tuple[str, ...]:
    return tuple(text for one in known for text in (one.text, one.evidence))


def _memory_texts(connection: sqlite3.Connection) -> list[tuple[int, str, str, str]]:
    return [(row[0], row[3], row[4], row[5]) for row in _memory_rows(connection)]


def _memory_rows(connection: sqlite3.Connection) -> list[tuple[int, str | None, str | None, str, str, str]]:
    found = connection.execute(
        "SELECT memory_id, turn_id, conversation_id, evidence, text, slot FROM memories WHERE state <> 'forgotten'"
    )
    return [tuple(row) for row in found]


def _with_history(connection: sqlite3.Connection, memory_ids: Iterable[int]) -> tuple[Memory, ...]:
    """Also what they superseded: its words are those of the memory before it was changed."""
    found = {one.memory_id: one for number in memory_ids for one in memories.history(connection, number)}
    return tuple(one for one in found.values() if one.state != "forgotten")


def _recalled(connection: sqlite3.Connection, known: Sequence[Memory]) -> dict[str, str]:
    """Conversations in which a memory was read, with the time of the first such turn."""
    found = connection.execute(
        "SELECT conversation_id, min(turns.created_at) FROM recalled JOIN turns USING (turn_id)"
        f" WHERE memory_id IN ({marks(known)}) GROUP BY conversation_id",
        [memory.memory_id for memory in known],
    )
    return {row[0]: row[1] for row in found}


def _require_rest(connection: sqlite3.Connection, conversations: frozenset[str]) -> None:
    """What a turn that goes on has read, it would write down again when it ends. Raises: ConversationBusy."""
    running = {name for (name,) in connection.execute("SELECT conversation_id FROM turns WHERE state = 'running'")}
    if running & conversations:
        raise ConversationBusy(
            "A turn of this conversation is not over: it waits for an approval or a tool.",
            "Answer it, or stop that turn first.",
        )


def _as_written(moment: str) -> str:
    """In the form of the turns' times, which sorts as text."""
    return datetime.fromisoformat(moment).astimezone(UTC).isoformat(timespec="microseconds")
