"""Prompts as token ids: English enough to be answered, equal for equal seeds, and of an exact length."""

import random
from collections.abc import Callable
from typing import Final

from engine.runtime.protocol import Tokens

_WHO: Final = (
    "The captain",
    "A neighbour",
    "My sister",
    "The old teacher",
    "Our cook",
    "A young doctor",
    "The gardener",
)
_DOES: Final = ("repairs", "paints", "forgets", "carries", "measures", "describes", "borrows", "counts", "hides")
_WHAT: Final = ("the wooden boat", "a blue lamp", "seven letters", "the kitchen clock", "an empty basket", "two maps")
_WHEN: Final = (
    "before breakfast",
    "every winter",
    "on the bridge",
    "without a word",
    "after the storm",
    "in the attic",
)
_CHARACTERS_PER_TOKEN: Final = 12
"""More than any text of these words has, so that what is drawn is always long enough to be cut."""


class Prompts:
    """Draws one prompt after another; no two begin alike for long."""

    def __init__(self, encode: Callable[[str], Tokens], seed: int) -> None:
        self._encode = encode
        self._random = random.Random(seed)

    def draw(self, length_tokens: int) -> Tokens:
        parts: list[str] = []
        while sum(map(len, parts)) < length_tokens * _CHARACTERS_PER_TOKEN:
            words = (self._random.choice(words) for words in (_WHO, _DOES, _WHAT, _WHEN))
            parts.append(f"{' '.join(words)}. ")
        return self._encode("".join(parts))[:length_tokens]
