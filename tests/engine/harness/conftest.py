"""Real vocabularies, without weights: the starter's own, and the same with tool and thought tokens as Qwen has them."""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import pytest

from engine.runtime.binding import lib, start
from engine.runtime.protocol import Tokens

USER_DEFINED = {3: "<think>", 4: "</think>", 5: "<tool_call>", 6: "</tool_call>"}
"""Tokens that llama.cpp reads wherever they stand, put in place of some that the starter does not use."""


@dataclass
class Vocabulary:
    """An `Encoder` on a GGUF of which only the vocabulary is loaded."""

    path: Path
    markup: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        start()
        params: Any = lib.llama_model_default_params()
        params.vocab_only = True
        self._model = lib.llama_model_load_from_file(str(self.path).encode(), params)
        self._vocab: Any = lib.llama_model_get_vocab(self._model)
        wanted = lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_USER_DEFINED
        for token in range(lib.llama_vocab_n_tokens(self._vocab)):
            if lib.llama_vocab_get_attr(self._vocab, token) & wanted:
                self.markup[lib.llama_vocab_get_text(self._vocab, token).decode()] = token

    def tokenize(self, text: str, *, parse_special: bool) -> Tokens:
        data = text.encode()
        buffer = (ctypes.c_int32 * (len(data) + 8))()
        count = lib.llama_tokenize(self._vocab, data, len(data), buffer, len(buffer), False, parse_special)
        assert count >= 0
        return tuple(buffer[:count])

    def encode(self, text: str) -> Tokens:
        return self.tokenize(text, parse_special=False)

    def decode(self, tokens: Sequence[int]) -> str:
        buffer = ctypes.create_string_buffer(256)
        pieces = []
        for token in tokens:
            count = lib.llama_token_to_piece(self._vocab, token, buffer, 256, 0, True)
            pieces.append(buffer.raw[:count])
        return b"".join(pieces).decode()

    def close(self) -> None:
        lib.llama_model_free(self._model)


@pytest.fixture(scope="session")
def starter_vocabulary(starter_base: Path) -> Iterator[Vocabulary]:
    vocabulary = Vocabulary(starter_base)
    yield vocabulary
    vocabulary.close()


@pytest.fixture(scope="session")
def tool_vocabulary(starter_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vocabulary]:
    path = tmp_path_factory.mktemp("vocabulary") / "user-defined.gguf"
    _write_vocabulary(starter_base, path)
    vocabulary = Vocabulary(path)
    yield vocabulary
    vocabulary.close()


def _write_vocabulary(source: Path, target: Path) -> None:
    fields = gguf.GGUFReader(source).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    for token, text in USER_DEFINED.items():
        tokens[token], types[token] = text, int(gguf.TokenType.USER_DEFINED)
    writer = gguf.GGUFWriter(target, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(fields["tokenizer.ggml.merges"].contents())
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
