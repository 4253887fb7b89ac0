"""Malformed model files, each named by what is wrong with it, made from a good base and a good adapter.

Nothing is kept: every file is written on demand, and the same each time. Knows the GGUF container and what llama.cpp
expects in it; not what our own checks say.
"""

import random
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

U8, I32, U32, F32, BOOL, TEXT, ARRAY, U64 = 0, 5, 4, 6, 7, 8, 9, 10
_FORMATS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

Kind = Literal["base", "adapter"]


def pack(code: int, value: Any) -> bytes:
    """A scalar or a text as it stands in a file, without its type code."""
    if code == TEXT:
        data = value if isinstance(value, bytes) else value.encode()
        return struct.pack("<Q", len(data)) + data
    return struct.pack(f"<{_FORMATS[code]}", value)


def value(code: int, content: Any) -> bytes:
    """A metadata value: type code and content; a list becomes an array."""
    if isinstance(content, list):
        return struct.pack("<IIQ", ARRAY, code, len(content)) + b"".join(pack(code, item) for item in content)
    return struct.pack("<I", code) + pack(code, content)


@dataclass
class Tensor:
    shape: list[int]
    """ggml order: the contiguous dimension first."""
    code: int
    data: bytes
    offset: int | None = None
    """Where it claims to be; where it is when None."""


@dataclass
class Parts:
    """A GGUF file taken apart, to be changed and put together again. Names are bytes, so that they can be wrong."""

    values: dict[bytes, bytes]
    tensors: dict[bytes, Tensor]
    version: int = 3
    alignment: int = 32
    repeated_values: list[tuple[bytes, bytes]] = field(default_factory=list)
    repeated_tensors: list[tuple[bytes, Tensor]] = field(default_factory=list)

    def set(self, key: str, code: int, content: Any) -> None:
        self.values[key.encode()] = value(code, content)

    def header(self) -> bytes:
        values = [*self.values.items(), *self.repeated_values]
        tensors = [*self.tensors.items(), *self.repeated_tensors]
        data = b"GGUF" + struct.pack("<IQQ", self.version, len(tensors), len(values))
        data += b"".join(pack(TEXT, key) + content for key, content in values)
        offset = 0
        for name, tensor in tensors:
            place = offset if tensor.offset is None else tensor.offset
            data += pack(TEXT, name) + struct.pack("<I", len(tensor.shape))
            data += b"".join(struct.pack("<Q", size) for size in tensor.shape)
            data += struct.pack("<IQ", tensor.code, place)
            offset += len(self._padded(tensor.data))
        return self._padded(data)

    def to_bytes(self) -> bytes:
        tensors = [*self.tensors.values(), *(tensor for _, tensor in self.repeated_tensors)]
        return self.header() + b"".join(self._padded(tensor.data) for tensor in tensors)

    def _padded(self, data: bytes) -> bytes:
        return data + bytes(-len(data) % self.alignment)


def take_apart(path: Path) -> Parts:
    """The parts of a good file with F32 tensors and the usual alignment."""
    data = path.read_bytes()
    version, tensor_count, value_count = struct.unpack_from("<IQQ", data, 4)
    position = 24

    def number(code: int) -> Any:
        nonlocal position
        (result,) = struct.unpack_from(f"<{_FORMATS[code]}", data, position)
        position += struct.calcsize(_FORMATS[code])
        return result

    def text() -> bytes:
        nonlocal position
        length = number(U64)
        position += length
        return data[position - length : position]

    def skip(code: int, count: int) -> None:
        nonlocal position
        if code != TEXT:
            position += struct.calcsize(_FORMATS[code]) * count
            return
        for _ in range(count):
            text()

    values: dict[bytes, bytes] = {}
    for _ in range(value_count):
        key, start = text(), position
        code = number(U32)
        if code == ARRAY:
            code, count = number(U32), number(U64)
            skip(code, count)
        else:
            skip(code, 1)
        values[key] = data[start:position]
    infos = []
    for _ in range(tensor_count):
        name = text()
        shape = [number(U64) for _ in range(number(U32))]
        infos.append((name, shape, number(U32), number(U64)))
    start = position + -position % 32
    tensors = {}
    for name, shape, code, offset in infos:
        assert code == 0, "F32"
        size = 4
        for dimension in shape:
            size *= dimension
        tensors[name] = Tensor(shape, code, data[start + offset : start + offset + size])
    return Parts(values, tensors, version)


