"""The embedder of memories that runs in the engine. Reads its file's header; runs nothing before it is asked to."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from engine.errors import BadModelFile
from engine.memory.codes import Vectors
from engine.runtime.gguf_header import TOKENS_KEY, GGUFHeader, read_header

_LARGE_VOCABULARY: Final = 100_000
"""Embedders that were trained on many languages have vocabularies beyond this; those of English alone have 30,000."""


class RuntimeEmbedder:
    """See `engine.memory.embedding.Embedder`."""

    def __init__(
        self, file: Path, embed: Callable[[Sequence[str]], Vectors], *, is_multilingual: bool | None = None
    ) -> None:
        """`embed` is the runtime's, which was loaded with this file, or will be; it raises RuntimeFailed until then.

        is_multilingual: None to tell by the size of its vocabulary.

        Raises: ModelMissing; BadModelFile for a file that is no embedder.
        """
        header = read_header(file)
        self._embed = embed
        self.name = f"{file.stem}-{header.size_bytes}"
        self.dimensions = _dimensions(header)
        self.is_multilingual = _vocabulary(header) > _LARGE_VOCABULARY

    def embed(self, texts: Sequence[str]) -> Vectors:
        return cast(Vectors, np.asarray(self._embed(texts), np.float32))


def _dimensions(header: GGUFHeader) -> int:
    found: Any = header.metadata.get(f"{header.architecture}.embedding_length")
    if not isinstance(found, int) or found < 1:
        raise BadModelFile(f"{header.path.name} names no length of its vectors.", "Choose a GGUF file of an embedder.")
    return found


def _vocabulary(header: GGUFHeader) -> int:
    tokens: Any = header.metadata.get(TOKENS_KEY)
    return getattr(tokens, "count", 0)
