"""What memory needs of an embedder, and its vectors as they are stored. Knows no model."""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from engine.memory.codes import Vectors, codes_of
from engine.store.memory_search import Vector

_BEYOND_LATIN: Final = 0x250


class Embedder(Protocol):
    """Texts in, unit vectors out. `name` is another one whenever the same text could get another vector."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def is_multilingual(self) -> bool:
        """Whether it reads other scripts than the Latin one. Vectors of what it cannot read would be noise."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 (texts, dimensions)."""
        ...


def embedded(embedder: Embedder, texts: Sequence[str]) -> tuple[Vector, ...]:
    """The vectors of texts, ready to be stored; empty ones of texts that it cannot read."""
    read = [place for place, text in enumerate(texts) if reads(embedder, text)]
    found = [Vector(embedder.name, b"", b"")] * len(texts)
    if read:
        vectors = np.ascontiguousarray(embedder.embed([texts[place] for place in read]), "<f4")
        for place, row, code in zip(read, vectors, codes_of(vectors), strict=True):
            found[place] = Vector(embedder.name, row.tobytes(), code)
    return tuple(found)


def reads(embedder: Embedder, text: str) -> bool:
    """Whether a text is in a script that the embedder knows, for the most part."""
    letters = [character for character in text if character.isalpha()]
    latin = sum(ord(character) < _BEYOND_LATIN for character in letters)
    return embedder.is_multilingual or latin * 2 >= len(letters)


def similarities(vectors: Sequence[bytes], question: bytes) -> list[float]:
    """The cosine of each stored vector with that of a question."""
    if not vectors:
        return []
    asked = np.frombuffer(question, "<f4")
    matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), len(asked))
    return [float(cosine) for cosine in matrix @ asked]
