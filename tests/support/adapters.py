"""Random LoRA adapters in llama.cpp's GGUF format, for any base whose tensors it can name.

Shapes follow the base's own tensor list, so the file loads exactly as a trained adapter would. Trains nothing, reads no
PEFT folder and knows no runtime. Axes in names: E experts, I inputs, O outputs, r rank.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import gguf
import numpy as np

KINDS_BY_ARCHITECTURE: dict[str, tuple[str, ...]] = {
    "llama": ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"),
    "qwen35moe": (
        *("attn_q", "attn_k", "attn_v", "attn_output", "attn_qkv", "attn_gate"),
        *("ssm_alpha", "ssm_beta", "ssm_out"),
        *("ffn_gate_shexp", "ffn_up_shexp", "ffn_down_shexp"),
        *("ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"),
    ),
}
"""Matrices of a block that llama.cpp can adapt and that adapters are usually trained on."""

DEFAULT_STRENGTH = 0.15
SAMPLED_ROWS = 64


def write_random_adapter(
    base: Path,
    target: Path,
    *,
    rank: int = 8,
    alpha: float = 16.0,
    strength: float = DEFAULT_STRENGTH,
    seed: int = 0,
    kinds: tuple[str, ...] | None = None,
    data_type: Literal["f32", "f16"] = "f32",
) -> Path:
    """Write an adapter for the GGUF `base` to `target` and return `target`; equal arguments give equal bytes.

    strength: root mean square of each update (alpha / r) · B A, as a share of that of the weight it is added to.
    kinds: tensor kinds such as "attn_q"; those usual for the base's architecture when None.

    Raises: ValueError when the base has no tensor of these kinds.
    """
    architecture, matrices = _read(base)
    wanted = KINDS_BY_ARCHITECTURE[architecture] if kinds is None else kinds
    chosen = [matrix for matrix in matrices if matrix.kind in wanted]
    if not chosen:
        raise ValueError(f"{base.name} has no tensor of the kinds {wanted}")

    writer = gguf.GGUFWriter(target, architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, alpha)
    random = np.random.default_rng(seed)
    number_type = np.dtype(np.float16 if data_type == "f16" else np.float32)
    for matrix in chosen:
        size = strength * matrix.root_mean_square
        lora_a, lora_b = _random_pair(random, matrix.shape, rank, alpha, size)
        writer.add_tensor(f"{matrix.name}.lora_a", lora_a.astype(number_type))
        writer.add_tensor(f"{matrix.name}.lora_b", lora_b.astype(number_type))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def write_adapters(base: Path, folder: Path, *, count: int = 4) -> tuple[Path, ...]:
    """`count` different adapters of default strength, named L0.gguf, L1.gguf and so on."""
    return tuple(write_random_adapter(base, folder / f"L{n}.gguf", seed=n) for n in range(count))


@dataclass(frozen=True, slots=True)
class _Matrix:
    """One weight of a block. shape: (O, I), or (E, O, I) of stacked experts."""

    name: str
    kind: str
    shape: tuple[int, ...]
    root_mean_square: float


@cache  # Reading a real base takes two seconds, most of it for its vocabulary.
def _read(base: Path) -> tuple[str, tuple[_Matrix, ...]]:
    """The architecture of a GGUF and those weights of its blocks that may be adapted."""
    reader = gguf.GGUFReader(base)
    architecture = str(reader.fields["general.architecture"].contents())
    matrices = []
    for tensor in reader.tensors:
        match tensor.name.split("."):
            case ["blk", _, kind, "weight"] if kind in KINDS_BY_ARCHITECTURE[architecture]:
                shape = tuple(int(size) for size in reversed(tensor.shape))  # ggml lists the axes the other way round
                matrices.append(_Matrix(tensor.name, kind, shape, _root_mean_square(tensor)))
    return architecture, tuple(matrices)


def _root_mean_square(tensor: gguf.ReaderTensor) -> float:
    """Of the first rows, which are enough for a scale and spare unpacking whole quantised matrices."""
    rows = tensor.data.reshape(-1, tensor.data.shape[-1])[:SAMPLED_ROWS]
    return float(np.sqrt(np.mean(np.square(gguf.dequantize(rows, tensor.tensor_type)))))


def _random_pair(
    random: np.random.Generator, shape: tuple[int, ...], rank: int, alpha: float, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """A (…, r, I) and B (…, O, r), normal, such that (alpha / r) · B A has root mean square `size`."""
    *stack, outputs, inputs = shape
    # An entry of B A sums r products, so its deviation is √r times theirs.
    deviation_a = inputs**-0.5
    deviation_b = size * rank / (alpha * rank**0.5 * deviation_a)
    lora_a_rI = random.normal(0.0, deviation_a, (*stack, rank, inputs))
    lora_b_Or = random.normal(0.0, deviation_b, (*stack, outputs, rank))
    return lora_a_rI, lora_b_Or
