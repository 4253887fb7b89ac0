"""Which weight of a GGUF base a transformers module is, and in which order its rows lie. Reads no file, no weights.

For the llama and qwen3 architectures. Sources: llama.cpp's `gguf-py/gguf/tensor_mapping.py` for the names,
`LlamaModel.permute` of its converter for the rows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from engine.adapters.lora import Array, LoraPair, Pairs
from engine.errors import AdapterMismatch, BadModelFile
from engine.runtime.gguf import GGUFHeader

ARCHITECTURES: Final = ("llama", "qwen3")
_KINDS: Final = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_MODULES: Final = {kind: module for module, kind in _KINDS.items()}
_PREFIXES: Final = ("model.language_model.", "language_model.model.", "model.")
"""What wraps the layers, in text models and in those with a vision part; the longest first."""
_LAYER: Final = re.compile(r"layers\.([0-9]{1,4})\.(.+)")
_BLOCK: Final = re.compile(r"blk\.([0-9]{1,4})\.(.+)\.weight")
_HEAD_MODULE: Final = "lm_head"
_HEAD_TENSOR: Final = "output.weight"
_HINT: Final = "Use an adapter that was made for this base."


@dataclass(frozen=True, slots=True)
class Layout:
    """How the weights of one base are named and ordered."""

    base_name: str
    shapes: Mapping[str, tuple[int, ...]]
    """Of every tensor, contiguous dimension first: (I, O)."""
    heads: Mapping[str, int]
    """Attention heads of the kinds whose rows llama.cpp keeps in another order; empty where it keeps them all."""

    def to_tensors(self, pairs: Pairs) -> dict[str, LoraPair]:
        """From modules of transformers to tensors of the base, in its row order.

        Raises: AdapterMismatch naming the module that the base lacks or has in another shape.
        """
        found: dict[str, LoraPair] = {}
        for module, pair in pairs.items():
            tensor, ordered = self._to_tensor(module, pair)
            if tensor in found:
                raise AdapterMismatch(f"The adapter changes {tensor} twice, once as {module}.", _HINT)
            found[tensor] = ordered
        return found

    def to_modules(self, pairs: Pairs) -> dict[str, LoraPair]:
        """From tensors of the base to modules of transformers; the inverse of `to_tensors`.

        Raises: AdapterMismatch naming the tensor that is no module.
        """
        found = {}
        for tensor, pair in pairs.items():
            heads = self._heads_of(tensor)
            found[_module_name(tensor)] = replace(pair, b_Or=from_pairs(pair.b_Or, heads)) if heads else pair
        return found

    def _to_tensor(self, module: str, pair: LoraPair) -> tuple[str, LoraPair]:
        tensor = _tensor_name(module)
        shape = self.shapes.get(tensor)
        if shape is None:
            raise AdapterMismatch(f"The base {self.base_name} has no {tensor}, which {module} would change.", _HINT)
        inputs, outputs = pair.a_rI.shape[1], pair.b_Or.shape[0]
        if shape != (inputs, outputs):
            raise AdapterMismatch(
                f"{module} is {outputs} by {inputs} in the adapter, but {' by '.join(map(str, reversed(shape)))} "
                f"in {self.base_name}.",
                _HINT,
            )
        heads = self._heads_of(tensor)
        return tensor, replace(pair, b_Or=to_pairs(pair.b_Or, heads)) if heads else pair

    def _heads_of(self, tensor: str) -> int:
        block = _BLOCK.fullmatch(tensor)
        return self.heads.get(block[2], 0) if block else 0


def layout_of(base: GGUFHeader) -> Layout:
    """Raises: AdapterMismatch for an architecture that is not converted, BadModelFile for a base without its heads."""
    name, architecture = base.path.name, base.architecture
    if architecture not in ARCHITECTURES:
        raise AdapterMismatch(
            f"PEFT adapters cannot be converted for {name}: its architecture is {architecture or 'unknown'}.",
            f"They can for {' and '.join(ARCHITECTURES)} bases. Or import a GGUF adapter that was made for it.",
        )
    shapes = {tensor: info.shape for tensor, info in base.tensors.items()}
    heads = _heads(base, shapes) if architecture == "llama" else {}
    return Layout(name, shapes, heads)


def to_pairs(rows: Array, heads: int) -> Array:
    """Order rows (O, …) as llama.cpp rotates them, each next to its partner, instead of as transformers: by halves."""
    return rows.reshape(heads, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def from_pairs(rows: Array, heads: int) -> Array:
    """The inverse of `to_pairs`."""
    return rows.reshape(heads, -1, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def _heads(base: GGUFHeader, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    key = "llama.attention.head_count"
    query_heads = base.metadata.get(key)
    heads = {"attn_q": query_heads, "attn_k": base.metadata.get(f"{key}_kv", query_heads)}
    for kind, count in heads.items():
        rows = {shape[-1] for name, shape in shapes.items() if name.endswith(f".{kind}.weight")}
        if type(count) is not int or count < 1 or any(number % (2 * count) for number in rows):
            raise BadModelFile(
                f"{base.path.name} does not say how many heads {kind} has.", "Choose a base with equal layers."
            )
    return heads


def _tensor_name(module: str) -> str:
    """Raises: AdapterMismatch."""
    prefix = next((prefix for prefix in _PREFIXES if module.startswith(prefix)), "")
    inner = module.removeprefix(prefix)
    if inner == _HEAD_MODULE:
        return _HEAD_TENSOR
    layer = _LAYER.fullmatch(inner)
    if layer is None or layer[2] not in _KINDS:
        raise AdapterMismatch(
            f"The adapter changes {module[:120]}, which is no linear layer that can be converted.",
            f"Known are {', '.join(name.rpartition('.')[2] for name in _KINDS)} and {_HEAD_MODULE}.",
        )
    return f"blk.{int(layer[1])}.{_KINDS[layer[2]]}.weight"


def _module_name(tensor: str) -> str:
    """Raises: AdapterMismatch."""
    if tensor == _HEAD_TENSOR:
        return _HEAD_MODULE
    block = _BLOCK.fullmatch(tensor)
    if block is None or block[2] not in _MODULES:
        raise AdapterMismatch(f"The adapter changes {tensor}, which has no counterpart in transformers.", _HINT)
    return f"model.layers.{int(block[1])}.{_MODULES[block[2]]}"
