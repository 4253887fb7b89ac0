"""How long finding and writing take among very many memories, by the clock, without the embedding.

Texts are drawn from words as frequent as in language and from everyday ones that concepts know; vectors lie in
clusters, as those of sentences do. They are put into the tables at once; what is measured goes through the product's
own methods.
"""

import itertools
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine.memory.codes import Vectors, codes_of
from engine.memory.concepts import shipped_concepts
from engine.memory.keeping import KeptMemories
from engine.memory.values import Draft
from engine.memory.words import index_terms
from engine.store import Store
from engine.store.memory_search import Vector
from engine.values import Answer

DIMENSIONS: Final = 384
CLUSTERS: Final = 500
WORDS: Final = 20_000
TEXT_WORDS: Final = 9
QUESTION_WORDS: Final = 6
_AT_ONCE: Final = 2_000
_EVERYDAY: Final = (
    "coffee tea lunch sister brother dog cat work job house city car guitar book film train holiday doctor school music"
)
_INSERT: Final = """
    INSERT INTO memories (turn_id, conversation_id, kind, text, evidence, terms, slot, due_on, trust, r0, validation,
        state, created_at)
    VALUES (?, ?, 'fact', ?, ?, ?, '', '', 'typed', 0.7, 0.8, 'active', ?)
"""


class DrawnEmbedder:
    """Vectors of clusters, whatever the text; takes no time worth measuring."""

    name = "drawn"
    dimensions = DIMENSIONS
    is_multilingual = True

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._centres = _unit(self._random.normal(size=(CLUSTERS, DIMENSIONS)))

    def embed(self, texts: Sequence[str]) -> Vectors:
        count = len(texts)
        near = self._centres[self._random.integers(0, CLUSTERS, count)]
        return _unit(near + 0.6 * _unit(self._random.normal(size=(count, DIMENSIONS))))


@dataclass(frozen=True, slots=True)
class Times:
    search_ms: list[float]
    write_ms: list[float]
    load_s: float
    memories: int


def measure(memories: int, runs: int, seed: int) -> Times:
    embedder, words = DrawnEmbedder(seed), _Words(seed)
    with _filled(memories, embedder, words) as (store, turn_id):
        began = time.perf_counter()
        kept = KeptMemories(store, embedder)
        load_s = time.perf_counter() - began
        now = datetime.now(UTC)
        search_ms, write_ms = list[float](), list[float]()
        for number in range(runs + 5):
            question = words.text(QUESTION_WORDS)
            vector = _vector(embedder)
            began = time.perf_counter()
            kept.recall(question, now, vector=vector)
            search_ms.append(1000 * (time.perf_counter() - began))
            text = f"{words.text(TEXT_WORDS)} {number}"
            began = time.perf_counter()
            kept.write(Draft(text, "fact", text, turn_id), now)
            write_ms.append(1000 * (time.perf_counter() - began))
        # The first few fill the caches of the file.
        return Times(search_ms[5:], write_ms[5:], load_s, memories)


class _Words:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        syllables = [f"{a}{b}" for a in "bdfgklmnprst" for b in "aeiou"]
        self._words = ["".join(self._random.choices(syllables, k=3)) for _ in range(WORDS)] + _EVERYDAY.split()
        frequencies = [1 / (rank + 20) for rank in range(WORDS)] + [0.002] * len(_EVERYDAY.split())
        self._cumulated = list(itertools.accumulate(frequencies))

    def text(self, words: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._cumulated, k=words))


@contextmanager
def _filled(memories: int, embedder: DrawnEmbedder, words: _Words) -> Iterator[tuple[Store, str]]:
    concepts = shipped_concepts()
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "a.db") as store:
        turn = store.open_turn("x", conversation_id=None, parent_turn_id=None, profile="starter")
        store.close_turn(Answer(turn.turn_id, "answered", "y", None))
        for first in range(1, memories + 1, _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, memories + 1))
            vectors = embedder.embed([""] * len(numbers))
            with store.database.transaction() as connection:
                for number, vector, code in zip(numbers, vectors, codes_of(vectors), strict=True):
                    text = words.text(TEXT_WORDS)
                    terms = index_terms(text, concepts)
                    connection.execute(
                        _INSERT, [turn.turn_id, turn.conversation_id, text, text, terms, "2026-11-01T00:00:00+00:00"]
                    )
                    connection.execute("INSERT INTO memories_fts (rowid, terms) VALUES (?, ?)", [number, terms])
                    connection.execute("INSERT INTO memory_codes VALUES (?, ?, ?)", [number, embedder.name, code])
                    connection.execute("INSERT INTO memory_vectors VALUES (?, ?)", [number, vector.tobytes()])
        yield store, turn.turn_id


def _vector(embedder: DrawnEmbedder) -> Vector:
    vectors = embedder.embed([""])
    return Vector(embedder.name, vectors[0].tobytes(), codes_of(vectors)[0])


def _unit(vectors: npt.NDArray[Any]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / lengths).astype(np.float32)
