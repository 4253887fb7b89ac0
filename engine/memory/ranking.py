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

from engine.memory.words import CONCEPT_MARK, Piece, share_of

LEXICAL_SHARE: Final = 0.6
"""What the best match of words counts, beside a cosine of one."""
FULL_MATCH: Final = 0.8
"""The share of what a question's terms tell from which on the best match counts in full: a question whose rare words no
memory holds is not answered by the common ones."""
NEIGHBOUR_SHARES: Final = (0.3, 0.15)
"""What the score of the memory written just before or after counts, and of the one beyond it, within a conversation."""
_K1: Final = 1.2
_B: Final = 0.75


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate as ranking sees it."""

    memory_id: int
    conversation_id: str | None
    """None where it was not said in one: it has no neighbours then."""
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
class Asked:
    """A question as ranking sees it."""

    rarities: Mapping[str, float]
    """What each of its terms tells, by how few memories hold it."""
    pieces: Sequence[tuple[Piece, float]]
    """What it is about, and how much each part of that tells."""


def asked(terms: Sequence[str], about: Sequence[Piece], frequencies: Mapping[str, int], memories: int) -> Asked:
    """From the terms and the pieces of a question; a term that no memory holds is the rarest of all."""
    memories = max(memories, 1)
    rarest = _rarity("", 0, memories)
    rarities = {term: _rarity(term, frequencies.get(term, 0), memories) for term in terms}
    return Asked(
        rarities,
        tuple(
            (
                piece,
                min(
                    (rarities[term] for term in piece.terms if term in frequencies and term in rarities), default=rarest
                ),
            )
            for piece in about
        ),
    )


def rank(matches: Sequence[Match], question: Asked, most: int) -> tuple[Ranked, ...]:
    """The best first, at most so many, without those that score nothing; of equals the newest."""
    lexical = lexical_scores(matches, question)
    highest = max(*lexical, FULL_MATCH * sum(question.rarities.values()), 1e-9)
    own = [
        LEXICAL_SHARE * words / highest + max(match.cosine or 0.0, 0.0)
        for match, words in zip(matches, lexical, strict=True)
    ]
    scored = [
        (score * match.weight, match.memory_id, match)
        for match, score in zip(matches, _with_neighbours(matches, own), strict=True)
        if score * match.weight > 0.0
    ]
    best = sorted(scored, key=lambda one: one[:2], reverse=True)[:most]
    return tuple(Ranked(memory_id, score, relevance(match, question)) for score, memory_id, match in best)


def lexical_scores(matches: Sequence[Match], question: Asked) -> list[float]:
    """BM25 of each candidate, concepts weighing less."""
    lengths = [sum(term[0] != CONCEPT_MARK for term in match.terms) for match in matches]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    return [
        sum(
            question.rarities[term] * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / max(average, 1.0)))
            for term, count in Counter(term for term in match.terms if term in question.rarities).items()
        )
        for match, length in zip(matches, lengths, strict=True)
    ]


def coverage(match: Match, question: Asked) -> float:
    """The share of what the question is about that the memory holds, by its words or as what they are kinds of."""
    held = set(match.terms)
    total = sum(share for _, share in question.pieces)
    return sum(share * piece.held_by(held) for piece, share in question.pieces) / (total or 1.0)


def relevance(match: Match, question: Asked) -> float:
    """By words or by meaning, whichever says more."""
    return max(coverage(match, question), match.cosine or 0.0)


def _rarity(term: str, holding: int, memories: int) -> float:
    holding = min(holding, memories)
    idf = math.log(1 + (memories - holding + 0.5) / (holding + 0.5))
    return idf * (share_of(term) if term else 1.0)


def _with_neighbours(matches: Sequence[Match], own: Sequence[float]) -> list[float]:
    """Numbers follow each other in the order of writing."""
    place = {match.memory_id: index for index, match in enumerate(matches)}
    scores = list(own)
    for index, match in enumerate(matches):
        if match.conversation_id is None:
            continue
        for distance, share in enumerate(NEIGHBOUR_SHARES, start=1):
            for neighbour in (match.memory_id - distance, match.memory_id + distance):
                other = place.get(neighbour)
                if other is not None and matches[other].conversation_id == match.conversation_id:
                    scores[index] += share * own[other]
    return scores
