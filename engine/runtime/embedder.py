"""Sentence vectors from a second, small model with a context of its own."""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from engine.errors import RuntimeFailed
from engine.runtime import binding
from engine.runtime.binding import lib
from engine.runtime.gguf import check_base, read_header
from engine.runtime.native import FloatArray

_MAX_TOKENS: Final = 512


class Embedder:
    """Texts longer than the model's input are embedded by their beginning."""

    def __init__(self, path: str, threads: int) -> None:
        log = binding.start()
        check_base(read_header(Path(path)))
        params: Any = lib.llama_model_default_params()
        self._model: Any = lib.llama_model_load_from_file(os.fsencode(path), params)
        if not self._model:
            raise RuntimeFailed(f"The embedder {Path(path).name} could not be loaded: {log.take()}", "Choose another.")
        self._vocab: Any = lib.llama_model_get_vocab(self._model)
        self._max_tokens = min(_MAX_TOKENS, int(lib.llama_model_n_ctx_train(self._model)))
        context_params: Any = lib.llama_context_default_params()
        context_params.n_ctx = context_params.n_batch = context_params.n_ubatch = self._max_tokens
        context_params.n_threads = context_params.n_threads_batch = threads
        context_params.embeddings = True
        self._context: Any = lib.llama_init_from_model(self._model, context_params)
        if not self._context:
            lib.llama_model_free(self._model)
            raise RuntimeFailed(f"There is no memory for the embedder: {log.take()}", "Close other programs.")
        self.dimensions = int(lib.llama_model_n_embd_out(self._model))

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """One unit vector per text: float32 (texts, dimensions)."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            vector = self._embed_one(text)
            vectors[row] = vector / max(float(np.linalg.norm(vector)), 1e-12)
        return vectors

    def close(self) -> None:
        lib.llama_free(self._context)
        lib.llama_model_free(self._model)

    def _embed_one(self, text: str) -> FloatArray:
        data = text.encode()
        room = len(data) + 8
        buffer = (ctypes.c_int32 * room)()
        count = lib.llama_tokenize(self._vocab, data, len(data), buffer, room, True, False)
        if count <= 0:
            raise RuntimeFailed("A text could not be tokenised for its embedding.", "Use a shorter text.")
        if count > self._max_tokens:
            buffer[self._max_tokens - 1] = buffer[count - 1]  # keep the closing token the model was trained with
            count = self._max_tokens
        memory = lib.llama_get_memory(self._context)
        if memory:
            lib.llama_memory_clear(memory, True)
        batch = lib.llama_batch_get_one(buffer, count)
        code = lib.llama_decode(self._context, batch)
        pointer: Any = lib.llama_get_embeddings_seq(self._context, 0) if code == 0 else None
        if not pointer:
            raise RuntimeFailed(f"The embedder could not compute ({code}).", "Try again, or choose another embedder.")
        return np.ctypeslib.as_array(pointer, shape=(self.dimensions,)).copy()
