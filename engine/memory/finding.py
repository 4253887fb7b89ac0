"""The memories that may answer a question: by their words, by their meaning, and those that were told beside them.

Holds the codes of all vectors of today's embedder; the rest is read from the store when it is asked for. May be called
from any thread. How long a search takes does not grow with the words that are common to very many memories: those are
only looked at in memories that something rarer has brought up.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from engine.errors import RuntimeFailed
from engine.memory.codes import CodeMatrix
from engine.memory.concepts import Concepts
from engine.memory.embedding import Embedder, embedded, reads, similarities
from engine.memory.ranking import Match, Ranked, asked, rank
from engine.memory.weighting import WeightRules, age_days, worth
from engine.memory.words import CONCEPT_MARK, expression, index_terms, is_concept, pieces, query_terms
from engine.store.memory_search import Candidate, MemorySearch, Vector

BY_WORDS: Final = 40
BY_MEANING: Final = 48
WITH_NEIGHBOURS: Final = 16
"""Of each kind of candidates, how many bring up what was told beside them."""
QUESTION_CHARACTERS: Final = 2_000
QUESTION_TERMS: Final = 48
"""Further words of a long message are not looked for."""
SLOT_CONCEPTS: Final[Mapping[str, str]] = {
    "age": "age",
    "allergy": "allergy",
    "answer_language": "format",
    "answer_length": "format",
    "birthday": "age",
    "diet": "diet",
    "employer": "job",
    "home": "home",
    "job": "job",
    "marriage": "partner",
    "name": "name",
    "origin": "origin",
    "partner": "partner",
    "units": "format",
}
"""What memories in a slot are about, whatever their words."""
_REACH: Final = 2
_MOST_ROWS: Final = 2_000
"""How many rows the index may have to score for one question."""


class Finder:
    def __init__(self, search: MemorySearch, embedder: Embedder | None, concepts: Concepts, rules: WeightRules) -> None:
        """Reads the codes of all vectors there are by this embedder; without one only words count."""
        self._search = search
        self._embedder = embedder
        self._concepts = concepts
        self._rules = rules
        self._lock = threading.Lock()
        self._codes = CodeMatrix(embedder.dimensions if embedder else 1)
        if embedder is not None:
            self._codes.load(*search.codes(embedder.name))
        self._count = search.count()

    def find(self, question: str, now: datetime, most: int, vector: Vector | None = None) -> tuple[Ranked, ...]:
        """The best first, at most so many. `vector` spares the embedding of the question."""
        question = question[:QUESTION_CHARACTERS]
        terms = query_terms(question, self._concepts)[:QUESTION_TERMS]
        frequencies = self._search.frequencies(terms)
        about = pieces(question, self._concepts)[:QUESTION_TERMS]
        known = asked(terms, about, frequencies, self._count)
        vector = vector or self.vector_of(question)
        by_words = self._by_words(terms, frequencies, has_other_way=vector is not None)
        by_meaning = self._nearest(vector, BY_MEANING)
        beside = _beside((*by_words[:WITH_NEIGHBOURS], *by_meaning[:WITH_NEIGHBOURS]))
        candidates = self._search.candidates({*by_words, *by_meaning, *beside})
        return rank(self._matches(candidates, vector, now), known, most)

    def alike(self, text: str, vector: Vector | None, most: int) -> Sequence[int]:
        """Those that may say the same, by words or by meaning, in no order."""
        terms = [term for term in query_terms(text, self._concepts) if not is_concept(term)]
        by_words = self._by_words(terms, self._search.frequencies(terms), has_other_way=True)[:most]
        return tuple(dict.fromkeys((*by_words, *self._nearest(vector, most))))

    def cosines(self, memory_ids: Collection[int], vector: Vector | None) -> Mapping[int, float]:
        """Of the memories that have a vector by today's embedder."""
        with self._lock:
            known = [memory_id for memory_id in memory_ids if memory_id in self._codes]
        if vector is None or not known:
            return {}
        vectors = self._search.vectors(known)
        return dict(zip(vectors, similarities(list(vectors.values()), vector.vector), strict=True))

    def vector_of(self, text: str) -> Vector | None:
        """None where there is no embedder, or none that can read this now: words must do, and it is embedded later."""
        if self._embedder is None or not reads(self._embedder, text):
            return None
        try:
            return embedded(self._embedder, [text])[0]
        except RuntimeFailed:
            return None

    def terms_of(self, text: str, slot: str) -> str:
        """With what its slot is about, which the text need not name: "I just turned 35" is about an age."""
        about = SLOT_CONCEPTS.get(slot.partition(":")[0])
        return index_terms(text, self._concepts) + (f" {CONCEPT_MARK}{about}" if about else "")

    # What has changed

    def added(self, memory_id: int, vector: Vector | None) -> None:
        self.embedded(memory_id, vector)
        with self._lock:
            self._count += 1

    def embedded(self, memory_id: int, vector: Vector | None) -> None:
        if vector is not None and vector.code and self._embedder and vector.embedder == self._embedder.name:
            with self._lock:
                self._codes.put(memory_id, vector.code)

    def removed(self, memory_ids: Collection[int]) -> None:
        with self._lock:
            for memory_id in memory_ids:
                self._codes.remove(memory_id)
        self._count = self._search.count()

    # Candidates

    def _by_words(
        self, terms: Sequence[str], frequencies: Mapping[str, int], *, has_other_way: bool
    ) -> tuple[int, ...]:
        """By the rarest terms, as many of them as the index can score in time."""
        known = sorted((term for term in terms if term in frequencies), key=lambda term: frequencies[term])
        chosen, rows = list[str](), 0
        for term in known:
            rows += frequencies[term]
            if rows > _MOST_ROWS and (chosen or has_other_way):
                break
            chosen.append(term)
        return self._search.matching(expression(chosen), BY_WORDS) if chosen else ()

    def _nearest(self, vector: Vector | None, most: int) -> Sequence[int]:
        if vector is None:
            return ()
        with self._lock:
            return self._codes.nearest(vector.code, most)

    def _matches(self, candidates: Mapping[int, Candidate], vector: Vector | None, now: datetime) -> list[Match]:
        cosines = self.cosines(candidates, vector)
        return [
            Match(
                memory_id,
                candidate.conversation_id,
                candidate.terms,
                cosines.get(memory_id),
                self._factor(candidate, now),
            )
            for memory_id, candidate in candidates.items()
        ]

    def _factor(self, candidate: Candidate, now: datetime) -> float:
        """What worth does to the score; nothing is left of what has sunk."""
        value = worth(candidate.r0, candidate.validation, age_days(candidate, now), candidate.kind, self._rules)
        return value**self._rules.strength if value >= self._rules.sunk else 0.0


def _beside(memory_ids: Sequence[int]) -> set[int]:
    return {memory_id + step for memory_id in memory_ids for step in range(-_REACH, _REACH + 1)}
