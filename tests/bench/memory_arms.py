"""Memories of a told set in a store of their own, and three ways of finding them: as the product does, by words alone,
and by vectors alone."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from engine.assets import asset_path
from engine.memory.codes import Vectors
from engine.memory.concepts import NO_CONCEPTS
from engine.memory.embedding import Embedder
from engine.memory.keeping import KeptMemories, Spoken, is_known
from engine.memory.runtime_embedder import RuntimeEmbedder
from engine.memory.values import Draft
from engine.memory.words import expression, index_terms, query_terms
from engine.runtime.embedder import Embedder as NativeEmbedder
from engine.store import Store
from engine.values import Answer
from tests.bench.memory_sets import Message, Told, Update

ASKED_AT: Final = datetime(2026, 6, 1, tzinfo=UTC)
_NO_LIMIT: Final = 1_000_000


class OfflineEmbedder:
    """The one that comes with the program, or another. What it has embedded once it does not embed again."""

    def __init__(self, file: Path | None = None, threads: int = 2) -> None:
        file = file or asset_path("embedder", "all-MiniLM-L6-v2-Q8_0.gguf")
        self._native = NativeEmbedder(str(file), threads)
        read = RuntimeEmbedder(file, self._native.embed)
        self.name, self.dimensions, self.is_multilingual = file.stem, read.dimensions, read.is_multilingual
        self._known: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        self._known.update(zip(new, self._native.embed(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def embed_ms(self, texts: Sequence[str]) -> list[float]:
        """What it takes to embed each of them alone, known or not."""
        found = list[float]()
        for text in texts:
            began = time.perf_counter()
            self._native.embed([text])
            found.append((time.perf_counter() - began) * 1000)
        return found

    def close(self) -> None:
        self._native.close()


@dataclass(frozen=True, slots=True)
class Arm:
    """A told set, ready to be asked."""

    told: Told
    memories: KeptMemories
    words: Store
    """The same texts without concepts, as a plain index has them."""
    embedder: Embedder
    messages: dict[int, str]
    """The id of the message of each memory."""

    def hybrid(self, question: str, most: int, *, least_relevance: float = 0.0) -> list[str]:
        found = self.memories.recall(question, ASKED_AT, most=most, tokens=_NO_LIMIT, least_relevance=least_relevance)
        return [self.messages[one.memory.memory_id] for one in found]

    def product(self, question: str, most: int) -> list[str]:
        """As the program recalls, with its least relevance."""
        found = self.memories.recall(question, ASKED_AT, most=most, tokens=_NO_LIMIT)
        return [self.messages[one.memory.memory_id] for one in found]

    def by_words(self, question: str, most: int) -> list[str]:
        asked = expression(query_terms(question, NO_CONCEPTS))
        if not asked:
            return []
        with self.words.database.reading() as connection:
            found = connection.execute(
                "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ? ORDER BY rank LIMIT ?", [asked, most]
            ).fetchall()
        return [self.messages[row[0]] for row in found]

    def by_vectors(self, question: str, most: int) -> list[str]:
        messages = self.told.messages
        vectors = self.embedder.embed([message.text for message in messages])
        best = np.argsort(-(vectors @ self.embedder.embed([question])[0]), kind="stable")[:most]
        return [messages[place].message_id for place in best]

    def knows(self, question: str) -> bool:
        return is_known(self.memories.recall(question, ASKED_AT))


@contextmanager
def arm_of(told: Told, embedder: Embedder) -> Iterator[Arm]:
    """Every message is written as a memory of its own turn; a session is a conversation."""
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "a.db") as store:
        memories = KeptMemories(store, embedder)
        embedder.embed([message.text for message in told.messages])
        messages = dict[int, str]()
        with Store.open(Path(folder) / "words.db") as words:
            for session in told.sessions:
                after = None
                now = datetime.fromisoformat(session.day).replace(tzinfo=UTC)
                for message in session.messages:
                    after = answered_turn(store, message.text, after)
                    memory = memories.write(Draft(message.text, "fact", message.text, after), now)
                    messages[memory.memory_id] = message.message_id
                    _index(words, memory.memory_id, message)
            yield Arm(told, memories, words, embedder, messages)


@dataclass(frozen=True, slots=True)
class Updated:
    """What came back for the question of an update."""

    update: Update
    stale: bool
    fresh: bool
    found: tuple[str, ...]


def updated(update: Update, embedder: Embedder) -> Updated:
    """Both messages are learned as the product does, a day apart; then the question is asked."""
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "a.db") as store:
        memories = KeptMemories(store, embedder)
        for days, said in ((2, update.first), (1, update.then)):
            now = ASKED_AT - timedelta(days=days)
            memories.learn(Spoken(answered_turn(store, said), said), now, now.date())
        found = tuple(f"{one.memory.text}\n" for one in memories.recall(update.question, ASKED_AT))
    return Updated(
        update, any(update.stale in text for text in found), any(update.fresh in text for text in found), found
    )


def written_share(told: Told) -> float:
    """Of the messages that answer a question, the share from which the rules alone write a memory."""
    wanted = {one for question in told.questions for one in question.evidence}
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "a.db") as store:
        memories = KeptMemories(store, None)
        written = 0
        for session in told.sessions:
            now = datetime.fromisoformat(session.day).replace(tzinfo=UTC)
            for message in session.messages:
                if message.message_id in wanted:
                    kept = memories.learn(Spoken(answered_turn(store, message.text), message.text), now, now.date())
                    written += bool(kept.written or kept.merged)
    return written / len(wanted)


def answered_turn(store: Store, text: str, after: str | None = None) -> str:
    """The id of a turn in a new conversation, or after another turn."""
    conversation = store.turn(after).conversation_id if after else None
    turn = store.open_turn(text, conversation_id=conversation, parent_turn_id=after, profile="starter")
    store.close_turn(Answer(turn.turn_id, "answered", "Yes.", None))
    return turn.turn_id


def _index(words: Store, memory_id: int, message: Message) -> None:
    with words.database.transaction() as connection:
        connection.execute(
            "INSERT INTO memories_fts (rowid, terms) VALUES (?, ?)",
            [memory_id, index_terms(message.text, NO_CONCEPTS)],
        )
