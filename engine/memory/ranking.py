"""Candidates to an order: words and meaning fused, what was told together, and what each memory is worth.

Pure: terms, similarities and weights in, scores out. Words are scored as BM25 does; of meaning the cosine counts as it
is, or nothing where a memory has no vector. Memories that were told close together lend each other some of their score,
since an answer often stands beside the words that a question has.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.memory.words import CONCEPT_MARK, is_concept

LEXICAL_SHARE: Final = 0.8
"""What the best match of words counts, beside a cosine of one."""
CONCEPT_SHARE: Final = 0.3
"""What a concept in common counts, beside a word that is as rare."""
NEIGHBOUR_SHARES: Final = (0.3, 0.15)
"""What the score of the memory written just before or after counts, and of the one beyond it, within a conversation."""
_K1: Final = 1.2
_B: Final = 0.75


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate as ranking sees it."""

    memory_id: int
    conversation_id: str
    terms: tuple[str, ...]
    cosine: float | None
    """With the question; None where it has no vector."""
    weight: float
    """What the memory is worth, as a factor of the score."""


@dataclass(frozen=True, slots=True)
class Ranked:
    memory_id: int
    score: float
    relevance: float
    """By its own words and meaning, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Rarity:
    """What each term of a question tells, by how few memories hold it."""

    by_term: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.by_term.values())


def rarity(terms: Sequence[str], frequencies: Mapping[str, int], memories: int) -> Rarity:
    """Of each term of a question; one that no memory holds is the rarest of all."""
    return Rarity({term: _rarity(term, frequencies.get(term, 0), max(memories, 1)) for term in terms})


def rank(matches: Sequence[Match], asked: Rarity) -> tuple[Ranked, ...]:
    """The best first; of equals the newest."""
    lexical = lexical_scores(matches, asked)
    highest = max(lexical, default=0.0) or 1.0
    own = [
        LEXICAL_SHARE * words / highest + max(match.cosine or 0.0, 0.0)
        for match, words in zip(matches, lexical, strict=True)
    ]
    lent = _with_neighbours(matches, own)
    ranked = [
        Ranked(match.memory_id, score * match.weight, relevance(match, asked))
        for match, score in zip(matches, lent, strict=True)
    ]
    return tuple(sorted(ranked, key=lambda one: (-one.score, -one.memory_id)))


def lexical_scores(matches: Sequence[Match], asked: Rarity) -> list[float]:
    """BM25 of each candidate, concepts weighing less."""
    lengths = [sum(term[0] != CONCEPT_MARK for term in match.terms) for match in matches]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    return [
        sum(
            asked.by_term[term] * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / max(average, 1.0)))
            for term, count in Counter(term for term in match.terms if term in asked.by_term).items()
        )
        for match, length in zip(matches, lengths, strict=True)
    ]


def coverage(match: Match, asked: Rarity) -> float:
    """The share of what the question tells that occurs in the memory."""
    held = asked.by_term.keys() & match.terms
    return sum(asked.by_term[term] for term in held) / (asked.total or 1.0)


def relevance(match: Match, asked: Rarity) -> float:
    """By words or by meaning, whichever says more."""
    return max(coverage(match, asked), match.cosine or 0.0)


def _rarity(term: str, holding: int, memories: int) -> float:
    holding = min(holding, memories)
    idf = math.log(1 + (memories - holding + 0.5) / (holding + 0.5))
    return idf * (CONCEPT_SHARE if is_concept(term) else 1.0)


def _with_neighbours(matches: Sequence[Match], own: Sequence[float]) -> list[float]:
    """Numbers follow each other in the order of writing."""
    place = {match.memory_id: index for index, match in enumerate(matches)}
    scores = list(own)
    for index, match in enumerate(matches):
        for distance, share in enumerate(NEIGHBOUR_SHARES, start=1):
            for neighbour in (match.memory_id - distance, match.memory_id + distance):
                other = place.get(neighbour)
                if other is not None and matches[other].conversation_id == match.conversation_id:
                    scores[index] += share * own[other]
    return scores
