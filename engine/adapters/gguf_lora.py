"""A GGUF LoRA adapter as pairs by tensor name, and back. Knows no module of transformers and no base."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import gguf
import numpy as np

from engine.adapters.lora import Array, DataType, LoraPair, Pairs, check_values, common_alpha, with_alpha
from engine.errors import BadModelFile
from engine.runtime.gguf import GGUFHeader, TensorInfo

_Q8_0_BLOCK: Final = 32
_Q8_0_STEPS: Final = 127
"""The largest value of a block is this many times its float16 scale."""
_CHECKED_TYPES: Final = ("F32", "F16", "BF16", "Q8_0", "Q4_0")
_ALPHA: Final = gguf.Keys.Adapter.LORA_ALPHA
_A, _B = ".lora_a", ".lora_b"


def read_lora(header: GGUFHeader) -> dict[str, LoraPair]:
    """The pairs of an adapter that `check_adapter` has passed; float16 stays, every other type becomes float32.

    Norms, which llama.cpp passes over, are passed over here too.

    Raises: BadModelFile for values that are infinite or no numbers, or a file that cannot be read.
    """
    pairs = {}
    for name in sorted(name.removesuffix(_A) for name in header.tensors if name.endswith(_A)):
        a_rI = _values(header, header.tensors[name + _A])
        b_Or = _values(header, header.tensors[name + _B])
        # An alpha of 0 means the update as it is.
        pair = LoraPair(a_rI, b_Or, float(header.metadata[_ALPHA]) or float(a_rI.shape[0]))
        check_values(name, pair)
        pairs[name] = pair
    return pairs


def check_finite(header: GGUFHeader) -> None:
    """Look at every weight, one tensor at a time, in the types adapters usually have; others pass unseen.

    Raises: BadModelFile naming the tensor with values that are infinite or no numbers.
    """
    for name, tensor in header.tensors.items():
        if tensor.type_name in _CHECKED_TYPES and not np.isfinite(_values(header, tensor)).all():
            raise BadModelFile(
                f"{name} holds values that are infinite or no numbers.",
                "Its training or conversion went wrong; get or make the adapter again.",
            )


def write_lora(
    path: Path, pairs: Pairs, *, architecture: str, data_type: DataType, metadata: Mapping[str, str | int]
) -> None:
    """Write `pairs`, named and ordered as in the base, with one alpha for all of them.

    With q8_0, rows that are no multiple of 32 are stored as f16. Equal arguments give equal bytes.

    Raises: BadModelFile for values too large for the type; OSError.
    """
    alpha = common_alpha(pairs)
    writer = gguf.GGUFWriter(path, architecture)
    try:
        writer.add_type(gguf.GGUFType.ADAPTER)
        writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
        writer.add_float32(_ALPHA, alpha)
        for key, value in metadata.items():
            if isinstance(value, int):
                writer.add_uint32(key, value)
            else:
                writer.add_string(key, value)
        for name, pair in pairs.items():
            pair = with_alpha(pair, alpha)
            _add(writer, name + _A, pair.a_rI, data_type)
            _add(writer, name + _B, pair.b_Or, data_type)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _add(writer: gguf.GGUFWriter, name: str, values: Array, data_type: DataType) -> None:
    is_quantised = data_type == "q8_0" and values.shape[-1] % _Q8_0_BLOCK == 0
    number_type = np.float32 if data_type == "f32" else np.float16
    largest = float(np.finfo(number_type).max) * (_Q8_0_STEPS if is_quantised else 1)
    if np.abs(values).max() > largest:
        raise BadModelFile(f"{name} holds values too large for {data_type}.", "Convert it as f32, or train it anew.")
    if is_quantised:
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(name, gguf.quantize(values.astype(np.float32), kind), raw_dtype=kind)
        return
    writer.add_tensor(name, np.ascontiguousarray(values.astype(number_type)))


def _values(header: GGUFHeader, tensor: TensorInfo) -> Array:
    try:
        with header.path.open("rb") as file:
            file.seek(header.header_bytes + tensor.offset)
            data = file.read(tensor.size_bytes)
    except OSError as error:
        raise BadModelFile(
            f"{header.path.name} cannot be read: {error.strerror}.", "Check the file and its disk."
        ) from error
    if len(data) != tensor.size_bytes:
        raise BadModelFile(f"{header.path.name} was cut short while it was read.", "Get the file again.")
    shape = tuple(reversed(tensor.shape))
    if tensor.type_name == "F16":
        return np.frombuffer(data, "<f2").reshape(shape)
    kind = gguf.GGMLQuantizationType[tensor.type_name]
    raw: np.ndarray[Any, Any] = np.frombuffer(data, np.uint8).reshape(*shape[:-1], -1)
    try:
        return gguf.dequantize(raw, kind).astype(np.float32).reshape(shape)
    except NotImplementedError as error:
        raise BadModelFile(
            f"{header.path.name} holds weights of type {tensor.type_name}, which cannot be read back.",
            "Use the adapter's F16 or Q8_0 file.",
        ) from error
