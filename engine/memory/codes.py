"""The signs of sentence vectors, one bit a dimension, and a search among very many of them.

Knows numbers of memories and their codes, neither texts nor tables. Codes are held side by side by words of 64 bits, so
that a search is a few passes over long rows; a hundred thousand of 384 bits take five megabytes.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""(texts, dimensions), rows of length one."""
Words = npt.NDArray[np.uint64]

_WORD_BITS: Final = 64
_WORD_BYTES: Final = 8
_FIRST_CAPACITY: Final = 1024


def codes_of(vectors: Vectors) -> tuple[bytes, ...]:
    """The signs of each row, filled up with zeros to whole words."""
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % _WORD_BYTES
    padded = np.pad(bits, ((0, 0), (0, missing)))
    return tuple(row.tobytes() for row in padded)


class CodeMatrix:
    """Codes of one embedder by number of memory. Not to be used by several threads at once."""

    def __init__(self, dimensions: int) -> None:
        self._words = -(-dimensions // _WORD_BITS)
        self._codes: Words = np.zeros((self._words, _FIRST_CAPACITY), np.uint64)
        self._numbers: npt.NDArray[np.int64] = np.zeros(_FIRST_CAPACITY, np.int64)
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, number: object) -> bool:
        return number in self._places

    def load(self, numbers: Sequence[int], codes: bytes) -> None:
        """Begin anew with these; `codes` holds one after the other."""
        count = len(numbers)
        rows = np.frombuffer(codes, "<u8").reshape(count, self._words)
        capacity = max(_FIRST_CAPACITY, count + count // 4)
        self._codes = np.zeros((self._words, capacity), np.uint64)
        self._codes[:, :count] = rows.T
        self._numbers = np.zeros(capacity, np.int64)
        self._numbers[:count] = numbers
        self._places = {number: place for place, number in enumerate(numbers)}

    def put(self, number: int, code: bytes) -> None:
        place = self._places.get(number, len(self._places))
        if place == self._codes.shape[1]:
            self._codes = np.concatenate([self._codes, np.zeros_like(self._codes)], axis=1)
            self._numbers = np.concatenate([self._numbers, np.zeros_like(self._numbers)])
        self._codes[:, place] = np.frombuffer(code, "<u8")
        self._numbers[place] = number
        self._places[number] = place

    def remove(self, number: int) -> None:
        """The last takes its place; a number that is not there is no matter."""
        place = self._places.pop(number, None)
        if place is None or place == (last := len(self._places)):
            return
        self._codes[:, place] = self._codes[:, last]
        moved = int(self._numbers[last])
        self._numbers[place] = moved
        self._places[moved] = place

    def nearest(self, code: bytes, most: int) -> list[int]:
        """The numbers whose codes differ in the fewest bits, the nearest first."""
        count = len(self)
        asked: npt.NDArray[Any] = np.frombuffer(code, "<u8")
        distances = np.zeros(count, np.uint16)
        for word in range(self._words):
            distances += np.bitwise_count(self._codes[word, :count] ^ asked[word])
        best = np.argpartition(distances, most)[:most] if most < count else np.arange(count)
        return [int(number) for number in self._numbers[best[np.argsort(distances[best], kind="stable")]]]
