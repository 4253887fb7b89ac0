"""Read the header of a GGUF file in Python, before native code sees it.

Knows the container, not what any value or tensor means. Every count, length and offset is compared with the size of the
file and with a limit of its own, because these files are downloaded and native code trusts them. The file is read, not
mapped: one that is cut short meanwhile must not end this process. Format: the GGUF specification, versions 2 and 3.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFValueType

from engine.errors import BadModelFile, ModelMissing

TOKENS_KEY: Final = "tokenizer.ggml.tokens"

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
_FIRST_READ_BYTES: Final = 1 << 20
_GROWTH: Final = 16
"""How many times more is read when that was not the whole header; reading starts again then."""
_MAX_HEADER_BYTES: Final = 128 << 20
"""A vocabulary of 250,000 tokens with its merges takes about 12 MiB."""
_MAX_TEXTS: Final = 1 << 22
_MAX_ENTRIES: Final = 1 << 16
"""Of metadata values, and of tensors; the largest models have a few thousand."""
_MAX_KEY_BYTES: Final = (1 << 16) - 1
_MAX_NAME_BYTES: Final = 63
"""ggml keeps tensor names in 64 bytes."""
_MAX_REST_BYTES: Final = 1 << 20
"""What may follow the last tensor."""
_MAX_ELEMENTS: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """An array of the metadata, without its content."""

    type_name: str
    count: int
    distinct: int | None = None
    """How many different texts there are; counted for the vocabulary only. Empty ones count as different."""


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
    """Metadata (scalars, texts, and arrays as `ArrayInfo`) and tensors of one file."""

    path: Path
    version: int
    metadata: Mapping[str, Any]
    types: Mapping[str, str]
    """Type name of every metadata value, such as "UINT32"."""
    tensors: Mapping[str, TensorInfo]
    size_bytes: int
    header_bytes: int

    @property
    def architecture(self) -> str:
        name = self.metadata.get("general.architecture")
        return name if isinstance(name, str) else ""


class _Short(Exception):
    """The header goes on beyond what was read of the file so far."""


def read_header(path: Path) -> GGUFHeader:
    """Read and check the header of `path`.

    Raises: ModelMissing, BadModelFile (with the reason and the place).
    """
    if not path.is_file():
        raise ModelMissing(f"There is no model file at {path}.", "Check the path, or reinstall the model.")
    try:
        return _read(path)
    except OSError as error:
        raise BadModelFile(
            f"{path.name} cannot be read: {error.strerror}.", "Check the permissions of the file and its disk."
        ) from error
    except (ValueError, struct.error, OverflowError) as error:
        raise BadModelFile(
            f"{path.name} is damaged or not supported: {error}.", "Get the file again and compare its size."
        ) from error


def _read(path: Path) -> GGUFHeader:
    size = path.stat().st_size
    if size < 24:
        raise BadModelFile(f"{path.name} is not a GGUF file: it has only {size} bytes.", "Get the file again.")
    limit = min(size, _MAX_HEADER_BYTES)
    with path.open("rb") as file:
        data = file.read(min(limit, _FIRST_READ_BYTES))
        _check_magic(path, data)
        while True:
            try:
                return _parse(path, _Reader(data, size))
            except _Short:
                if len(data) >= limit:
                    raise ValueError(f"its header is longer than {_MAX_HEADER_BYTES} bytes") from None
            more = file.read(min(limit, _GROWTH * len(data)) - len(data))
            if not more:
                raise ValueError(f"it ends early, at byte {len(data)}")
            data += more


def _check_magic(path: Path, data: bytes) -> None:
    if data[:4] != b"GGUF":
        raise BadModelFile(
            f"{path.name} is not a GGUF file (it begins with {data[:4]!r}).",
            "Choose a .gguf file; other formats have to be converted first.",
        )
    if int.from_bytes(data[4:8], "little") & 0xFFFF == 0:
        raise BadModelFile(
            f"{path.name} is a big-endian GGUF file; only little-endian ones are supported.",
            "Get the little-endian file of this model, or convert it with `gguf-convert-endian`.",
        )


class _Reader:
    """A position in the beginning of a file of `size` bytes. Raises ValueError where the file cannot be right."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data = data
        self.size = size
        self.position = 0

    def take(self, length: int) -> int:
        """Move on by `length` bytes and return where they begin."""
        start = self.position
        if start + length > len(self.data):
            raise self._end(start + length)
        self.position = start + length
        return start

    def _end(self, wanted: int) -> Exception:
        return ValueError(f"it ends early, at byte {self.size}") if wanted > self.size else _Short()

    def number(self, code: int) -> Any:
        scalar = _SCALARS[code]
        return scalar.unpack_from(self.data, self.take(scalar.size))[0]

    def raw_text(self) -> bytes:
        length = self.number(10)
        start = self.take(length)
        return self.data[start : start + length]

    def name(self, what: str, limit: int) -> str:
        """A text that names something: not empty, at most `limit` bytes of valid UTF-8."""
        at = self.position
        length = self.number(10)
        if not 0 < length <= limit:
            raise ValueError(f"{what} at byte {at} has a name of {length} bytes; 1 to {limit} are possible")
        start = self.take(length)
        try:
            return self.data[start : start + length].decode()
        except UnicodeDecodeError:
            raise ValueError(f"{what} at byte {at} has a name that is no valid text") from None

    def value(self, key: str, code: int) -> Any:
        if code == _STRING:
            return self.raw_text().decode("utf-8", "replace")
        if code == _ARRAY:
            return self._array(key)
        if code not in _SCALARS:
            raise ValueError(f"the value {key} has unknown type {code}")
        return self.number(code)

    def _array(self, key: str) -> ArrayInfo:
        code, count = self.number(4), self.number(10)
        if code == _ARRAY:
            raise ValueError(f"the value {key} is an array of arrays, which is not supported")
        if code == _STRING:
            return ArrayInfo("STRING", count, self._texts(key, count))
        if code not in _SCALARS:
            raise ValueError(f"the array {key} has unknown type {code}")
        if _SCALARS[code].size * count > self.size - self.position:
            raise ValueError(f"the array {key} announces {count} values, more than the file can hold")
        self.take(_SCALARS[code].size * count)
        return ArrayInfo(GGUFValueType(code).name, count)

    def _texts(self, key: str, count: int) -> int | None:
        """Pass over `count` texts; how many different ones they are where that is wanted. Written for speed."""
        if count > _MAX_TEXTS or count * 8 > self.size - self.position:
            raise ValueError(f"the array {key} announces {count} texts, more than it can hold")
        data, position, known = self.data, self.position, len(self.data)
        wanted = key == TOKENS_KEY
        texts: set[bytes] = set()
        empty = 0
        length_at = _SCALARS[10].unpack_from
        for _ in range(count):
            if position + 8 > known:
                raise self._end(position + 8)
            (length,) = length_at(data, position)
            position += 8 + length
            if position > known:
                raise self._end(position)
            if wanted:
                texts.add(data[position - length : position])
                empty += not length
        self.position = position
        if b"\0" in b"".join(texts):
            # llama.cpp reads texts up to their first zero byte.
            texts = {text.split(b"\0", 1)[0] for text in texts}
        return len(texts) + max(0, empty - 1) if wanted else None


