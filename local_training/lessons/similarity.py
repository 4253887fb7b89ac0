"""How alike short texts are, by their words and pieces of words. Pure arithmetic; knows no meaning."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from local_training.lessons.wording import folded, has_han, words

NEAR_COPY: Final = 0.6
"""Share of telling words in common from which two prompts are one: never one trained and the other tested."""
_COMMON_WORDS: Final = """
a about an and are as at be by can describe do does explain for from get give has have how i in is it me my of on or
please should suggest tell the there these this those to what what's when where which who why will with would write you
your
"""
_COMMON_CHINESE: Final = re.compile(
    "为什么|什么|怎么样?|怎样|如何|多少|哪里|哪个|怎么办|办|请|多|吗|呢|的|是|了|有|在|一|个|我|你|您|应该|可以"
)
_PIECE_CHARACTERS: Final = 3

Vector = Mapping[str, float]


def is_near_any(text: str, others: Sequence[frozenset[str]]) -> bool:
    """Whether a prompt is a near copy of any of these word sets."""
    own = word_set(text)
    return any(is_near_copy(own, other) for other in others)


def is_near_copy(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether two prompts, as `word_set` gives them, are the same but for a word or so."""
    shared = len(left & right)
    return shared > 0 and shared >= NEAR_COPY * len(left | right)


def word_set(text: str) -> frozenset[str]:
    """The telling words of a text, or all if there are no others; of Chinese its pairs of characters, likewise."""
    plain = folded(text)
    if not has_han(plain):
        found = frozenset(words(plain))
        return found - frozenset(_COMMON_WORDS.split()) or found
    characters = [one for one in _COMMON_CHINESE.sub(" ", plain) if one.isalnum()] or [*plain]
    return frozenset(map("".join, pairwise(characters))) or frozenset(characters)


class Likeness:
    """Cosines of TF-IDF vectors over the words and the pieces of words of a collection of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = Counter(term for text in texts for term in set(_terms(text)))
        self._weights = {term: math.log((1 + len(texts)) / (1 + count)) + 1 for term, count in counted.items()}
        self._unseen = math.log(1 + len(texts)) + 1

    def vector(self, text: str) -> Vector:
        """Of length 1; empty for a text without words."""
        raw = {
            term: (1 + math.log(count)) * self._weights.get(term, self._unseen)
            for term, count in Counter(_terms(text)).items()
        }
        length = math.sqrt(sum(weight * weight for weight in raw.values()))
        return {term: weight / length for term, weight in raw.items()} if length else {}


def cosine(left: Vector, right: Vector) -> float:
    """0 for nothing in common to 1 for the same."""
    small, large = sorted((left, right), key=len)
    return sum(weight * large.get(term, 0.0) for term, weight in small.items())


def _terms(text: str) -> list[str]:
    plain = f" {folded(text)} "
    pieces = [plain[start : start + _PIECE_CHARACTERS] for start in range(len(plain) - _PIECE_CHARACTERS + 1)]
    if has_han(plain):
        # A Chinese word has two characters more often than three.
        pieces += map("".join, pairwise(plain))
    return [*words(plain), *pieces]
