"""A tiny Qwen3.5-MoE base with a block for drafting (multi-token prediction), made from the one in `tests/data`.

The tiny base's own blocks are weakened, so that its next token follows mostly from the last one, and the added block
looks at the last token only. So it is right often, but not always, and the state still counts. Knows no runtime.
"""

from pathlib import Path
from typing import Any, Final

import gguf
import numpy as np

_NEXTN_LAYERS: Final = "qwen35moe.nextn_predict_layers"
_BLOCKS: Final = "qwen35moe.block_count"
_RECURRENT: Final = "qwen35moe.attention.recurrent_layers"
_OUTPUTS: Final = (".attn_output.", ".ssm_out.", ".ffn_down_exps.", ".ffn_down_shexp.")
"""Matrices through which a block adds to the stream."""


def write_drafting_base(
    source: Path, target: Path, *, trunk_share: float = 0.03, block_share: float = 0.05, seed: int = 0
) -> Path:
    """Write `source`, the tiny Qwen3.5-MoE, with one drafting block more to `target`, and return `target`.

    trunk_share: factor on what every block adds to the stream; 0 makes nearly every guess right, 1 hardly any.
    block_share: the same for the drafting block, and how much it looks at the hidden state beside the last token.
    """
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, "qwen35moe")
    blocks = int(_value(reader, _BLOCKS))
    changed = {_BLOCKS: blocks + 1, _RECURRENT: [*_value(reader, _RECURRENT), False]}
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        kind, *items = field.types
        writer.add_key_value(name, changed.get(name, field.contents()), kind, items[-1] if items else None)
    writer.add_uint32(_NEXTN_LAYERS, 1)
    tensors = {tensor.name: np.array(tensor.data) for tensor in reader.tensors}
    for name, data in tensors.items():
        share = trunk_share if any(output in name for output in _OUTPUTS) else 1.0
        writer.add_tensor(name, data * np.float32(share))
    for name, data in _drafting_block(tensors, blocks, block_share, np.random.default_rng(seed)).items():
        writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def _value(reader: gguf.GGUFReader, name: str) -> Any:
    return reader.fields[name].contents()


def _drafting_block(
    tensors: dict[str, np.ndarray], block: int, share: float, random: np.random.Generator
) -> dict[str, np.ndarray]:
    """The last block of the trunk, which has full attention, behind a projection of token and hidden state."""
    last = f"blk.{block - 1}."
    new = {}
    for name, data in tensors.items():
        if name.startswith(last):
            factor = share if any(output in name for output in _OUTPUTS) else 1.0
            new[name.replace(last, f"blk.{block}.")] = data * np.float32(factor)
    width = len(tensors["output_norm.weight"])
    # (outputs, inputs): the inputs are the embedding of the token, then the hidden state before it.
    projection = random.normal(0.0, share * width**-0.5, (width, 2 * width))
    projection[:, :width] += np.eye(width)
    new[f"blk.{block}.nextn.eh_proj.weight"] = projection.astype(np.float32)
    for norm in ("enorm", "hnorm"):
        new[f"blk.{block}.nextn.{norm}.weight"] = np.ones(width, np.float32)
    new[f"blk.{block}.nextn.shared_head_norm.weight"] = tensors["output_norm.weight"]
    return new
