"""Read the header of a GGUF file in Python, before native code sees it.

Knows the container, not what any tensor means. Every count, length and offset is compared with the size of the file,
because these files are downloaded and llama.cpp trusts them. Format: the GGUF specification, versions 2 and 3.
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from engine.errors import AdapterMismatch, BadModelFile, ModelMissing

_SCALARS: Final[dict[int, struct.Struct]] = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    4: struct.Struct("<I"),
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    7: struct.Struct("<?"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}
_STRING: Final = 8
_ARRAY: Final = 9
_MAX_DIMENSIONS: Final = 4


@dataclass(frozen=True, slots=True)
class TensorInfo:
    shape: tuple[int, ...]
    """ggml order: the contiguous dimension first."""
    type_name: str
    offset: int
    """Bytes from the start of the tensor data."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class GGUFHeader:
    """Metadata (scalars and strings; an array is given as its length) and tensors of one file."""

    path: Path
    version: int
    metadata: Mapping[str, Any]
    tensors: Mapping[str, TensorInfo]
    size_bytes: int
    header_bytes: int

    @property
    def architecture(self) -> str:
        return str(self.metadata.get("general.architecture", ""))


class _Reader:
    def __init__(self, data: mmap.mmap, size: int) -> None:
        self.data = data
        self.size = size
        self.position = 0

    def take(self, length: int) -> int:
        """Move on by `length` bytes and return where they begin."""
        start = self.position
        if length < 0 or start + length > self.size:
            raise ValueError(f"it ends early, at byte {self.size}")
        self.position = start + length
        return start

    def number(self, code: int) -> Any:
        scalar = _SCALARS[code]
        return scalar.unpack_from(self.data, self.take(scalar.size))[0]

    def string(self) -> str:
        length = self.number(10)
        start = self.take(length)
        return self.data[start : start + length].decode("utf-8", "replace")

    def skip_string(self) -> None:
        self.take(self.number(10))

    def value(self, code: int) -> Any:
        if code == _STRING:
            return self.string()
        if code == _ARRAY:
            return self._skip_array()
        if code not in _SCALARS:
            raise ValueError(f"it has a metadata value of unknown type {code}")
        return self.number(code)

    def _skip_array(self) -> int:
        code, count = self.number(4), self.number(10)
        if code in _SCALARS:
            self.take(_SCALARS[code].size * count)
        elif code == _STRING:
            if count * 8 > self.size - self.position:
                raise ValueError(f"it announces an array of {count} texts, more than it can hold")
            for _ in range(count):
                self.skip_string()
        else:
            raise ValueError(f"it has an array of unknown type {code}")
        return int(count)


def read_header(path: Path) -> GGUFHeader:
    """Read and check the header of `path`.

    Raises: ModelMissing, BadModelFile (with the reason).
    """
    if not path.is_file():
        raise ModelMissing(f"There is no model file at {path}.", "Check the path, or reinstall the model.")
    size = path.stat().st_size
    if size < 24:
        raise BadModelFile(f"{path.name} is not a GGUF file: it has only {size} bytes.", "Get the file again.")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:4] != b"GGUF":
            raise BadModelFile(
                f"{path.name} is not a GGUF file (it begins with {bytes(data[:4])!r}).",
                "Choose a .gguf file; other formats have to be converted first.",
            )
        try:
            return _parse(path, _Reader(data, size))
        except (ValueError, struct.error, OverflowError) as error:
            raise BadModelFile(
                f"{path.name} is damaged or not supported: {error}.", "Get the file again and compare its size."
            ) from error