@dataclass(frozen=True)
class Malformed:
    """One file of the corpus; `sparse_bytes` is the size it is stretched to, without taking any room."""

    name: str
    kind: Kind
    make: Callable[[], bytes]
    sparse_bytes: int = 0

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name.replace(' ', '-').replace('/', '-')}.gguf"
        with path.open("wb") as file:
            file.write(self.make())
            if self.sparse_bytes:
                file.truncate(self.sparse_bytes)
        return path


A: Final = "qwen35moe"
LOOKUP: Final = b"token_embd.weight"
NORM: Final = b"blk.0.attn_norm.weight"
MATRIX: Final = b"blk.0.attn_qkv.weight"
ARRAY_OF_TEXTS: Final = struct.pack("<II", ARRAY, TEXT)

Change = Callable[[Parts], object]
Patch = Callable[[bytes], bytes]


def _counts(tensors: int | None = None, values: int | None = None) -> Patch:
    def patched(data: bytes) -> bytes:
        old = struct.unpack_from("<QQ", data, 8)
        counts = (old[0] if tensors is None else tensors, old[1] if values is None else values)
        return data[:8] + struct.pack("<QQ", *counts) + data[24:]

    return patched


PATCHES: Final[Mapping[str, Patch]] = {
    "empty file": lambda data: b"",
    "only zeros": lambda data: bytes(4096),
    "wrong magic": lambda data: b"GGML" + data[4:],
    "another format": lambda data: b"PK\x03\x04" + data[4:],
    "version 1": lambda data: data[:4] + struct.pack("<I", 1) + data[8:],
    "version 99": lambda data: data[:4] + struct.pack("<I", 99) + data[8:],
    "big-endian": lambda data: data[:4] + struct.pack(">I", 3) + data[8:],
    "ends in the counts": lambda data: data[:20],
    "ends in the values": lambda data: data[:700],
    "ends in the tensor list": lambda data: data[: data.index(NORM) + 30 if NORM in data else len(data) // 200],
    "ends in the data": lambda data: data[: len(data) - 100],
    "half": lambda data: data[: len(data) // 2],
    "2^63 tensors": _counts(tensors=1 << 63),
    "2^32 tensors": _counts(tensors=1 << 32),
    "no tensors": _counts(tensors=0),
    "one tensor too many": lambda data: _counts(tensors=struct.unpack_from("<Q", data, 8)[0] + 1)(data),
    "2^63 values": _counts(values=1 << 63),
    "one value too many": lambda data: _counts(values=struct.unpack_from("<Q", data, 16)[0] + 1)(data),
    "one value too few": lambda data: _counts(values=struct.unpack_from("<Q", data, 16)[0] - 1)(data),
    "key of 2^62 bytes": lambda data: data[:24] + struct.pack("<Q", 1 << 62) + data[32:],
    "key of 2^64-1 bytes": lambda data: data[:24] + b"\xff" * 8 + data[32:],
}
"""Damage to bytes, of any file."""


def _rename(parts: Parts, old: bytes, new: bytes) -> None:
    parts.tensors = {new if name == old else name: tensor for name, tensor in parts.tensors.items()}


def _value(parts: Parts, raw: bytes) -> None:
    parts.values[b"general.odd"] = raw


def _shape(name: bytes, *shape: int) -> Change:
    """Give the tensor another shape, with data of that size unless that would be too much."""

    def changed(parts: Parts) -> None:
        size = 4
        for dimension in shape:
            size *= dimension
        tensor = parts.tensors[name]
        parts.tensors[name] = Tensor(list(shape), tensor.code, (tensor.data * 4)[:size])

    return changed


def _type(name: bytes, code: int, bytes_per_block: int, block: int = 1) -> Change:
    def changed(parts: Parts) -> None:
        tensor = parts.tensors[name]
        blocks = len(tensor.data) // 4 // block
        parts.tensors[name] = Tensor(tensor.shape, code, bytes(blocks * bytes_per_block))

    return changed


def _claim(name: bytes, offset: int) -> Change:
    def changed(parts: Parts) -> None:
        parts.tensors[name].offset = offset

    return changed


CONTAINER_CHANGES: Final[Mapping[str, Change]] = {
    "text of 2^40 bytes": lambda parts: _value(parts, struct.pack("<IQ", TEXT, 1 << 40)),
    "2^60 numbers": lambda parts: _value(parts, struct.pack("<IIQ", ARRAY, U64, 1 << 60)),
    "2^40 texts": lambda parts: _value(parts, ARRAY_OF_TEXTS + struct.pack("<Q", 1 << 40)),
    "array of arrays": lambda parts: _value(parts, struct.pack("<IIQIIQ", ARRAY, ARRAY, 1, ARRAY, ARRAY, 1)),
    "arrays without end": lambda parts: _value(parts, struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 5000),
    "value of unknown type": lambda parts: _value(parts, struct.pack("<II", 77, 0)),
    "array of unknown type": lambda parts: _value(parts, struct.pack("<IIQ", ARRAY, 77, 0)),
    "key that is no text": lambda parts: parts.values.update({b"general.\xff\xfe": value(U32, 1)}),
    "empty key": lambda parts: parts.values.update({b"": value(U32, 1)}),
    "key of 70,000 bytes": lambda parts: parts.values.update({b"k" * 70_000: value(U32, 1)}),
    "value twice": lambda parts: parts.repeated_values.append((b"general.architecture", value(TEXT, "llama"))),
    "alignment 0": lambda parts: parts.set("general.alignment", U32, 0),
    "alignment 3": lambda parts: parts.set("general.alignment", U32, 3),
    "alignment 2^31": lambda parts: parts.set("general.alignment", U32, 1 << 31),
    "alignment as text": lambda parts: parts.set("general.alignment", TEXT, "32"),
    "alignment of 64 bits": lambda parts: parts.set("general.alignment", U64, 32),
    "architecture missing": lambda parts: parts.values.pop(b"general.architecture"),
    "architecture as number": lambda parts: parts.set("general.architecture", U32, 1),
    "architecture unknown": lambda parts: parts.set("general.architecture", TEXT, "qwen99moe"),
}
"""Damage to the container, of any file."""

BASE_CHANGES: Final[Mapping[str, Change]] = {
    "tensor twice": lambda parts: parts.repeated_tensors.append((NORM, parts.tensors[NORM])),
    "tensor name of 64 bytes": lambda parts: _rename(parts, NORM, b"n" * 64),
    "tensor name of 1 MB": lambda parts: _rename(parts, NORM, b"n" * 1_000_000),
    "tensor name that is no text": lambda parts: _rename(parts, NORM, b"\xff\xfe"),
    "tensor without name": lambda parts: _rename(parts, NORM, b""),
    "no dimensions": _shape(NORM),
    "five dimensions": _shape(NORM, 64, 1, 1, 1, 1),
    "dimension of zero": _shape(NORM, 0),
    "dimensions that overflow": lambda parts: setattr(parts.tensors[MATRIX], "shape", [1 << 32, 1 << 32]),
    "dimension of 2^64-1": lambda parts: setattr(parts.tensors[NORM], "shape", [(1 << 64) - 1]),
    "tensor of unknown type": lambda parts: setattr(parts.tensors[NORM], "code", 200),
    "tensor of a removed type": lambda parts: setattr(parts.tensors[NORM], "code", 4),
    "block that does not fit the row": _type(b"blk.0.ssm_conv1d.weight", 8, 34, 32),
    "offset past the end": _claim(NORM, 1 << 40),
    "offset of 2^64-32": _claim(NORM, (1 << 64) - 32),
    "offset between two bounds": _claim(NORM, 262_145),
    "tensors that overlap": _claim(NORM, 0),
    "tensors in another order": lambda parts: _swap(parts, b"output.weight", LOOKUP),
    "a hole between tensors": lambda parts: setattr(parts.tensors[NORM], "data", bytes(64)),
    "kind is projector": lambda parts: parts.set("general.type", TEXT, "mmproj"),
    "kind is a number": lambda parts: parts.set("general.type", U32, 1),
    "part of a split model": lambda parts: parts.set("split.count", 2, 3),
    "split count as text": lambda parts: parts.set("split.count", TEXT, "3"),
    "blocks missing": lambda parts: parts.values.pop(b"qwen35moe.block_count"),
    "no blocks": lambda parts: parts.set(f"{A}.block_count", U32, 0),
    "513 blocks": lambda parts: parts.set(f"{A}.block_count", U32, 513),
    "2^31 blocks": lambda parts: parts.set(f"{A}.block_count", U32, 1 << 31),
    "one block too many": lambda parts: parts.set(f"{A}.block_count", U32, 5),
    "one block too few": lambda parts: parts.set(f"{A}.block_count", U32, 3),
    "blocks as text": lambda parts: parts.set(f"{A}.block_count", TEXT, "4"),
    "blocks as float": lambda parts: parts.set(f"{A}.block_count", F32, 4.0),
    "width 0": lambda parts: parts.set(f"{A}.embedding_length", U32, 0),
    "width 65": lambda parts: parts.set(f"{A}.embedding_length", U32, 65),
    "width 2^32-1": lambda parts: parts.set(f"{A}.embedding_length", U32, (1 << 32) - 1),
    "context 0": lambda parts: parts.set(f"{A}.context_length", U32, 0),
    "context 2^32-1": lambda parts: parts.set(f"{A}.context_length", U32, (1 << 32) - 1),
    "no heads": lambda parts: parts.set(f"{A}.attention.head_count", U32, 0),
    "3 heads": lambda parts: parts.set(f"{A}.attention.head_count", U32, 3),
    "2^31 heads": lambda parts: parts.set(f"{A}.attention.head_count", U32, 1 << 31),
    "heads per block, too few": lambda parts: parts.set(f"{A}.attention.head_count", U32, [4, 4]),
    "heads per block, all zero": lambda parts: parts.set(f"{A}.attention.head_count", U32, [0, 0, 0, 0]),
    "no key heads": lambda parts: parts.set(f"{A}.attention.head_count_kv", U32, 0),
    "3 key heads": lambda parts: parts.set(f"{A}.attention.head_count_kv", U32, 3),
    "more key heads than heads": lambda parts: parts.set(f"{A}.attention.head_count_kv", U32, 8),
    "key length 0": lambda parts: parts.set(f"{A}.attention.key_length", U32, 0),
    "key length 33": lambda parts: parts.set(f"{A}.attention.key_length", U32, 33),
    "value length 0": lambda parts: parts.set(f"{A}.attention.value_length", U32, 0),
    "2,000 experts": lambda parts: parts.set(f"{A}.expert_count", U32, 2000),
    "4 experts instead of 8": lambda parts: parts.set(f"{A}.expert_count", U32, 4),
    "no experts but some used": lambda parts: parts.set(f"{A}.expert_count", U32, 0),
    "no expert used": lambda parts: parts.set(f"{A}.expert_used_count", U32, 0),
    "9 of 8 experts used": lambda parts: parts.set(f"{A}.expert_used_count", U32, 9),
    "as many expert groups as experts": lambda parts: parts.set(f"{A}.expert_group_count", U32, 8),
    "3 expert groups": lambda parts: parts.set(f"{A}.expert_group_count", U32, 3),
    "expert width 0": lambda parts: parts.set(f"{A}.expert_feed_forward_length", U32, 0),
    "convolution of 0": lambda parts: parts.set(f"{A}.ssm.conv_kernel", U32, 0),
    "state size 0": lambda parts: parts.set(f"{A}.ssm.state_size", U32, 0),
    "no state groups": lambda parts: parts.set(f"{A}.ssm.group_count", U32, 0),
    "no time steps": lambda parts: parts.set(f"{A}.ssm.time_step_rank", U32, 0),
    "inner size 0": lambda parts: parts.set(f"{A}.ssm.inner_size", U32, 0),
    "inner size 2^31": lambda parts: parts.set(f"{A}.ssm.inner_size", U32, 1 << 31),
    "attention in every 0th block": lambda parts: (
        parts.values.pop(b"qwen35moe.attention.recurrent_layers"),
        parts.set(f"{A}.full_attention_interval", U32, 0),
    ),
    "recurrent blocks: too few": lambda parts: parts.set(f"{A}.attention.recurrent_layers", BOOL, [True]),
    "recurrent blocks: the other ones": lambda parts: parts.set(
        f"{A}.attention.recurrent_layers", BOOL, [False, False, False, True]
    ),
    "rope of 0": lambda parts: parts.set(f"{A}.rope.dimension_count", U32, 0),
    "rope of 7": lambda parts: parts.set(f"{A}.rope.dimension_count", U32, 7),
    "rope of 1,000": lambda parts: parts.set(f"{A}.rope.dimension_count", U32, 1000),
    "rope sections: one": lambda parts: parts.set(f"{A}.rope.dimension_sections", I32, [1]),
    "rope sections: none of anything": lambda parts: parts.set(f"{A}.rope.dimension_sections", I32, [0, 0, 0, 0]),
    "rope sections below zero": lambda parts: parts.set(f"{A}.rope.dimension_sections", I32, [-1, -1, -1, -1]),
    "rope base NaN": lambda parts: parts.set(f"{A}.rope.freq_base", F32, float("nan")),
    "rope scaling unknown": lambda parts: parts.set(f"{A}.rope.scaling.type", TEXT, "spiral"),
    "norm epsilon NaN": lambda parts: parts.set(f"{A}.attention.layer_norm_rms_epsilon", F32, float("nan")),
    "norm epsilon below zero": lambda parts: parts.set(f"{A}.attention.layer_norm_rms_epsilon", F32, -1.0),
    "9 blocks for drafts": lambda parts: parts.set(f"{A}.nextn_predict_layers", U32, 9),
    "1 block for drafts": lambda parts: parts.set(f"{A}.nextn_predict_layers", U32, 1),
    "vocabulary missing": lambda parts: parts.values.pop(b"tokenizer.ggml.tokens"),
    "vocabulary of numbers": lambda parts: parts.set("tokenizer.ggml.tokens", U32, list(range(512))),
    "vocabulary empty": lambda parts: parts.set("tokenizer.ggml.tokens", TEXT, []),
    "vocabulary of 511": lambda parts: parts.set("tokenizer.ggml.tokens", TEXT, [f"t{n}" for n in range(511)]),
    "vocabulary of 513": lambda parts: parts.set("tokenizer.ggml.tokens", TEXT, [f"t{n}" for n in range(513)]),
    "a token twice": lambda parts: parts.set("tokenizer.ggml.tokens", TEXT, ["twice", "twice", *map(str, range(510))]),
    "all tokens empty": lambda parts: parts.set("tokenizer.ggml.tokens", TEXT, [""] * 512),
    "tokens that are no text": lambda parts: parts.set(
        "tokenizer.ggml.tokens", TEXT, [b"\xff" + bytes([n % 256, n // 256]) for n in range(512)]
    ),
    "one token of 1 MB": lambda parts: parts.set(
        "tokenizer.ggml.tokens", TEXT, ["a" * 1_000_000, *map(str, range(511))]
    ),
    "token types too few": lambda parts: parts.set("tokenizer.ggml.token_type", I32, [1] * 500),
    "token types as floats": lambda parts: parts.set("tokenizer.ggml.token_type", F32, [1.0] * 512),
    "token types of one byte": lambda parts: parts.set("tokenizer.ggml.token_type", U8, [1] * 512),
    "token types unknown": lambda parts: parts.set("tokenizer.ggml.token_type", I32, [-99] * 512),
    "all tokens are bytes": lambda parts: parts.set("tokenizer.ggml.token_type", I32, [6] * 512),
    "scores too few": lambda parts: parts.set("tokenizer.ggml.scores", F32, [0.0] * 10),
    "scores as texts": lambda parts: parts.set("tokenizer.ggml.scores", TEXT, ["0"] * 512),
    "merges missing": lambda parts: parts.values.pop(b"tokenizer.ggml.merges"),
    "merges as numbers": lambda parts: parts.set("tokenizer.ggml.merges", U32, [1] * 119),
    "merges empty": lambda parts: parts.set("tokenizer.ggml.merges", TEXT, [""] * 119),
    "merges of unknown tokens": lambda parts: parts.set("tokenizer.ggml.merges", TEXT, ["\u4e00 \u4e8c", "  ", "a"]),
    "end token out of range": lambda parts: parts.set("tokenizer.ggml.eos_token_id", U32, 100_000),
    "end token 2^32-1": lambda parts: parts.set("tokenizer.ggml.eos_token_id", U32, (1 << 32) - 1),
    "end token as text": lambda parts: parts.set("tokenizer.ggml.eos_token_id", TEXT, "2"),
    "start token out of range": lambda parts: parts.set("tokenizer.ggml.bos_token_id", U32, 512),
    "tokenizer missing": lambda parts: parts.values.pop(b"tokenizer.ggml.model"),
    "tokenizer unknown": lambda parts: parts.set("tokenizer.ggml.model", TEXT, "oracle"),
    "tokenizer as number": lambda parts: parts.set("tokenizer.ggml.model", U32, 1),
    "tokenizer needs byte tokens": lambda parts: parts.set("tokenizer.ggml.model", TEXT, "llama"),
    "tokenizer of another kind, t5": lambda parts: parts.set("tokenizer.ggml.model", TEXT, "t5"),
    "tokenizer of another kind, bert": lambda parts: parts.set("tokenizer.ggml.model", TEXT, "bert"),
    "tokenizer of another kind, rwkv": lambda parts: parts.set("tokenizer.ggml.model", TEXT, "rwkv"),
    "no vocabulary at all": lambda parts: parts.set("tokenizer.ggml.model", TEXT, "no_vocab"),
    "pre-tokenizer unknown": lambda parts: parts.set("tokenizer.ggml.pre", TEXT, "oracle"),
    "token table missing": lambda parts: parts.tensors.pop(LOOKUP),
    "last norm missing": lambda parts: parts.tensors.pop(b"output_norm.weight"),
    "experts missing": lambda parts: parts.tensors.pop(b"blk.2.ffn_up_exps.weight"),
    "a tensor nobody knows": lambda parts: parts.tensors.update({b"blk.0.secret.weight": Tensor([4], 0, bytes(16))}),
    "token table with too few rows": _shape(LOOKUP, 64, 500),
    "token table transposed": _shape(LOOKUP, 512, 64),
    "token table with one dimension": _shape(LOOKUP, 64 * 512),
    "matrix with too few rows": _shape(MATRIX, 64, 128),
    "matrix with a third dimension": _shape(MATRIX, 64, 128, 2),
    "norm of another length": _shape(NORM, 32),
    "experts without their dimension": _shape(b"blk.0.ffn_up_exps.weight", 64, 256),
    "output of another width": _shape(b"output.weight", 32, 512),
    "matrix of 32-bit integers": _type(MATRIX, 26, 4),
    "matrix of bytes": _type(MATRIX, 24, 1),
    "matrix of doubles": _type(MATRIX, 28, 8),
    "matrix of the inner type Q8_1": _type(MATRIX, 9, 36, 32),
    "norm of halves": _type(NORM, 1, 2),
    "norm of 32-bit integers": _type(NORM, 26, 4),
    "token table of 32-bit integers": _type(LOOKUP, 26, 4),
    "convolution of halves": _type(b"blk.0.ssm_conv1d.weight", 1, 2),
    "router of halves": _type(b"blk.0.ffn_gate_inp.weight", 1, 2),
    "experts of 32-bit integers": _type(b"blk.0.ffn_up_exps.weight", 26, 4),
    "experts all NaN": lambda parts: _fill(parts, b"blk.0.ffn_gate_inp.weight", float("nan")),
    "weights all NaN": lambda parts: [_fill(parts, name, float("nan")) for name in parts.tensors],
    "weights all infinite": lambda parts: [_fill(parts, name, float("inf")) for name in parts.tensors],
}
"""Damage to what a base says about itself."""


def _swap(parts: Parts, left: bytes, right: bytes) -> None:
    a, b = parts.tensors[left], parts.tensors[right]
    a.offset, b.offset = len(a.data), 0


def _fill(parts: Parts, name: bytes, number: float) -> None:
    tensor = parts.tensors[name]
    tensor.data = struct.pack("<f", number) * (len(tensor.data) // 4)


ALPHA: Final = "adapter.lora.alpha"
HALF_A: Final = b"blk.0.attn_qkv.weight.lora_a"
HALF_B: Final = b"blk.0.attn_qkv.weight.lora_b"
EXPERTS_A: Final = b"blk.0.ffn_up_exps.weight.lora_a"

ADAPTER_CHANGES: Final[Mapping[str, Change]] = {
    "alpha missing": lambda parts: parts.values.pop(b"adapter.lora.alpha"),
    "alpha NaN": lambda parts: parts.set(ALPHA, F32, float("nan")),
    "alpha infinite": lambda parts: parts.set(ALPHA, F32, float("inf")),
    "alpha 3e38": lambda parts: parts.set(ALPHA, F32, 3e38),
    "alpha as whole number": lambda parts: parts.set(ALPHA, U32, 16),
    "alpha as text": lambda parts: parts.set(ALPHA, TEXT, "16"),
    "kind missing": lambda parts: parts.values.pop(b"general.type"),
    "kind of adapter as number": lambda parts: parts.set("adapter.type", U32, 1),
    "kind of adapter unknown": lambda parts: parts.set("adapter.type", TEXT, "dora"),
    "for another base": lambda parts: parts.set("general.architecture", TEXT, "llama"),
    "half a pair": lambda parts: parts.tensors.pop(HALF_B),
    "other half of a pair": lambda parts: parts.tensors.pop(HALF_A),
    "no pairs": lambda parts: parts.tensors.clear(),
    "pair of an unknown tensor": lambda parts: [
        _rename(parts, half, half.replace(b"blk.0", b"blk.9")) for half in (HALF_A, HALF_B)
    ],
    "ranks that differ": _shape(HALF_A, 64, 4),
    "rank 0": lambda parts: [_shape(HALF_A, 64, 0)(parts), _shape(HALF_B, 0, 256)(parts)],
    "width of another base": _shape(HALF_A, 32, 8),
    "experts that differ": _shape(EXPERTS_A, 64, 8, 4),
    "experts as a fourth dimension": _shape(EXPERTS_A, 64, 8, 1, 8),
    "half with four dimensions": _shape(HALF_A, 64, 8, 1, 2),
    "pair for a norm": lambda parts: parts.tensors.update(
        {NORM + b".lora_a": Tensor([64, 1], 0, bytes(256)), NORM + b".lora_b": Tensor([1, 1], 0, bytes(4))}
    ),
    "a tensor that is no half": lambda parts: parts.tensors.update({b"blk.0.bias": Tensor([4], 0, bytes(16))}),
    "halves of 32-bit integers": lambda parts: [_type(half, 26, 4)(parts) for half in (HALF_A, HALF_B)],
    "half of bytes": _type(HALF_A, 24, 1),
    "half of the inner type Q8_1": _type(HALF_A, 9, 36, 32),
    "half of doubles": _type(HALF_A, 28, 8),
    "experts of halves": _type(EXPERTS_A, 1, 2),
    "weights all NaN": lambda parts: [_fill(parts, name, float("nan")) for name in parts.tensors],
    "weights all infinite": lambda parts: [_fill(parts, name, float("inf")) for name in parts.tensors],
    "invocation tokens out of range": lambda parts: parts.set("adapter.alora.invocation_tokens", U32, [1 << 31] * 4),
    "tensor twice": lambda parts: parts.repeated_tensors.append((HALF_A, parts.tensors[HALF_A])),
    "offset past the end": _claim(HALF_A, 1 << 40),
}
"""Damage to what an adapter says about itself."""


def corpus(base: Path, adapter: Path) -> Iterator[Malformed]:
    """Every malformed file. base, adapter: good files of the tiny MoE, which the names above belong to."""
    for kind, path in (("base", base), ("adapter", adapter)):
        original = path.read_bytes()
        for name, patch in PATCHES.items():
            yield Malformed(f"{kind} {name}", kind, _patched(patch, original))
        changes = {**CONTAINER_CHANGES, **(BASE_CHANGES if kind == "base" else ADAPTER_CHANGES)}
        for name, change in changes.items():
            yield Malformed(f"{kind} {name}", kind, _changed(change, path))
        yield Malformed(f"{kind} zeros of 1 TB", kind, lambda: b"", 1 << 40)
        yield Malformed(f"{kind} stretched to 1 TB", kind, _patched(lambda data: data, original), 1 << 40)


def _patched(patch: Patch, original: bytes) -> Callable[[], bytes]:
    return lambda: patch(original)


def _changed(change: Change, path: Path) -> Callable[[], bytes]:
    def make() -> bytes:
        parts = take_apart(path)
        change(parts)
        return parts.to_bytes()

    return make


def mutation(original: bytes, header_bytes: int, source: random.Random) -> bytes:
    """A file with random damage: flipped bytes or whole fields of the header, a cut, or blocks that changed places."""
    data = bytearray(original)
    match source.choice(("flip", "flip", "flip", "field", "field", "cut", "swap", "data")):
        case "flip":
            for _ in range(source.randint(1, 4)):
                data[source.randrange(4, header_bytes)] ^= 1 << source.randrange(8)
        case "field":
            at = source.randrange(2, header_bytes // 4 - 2) * 4
            data[at : at + 4] = struct.pack("<I", source.choice((0, 1, 7, 255, 1 << 16, (1 << 31) - 1, (1 << 32) - 1)))
        case "cut":
            del data[source.randrange(len(data)) :]
        case "swap":
            size = source.choice((4, 16, 64))
            left, right = source.randrange(4, header_bytes - size), source.randrange(4, header_bytes - size)
            data[left : left + size], data[right : right + size] = data[right : right + size], data[left : left + size]
        case "data":
            for _ in range(200):
                data[source.randrange(header_bytes, len(data))] = source.randrange(256)
    return bytes(data)