def _parse(path: Path, reader: _Reader) -> GGUFHeader:
    reader.take(4)
    version = reader.number(4)
    if version not in (2, 3):
        raise ValueError(f"its GGUF version is {version}; 2 and 3 are supported")
    tensor_count, metadata_count = reader.number(10), reader.number(10)
    if max(tensor_count, metadata_count) > _MAX_ENTRIES:
        raise ValueError(f"it announces {tensor_count} tensors and {metadata_count} values, more than it can hold")
    metadata, types = _metadata(reader, metadata_count)
    infos = [_tensor(reader) for _ in range(tensor_count)]
    alignment = metadata.get("general.alignment", 32)
    if types.get("general.alignment", "UINT32") != "UINT32" or alignment <= 0 or alignment & (alignment - 1):
        raise ValueError(f"its general.alignment is {alignment}, not a power of two")
    data_start = -(-reader.position // alignment) * alignment
    tensors = _placed(infos, alignment, reader.size - data_start)
    content = data_start + sum(info.size_bytes + alignment for info in tensors.values())
    if reader.size > content + _MAX_REST_BYTES:
        # Native code maps, and may read, the whole file.
        raise ValueError(f"it has {reader.size} bytes, of which its header accounts for {content} at most")
    return GGUFHeader(path, version, metadata, types, tensors, reader.size, data_start)


def _metadata(reader: _Reader, count: int) -> tuple[dict[str, Any], dict[str, str]]:
    metadata: dict[str, Any] = {}
    types: dict[str, str] = {}
    for _ in range(count):
        key = reader.name("the metadata value", _MAX_KEY_BYTES)
        if key in metadata:
            raise ValueError(f"it holds the value {key} twice")
        code = reader.number(4)
        metadata[key] = reader.value(key, code)
        types[key] = GGUFValueType(code).name
    return metadata, types


def _tensor(reader: _Reader) -> tuple[str, TensorInfo]:
    name = reader.name("the tensor", _MAX_NAME_BYTES)
    dimensions = reader.number(4)
    if not 1 <= dimensions <= _MAX_DIMENSIONS:
        raise ValueError(f"the tensor {name} has {dimensions} dimensions")
    shape = tuple(reader.number(10) for _ in range(dimensions))
    code, offset = reader.number(4), reader.number(10)
    sizes = GGML_QUANT_SIZES.get(GGMLQuantizationType(code)) if code in _TENSOR_TYPES else None
    if sizes is None:
        raise ValueError(f"the tensor {name} has unknown type {code}")
    type_name = GGMLQuantizationType(code).name
    block, block_bytes = sizes
    count = 1
    for dimension in shape:
        count *= dimension
    if not 0 < count <= _MAX_ELEMENTS or shape[0] % block:
        raise ValueError(f"the tensor {name} has shape {list(shape)}, which {type_name} cannot have")
    return name, TensorInfo(shape, type_name, offset, count // block * block_bytes)


_TENSOR_TYPES: Final = frozenset(int(kind) for kind in GGMLQuantizationType)


def _placed(infos: list[tuple[str, TensorInfo]], alignment: int, room: int) -> dict[str, TensorInfo]:
    """The tensors by name, checked to lie in the file one after the other, which is how llama.cpp wants them."""
    tensors: dict[str, TensorInfo] = {}
    expected = 0
    for name, info in infos:
        if name in tensors:
            raise ValueError(f"it holds the tensor {name} twice")
        if info.offset != expected:
            raise ValueError(f"the tensor {name} begins at byte {info.offset} of the data instead of {expected}")
        if info.offset + info.size_bytes > room:
            raise ValueError(f"the tensor {name} lies outside the file; the download may be incomplete")
        tensors[name] = info
        expected += -(-info.size_bytes // alignment) * alignment
    return tensors