def _parse(path: Path, reader: _Reader) -> GGUFHeader:
    reader.take(4)
    version = reader.number(4)
    if version not in (2, 3):
        raise ValueError(f"its GGUF version is {version}; 2 and 3 are supported")
    tensor_count, metadata_count = reader.number(10), reader.number(10)
    # The smallest possible entries are 13 bytes (metadata) and 24 bytes (tensor).
    if metadata_count * 13 > reader.size or tensor_count * 24 > reader.size:
        raise ValueError(f"it announces {tensor_count} tensors and {metadata_count} values, more than it can hold")
    metadata: dict[str, Any] = {}
    for _ in range(metadata_count):
        key = reader.string()
        metadata[key] = reader.value(reader.number(4))
    infos = [_tensor(reader) for _ in range(tensor_count)]
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        raise ValueError(f"its alignment is {alignment}")
    data_start = -(-reader.position // alignment) * alignment
    tensors: dict[str, TensorInfo] = {}
    for name, info in infos:
        if name in tensors:
            raise ValueError(f"it holds the tensor {name} twice")
        if info.offset % alignment or data_start + info.offset + info.size_bytes > reader.size:
            raise ValueError(f"the tensor {name} lies outside the file; the download may be incomplete")
        tensors[name] = info
    return GGUFHeader(path, version, metadata, tensors, reader.size, data_start)


def _tensor(reader: _Reader) -> tuple[str, TensorInfo]:
    name = reader.string()
    dimensions = reader.number(4)
    if not 1 <= dimensions <= _MAX_DIMENSIONS:
        raise ValueError(f"the tensor {name} has {dimensions} dimensions")
    shape = tuple(reader.number(10) for _ in range(dimensions))
    code, offset = reader.number(4), reader.number(10)
    try:
        tensor_type = GGMLQuantizationType(code)
    except ValueError as error:
        raise ValueError(f"the tensor {name} has unknown type {code}") from error
    block, block_bytes = GGML_QUANT_SIZES[tensor_type]
    count = 1
    for dimension in shape:
        count *= dimension
    if count <= 0 or shape[0] % block:
        raise ValueError(f"the tensor {name} has shape {list(shape)}, which {tensor_type.name} cannot have")
    return name, TensorInfo(shape, tensor_type.name, offset, count // block * block_bytes)


def check_base(header: GGUFHeader) -> None:
    """Raises: BadModelFile when the file holds no model that can be a base."""
    kind = header.metadata.get("general.type", "model")
    if kind != "model":
        raise BadModelFile(f"{header.path.name} is of the kind `{kind}`, not a base.", "Choose the base model's file.")
    if not header.architecture or not header.tensors:
        raise BadModelFile(f"{header.path.name} names no architecture or holds no tensors.", "Get the file again.")


def check_adapter(adapter: GGUFHeader, base: GGUFHeader) -> None:
    """Compare every LoRA pair with the base's tensor, expert counts included (llama.cpp does not check those).

    Raises: BadModelFile when it is no LoRA adapter, AdapterMismatch when it is one for another base.
    """
    kind = (adapter.metadata.get("general.type"), adapter.metadata.get("adapter.type"))
    if kind != ("adapter", "lora"):
        raise BadModelFile(f"{adapter.path.name} is not a LoRA adapter in GGUF format.", "Convert or choose another.")
    hint = "Use an adapter that was made for this base, or remove its file from the profile."
    if adapter.architecture != base.architecture:
        raise AdapterMismatch(
            f"{adapter.path.name} is for a {adapter.architecture} base, but {base.path.name} is {base.architecture}.",
            hint,
        )
    names = {name.rsplit(".lora_", 1)[0] for name in adapter.tensors if name.endswith((".lora_a", ".lora_b"))}
    if not names:
        raise BadModelFile(f"{adapter.path.name} holds no LoRA weights.", "Get the file again.")
    for name in sorted(names):
        pair = adapter.tensors.get(f"{name}.lora_a"), adapter.tensors.get(f"{name}.lora_b")
        problem = _pair_problem(base.tensors.get(name), *pair, is_lookup=name == "token_embd.weight")
        if problem:
            raise AdapterMismatch(f"{adapter.path.name} does not fit {base.path.name}: {name} {problem}.", hint)


def _pair_problem(base: TensorInfo | None, a: TensorInfo | None, b: TensorInfo | None, is_lookup: bool) -> str:
    if base is None:
        return "does not exist in the base"
    if a is None or b is None:
        return "has only one half of its LoRA pair"
    if min(len(base.shape), len(a.shape), len(b.shape)) < 2:
        return "is not a matrix"
    # A lookup table is read by row, so llama.cpp stores its pair transposed.
    rank_a, rank_b, shape = (
        (a.shape[0], b.shape[0], (b.shape[1], a.shape[1]))
        if is_lookup
        else (a.shape[1], b.shape[0], (a.shape[0], b.shape[1]))
    )
    if rank_a != rank_b:
        return f"has halves that do not belong together, {list(a.shape)} and {list(b.shape)}"
    if shape != base.shape[:2]:
        return f"is {shape[0]} by {shape[1]} in the adapter and {base.shape[0]} by {base.shape[1]} in the base"
    experts = {shape[2] if len(shape) > 2 else 1 for shape in (a.shape, b.shape, base.shape)}
    if len(experts) > 1:
        return f"has different numbers of experts: {sorted(experts)}"
    return ""
