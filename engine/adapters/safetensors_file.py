"""Read and write safetensors files with numpy. Knows the container, not what a tensor means.

These files are downloaded, so every length and offset is compared with the file and with a limit before memory is
taken for it. The file is read, not mapped: one that is cut short meanwhile must not end this process.
Format: the safetensors specification, including that tensors lie one after the other and fill the file.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from engine.adapters.lora import Array
from engine.errors import BadModelFile, ModelMissing

_LENGTH_BYTES: Final = 8
_MAX_HEADER_BYTES: Final = 16 << 20
_MAX_TENSORS: Final = 1 << 16
_MAX_NAME_CHARACTERS: Final = 512
_MAX_DIMENSIONS: Final = 8
_METADATA: Final = "__metadata__"
_ITEM_BYTES: Final = {"F32": 4, "F16": 2, "BF16": 2}
"""The types an adapter can have; numpy has no bfloat16, so that one is widened by hand."""


@dataclass(frozen=True, slots=True)
class StoredTensor:
    shape: tuple[int, ...]
    type_name: str
    start: int
    """Bytes from the start of the file."""
    size_bytes: int


def read_index(path: Path) -> dict[str, StoredTensor]:
    """The tensors of a file by name, checked to lie within it.

    Raises: ModelMissing, BadModelFile with the reason.
    """
    if not path.is_file():
        raise ModelMissing(f"There is no file {path.name} in {path.parent}.", "Check the path, or save it again.")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if not 2 <= length <= min(size - _LENGTH_BYTES, _MAX_HEADER_BYTES):
                raise ValueError(f"its header would have {length} bytes, the file has {size}")
            entries = _parse(file.read(length))
        return _placed(entries, _LENGTH_BYTES + length, size)
    except OSError as error:
        raise BadModelFile(f"{path.name} cannot be read: {error.strerror}.", "Check the file's permissions.") from error
    except (ValueError, RecursionError) as error:
        raise BadModelFile(
            f"{path.name} is damaged or no safetensors file: {error}.", "Get the file again and compare its size."
        ) from error


def read_tensor(path: Path, stored: StoredTensor) -> Array:
    """The values, float16 or float32; bfloat16 is widened to float32.

    Raises: BadModelFile when the file ends early or cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(stored.start)
            data = file.read(stored.size_bytes)
    except OSError as error:
        raise BadModelFile(f"{path.name} cannot be read: {error.strerror}.", "Check the file and its disk.") from error
    if len(data) != stored.size_bytes:
        raise BadModelFile(f"{path.name} was cut short while it was read.", "Get the file again.")
    if stored.type_name == "BF16":
        bits = np.frombuffer(data, "<u2").astype(np.uint32) << 16
        return bits.view(np.float32).reshape(stored.shape)
    return np.frombuffer(data, "<f2" if stored.type_name == "F16" else "<f4").reshape(stored.shape)


def safetensors_bytes(tensors: Mapping[str, Array]) -> list[bytes]:
    """A file of float16 and float32 arrays in parts, to be written one after the other."""
    entries: dict[str, Any] = {_METADATA: {"format": "pt"}}
    parts: list[bytes] = []
    position = 0
    for name, values in tensors.items():
        is_half = values.dtype == np.float16
        data = np.ascontiguousarray(values, "<f2" if is_half else "<f4").tobytes()
        offsets = [position, position + len(data)]
        entries[name] = {"dtype": "F16" if is_half else "F32", "shape": list(values.shape), "data_offsets": offsets}
        parts.append(data)
        position += len(data)
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    return [len(header).to_bytes(_LENGTH_BYTES, "little"), header, *parts]


def _parse(header: bytes) -> dict[str, Any]:
    entries = json.loads(header.decode("utf-8"), object_pairs_hook=_without_repeats)
    if not isinstance(entries, dict):
        raise ValueError("its header is no object")
    entries.pop(_METADATA, None)
    if len(entries) > _MAX_TENSORS:
        raise ValueError(f"it announces {len(entries)} tensors")
    return entries


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in its header")
    return found


def _placed(entries: Mapping[str, Any], data_start: int, size: int) -> dict[str, StoredTensor]:
    tensors = {name: _tensor(name, entry, data_start) for name, entry in entries.items()}
    expected = data_start
    for name, stored in sorted(tensors.items(), key=lambda item: item[1].start):
        if stored.start != expected:
            raise ValueError(f"the tensor {name} begins at byte {stored.start} instead of {expected}")
        expected += stored.size_bytes
    if expected != size:
        raise ValueError(f"its tensors end at byte {expected}, the file at {size}")
    return tensors


def _tensor(name: str, entry: Any, data_start: int) -> StoredTensor:
    if not 0 < len(name) <= _MAX_NAME_CHARACTERS or not name.isprintable():
        raise ValueError(f"the name {name[:60]!r} cannot be one of a tensor")
    match entry:
        case {"dtype": str(type_name), "shape": list(shape), "data_offsets": [int(start), int(end)]}:
            pass
        case _:
            raise ValueError(f"the tensor {name} is not described as it should be")
    if type_name not in _ITEM_BYTES:
        raise ValueError(f"the tensor {name} is of type {type_name[:20]}; {', '.join(_ITEM_BYTES)} can be read")
    whole = [size for size in shape if type(size) is int and 0 < size < 1 << 32]
    if not 0 < len(shape) == len(whole) <= _MAX_DIMENSIONS:
        raise ValueError(f"the tensor {name} has no usable shape")
    if start < 0 or end - start != math.prod(whole) * _ITEM_BYTES[type_name]:
        raise ValueError(f"the tensor {name} of shape {whole} cannot have {end - start} bytes")
    return StoredTensor(tuple(whole), type_name, data_start + start, end - start)
