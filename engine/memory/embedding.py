"""What memory needs of an embedder, and its vectors as they are stored. Knows no model."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from engine.memory.codes import Vectors, codes_of
from engine.store.memories import Vector


class Embedder(Protocol):
    """Texts in, unit vectors out. `name` is another one whenever the same text could get another vector."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 (texts, dimensions)."""
        ...


def embedded(embedder: Embedder, texts: Sequence[str]) -> tuple[Vector, ...]:
    """The vectors of texts, ready to be stored."""
    vectors = np.ascontiguousarray(embedder.embed(texts), "<f4")
    return tuple(
        Vector(embedder.name, row.tobytes(), code) for row, code in zip(vectors, codes_of(vectors), strict=True)
    )


def similarities(vectors: Sequence[bytes], question: bytes) -> list[float]:
    """The cosine of each stored vector with that of a question."""
    if not vectors:
        return []
    asked = np.frombuffer(question, "<f4")
    matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), len(asked))
    return [float(cosine) for cosine in matrix @ asked]
