"""An embedder that needs no model: the stems of a text, hashed into few dimensions."""

import zlib
from collections.abc import Sequence

import numpy as np

from engine.memory.codes import Vectors
from engine.memory.words import held_terms


class HashedWords:
    """Texts that share words are near each other. `asked` is everything it was given."""

    def __init__(self, name: str = "hashed", dimensions: int = 128, *, is_multilingual: bool = True) -> None:
        self.name = name
        self.dimensions = dimensions
        self.is_multilingual = is_multilingual
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            for term in held_terms(text) or {"nothing"}:
                number = zlib.crc32(f"{self.name} {term}".encode())
                vectors[row, number % self.dimensions] += 1 if number & (1 << 20) else -1
                vectors[row, (number >> 8) % self.dimensions] += 0.5
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.maximum(norms, 1e-9)).astype(np.float32)
