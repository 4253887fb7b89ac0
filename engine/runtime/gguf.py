"""Is this GGUF file a base, or an adapter for that base? Decided from headers alone, before native code sees the file.

Checks what llama.cpp does not, or only by ending the process. Knows neither llama.cpp nor the values of any weight.
Limits and rules: llama.cpp's `llama-model.cpp`, `llama-vocab.cpp` and `llama-adapter.cpp`.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

from engine.errors import AdapterMismatch, BadModelFile
from engine.runtime.gguf_header import TOKENS_KEY, ArrayInfo, GGUFHeader, TensorInfo, read_header

__all__ = ["ArrayInfo", "GGUFHeader", "TensorInfo", "check_adapter", "check_base", "read_header"]

_MAX_BLOCKS: Final = 512
_MAX_EXPERTS: Final = 1024
_MAX_LENGTH: Final = 1 << 24
_MAX_CONTEXT: Final = (1 << 31) - 1
_ROPE_SCALINGS: Final = ("none", "linear", "yarn", "longrope")
_UNUSABLE_TYPES: Final = frozenset({"I8", "I16", "I64", "F64", "Q8_1", "Q8_K"})
"""Tensor types that llama.cpp can store but not multiply with."""
_LOOKUP: Final = "token_embd.weight"
_HEAD: Final = "output.weight"
_LORA_ENDS: Final = (".lora_a", ".lora_b")


def check_base(header: GGUFHeader) -> None:
    """Raises: BadModelFile when the file holds no model that can be a base."""
    name = header.path.name
    kind = header.metadata.get("general.type", "model")
    if kind != "model":
        raise BadModelFile(f"{name} is of the kind `{kind}`, not a base.", "Choose the base model's file.")
    if not header.architecture or not header.tensors:
        raise BadModelFile(f"{name} names no architecture or holds no tensors.", "Get the file again.")
    parts = header.metadata.get("split.count", 0)
    if not isinstance(parts, int) or parts > 1:
        raise BadModelFile(
            f"{name} is one part of a model that was split into {parts} files.",
            "Join them with llama.cpp's `llama-gguf-split --merge`, or get a file that holds the whole model.",
        )
    problem = _sizes_problem(header) or _vocabulary_problem(header) or _types_problem(header.tensors)
    if problem:
        raise BadModelFile(f"{name} cannot be a base: {problem}.", "Get the file again, or choose another base.")


def _sizes_problem(header: GGUFHeader) -> str:
    """What is wrong with the numbers that describe the network; empty when nothing is."""
    values = _Values(header)
    blocks = values.number("block_count", 1, _MAX_BLOCKS)
    values.number("embedding_length", 1, _MAX_LENGTH)
    values.number("context_length", 1, _MAX_CONTEXT)
    # Recurrent bases give zero heads.
    has_attention = any(".attn_output." in name or ".attn_qkv." in name for name in header.tensors)
    least = int(has_attention)
    heads = values.number("attention.head_count", least, _MAX_LENGTH, per_block=blocks)
    highest, default = heads or _MAX_LENGTH, heads or least
    key_heads = values.number("attention.head_count_kv", least, highest, per_block=blocks, default=default)
    if heads and key_heads and heads % key_heads:
        values.say("attention.head_count_kv", key_heads, f"a divisor of {heads}")
    experts = values.number("expert_count", 0, _MAX_EXPERTS, default=0)
    used = min(experts, 1)
    values.number("expert_used_count", used, experts, per_block=blocks, default=0)
    values.number("nextn_predict_layers", 0, blocks, default=0)
    rotated = values.number("rope.dimension_count", 2, _MAX_LENGTH, default=2)
    if rotated % 2:
        values.say("rope.dimension_count", rotated, "even")
    for key in ("attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon"):
        epsilon = header.metadata.get(f"{header.architecture}.{key}", 0.0)
        if not isinstance(epsilon, float) or not 0.0 <= epsilon < 1.0:
            values.say(key, epsilon, "a number from 0 to 1")
    scaling = header.metadata.get(f"{header.architecture}.rope.scaling.type", "none")
    if scaling not in _ROPE_SCALINGS:
        values.say("rope.scaling.type", scaling, "one of " + ", ".join(_ROPE_SCALINGS))
    return values.problem


class _Values:
    """Numbers of the architecture; `problem` is the first one that is out of its range."""

    def __init__(self, header: GGUFHeader) -> None:
        self._header = header
        self.problem = ""

    def number(self, key: str, lowest: int, highest: int, *, per_block: int = 0, default: int | None = None) -> int:
        """The value; 0 where it is an array with one value per block."""
        value = self._header.metadata.get(f"{self._header.architecture}.{key}", default)
        if isinstance(value, ArrayInfo) and per_block and value.count == per_block:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            self.say(key, value, f"a number from {lowest} to {highest}")
            return lowest
        return value

    def say(self, key: str, value: Any, expected: str) -> None:
        found = f"an array of {value.count}" if isinstance(value, ArrayInfo) else f"`{value!s:.40}`"
        found = "missing" if value is None else found
        self.problem = self.problem or f"{self._header.architecture}.{key} is {found}; it should be {expected}"


def _vocabulary_problem(header: GGUFHeader) -> str:
    kind = header.metadata.get("tokenizer.ggml.model")
    if not isinstance(kind, str) or kind in ("no_vocab", "none"):
        return "it carries no vocabulary, without which it cannot read text"
    tokens = header.metadata.get(TOKENS_KEY)
    if not isinstance(tokens, ArrayInfo) or tokens.type_name != "STRING" or tokens.count == 0:
        return f"{TOKENS_KEY} is missing or no list of texts"
    if tokens.distinct != tokens.count:
        return f"{TOKENS_KEY} holds {tokens.count - (tokens.distinct or 0)} tokens twice"
    for name, type_names in (("token_type", ("INT32",)), ("scores", ("FLOAT32", "INT32"))):
        values = header.metadata.get(f"tokenizer.ggml.{name}")
        if values is not None and not (isinstance(values, ArrayInfo) and values.type_name in type_names):
            return f"tokenizer.ggml.{name} is no list of {' or '.join(type_names)}"
        if values is not None and values.count != tokens.count:
            return f"tokenizer.ggml.{name} has {values.count} entries for {tokens.count} tokens"
    lookup = header.tensors.get(_LOOKUP)
    if lookup is not None and (len(lookup.shape) < 2 or lookup.shape[1] != tokens.count):
        return f"{_LOOKUP} has shape {list(lookup.shape)}, but there are {tokens.count} tokens"
    return ""


def _types_problem(tensors: Mapping[str, TensorInfo]) -> str:
    name = next((name for name, tensor in tensors.items() if tensor.type_name in _UNUSABLE_TYPES), None)
    return f"its tensor {name} is of type {tensors[name].type_name}, which no weight can have" if name else ""


def check_adapter(adapter: GGUFHeader, base: GGUFHeader) -> None:
    """Compare every LoRA pair with the base's tensor, expert counts included (llama.cpp does not check those).

    Raises: BadModelFile when it is no LoRA adapter, AdapterMismatch when it is one for another base.
    """
    file = adapter.path.name
    kind = (adapter.metadata.get("general.type"), adapter.metadata.get("adapter.type"))
    if kind != ("adapter", "lora"):
        raise BadModelFile(f"{file} is not a LoRA adapter in GGUF format.", "Convert or choose another.")
    hint = "Use an adapter that was made for this base, or remove its file from the profile."
    if adapter.architecture != base.architecture:
        raise AdapterMismatch(
            f"{file} is for a {adapter.architecture} base, but {base.path.name} is {base.architecture}.", hint
        )
    names = {name.removesuffix(end) for name in adapter.tensors for end in _LORA_ENDS if name.endswith(end)}
    problem = _adapter_problem(adapter, names)
    if problem:
        raise BadModelFile(f"{file} {problem}.", "Get the file again, or convert the adapter anew.")
    if _LOOKUP in names and _HEAD not in base.tensors:  # llama.cpp ends the process over it
        raise AdapterMismatch(
            f"{file} changes the embedding, which {base.path.name} also uses as its last layer; "
            "llama.cpp cannot adapt both.",
            "Train the adapter again on linear layers only.",
        )
    for name in sorted(names):
        pair = adapter.tensors.get(f"{name}.lora_a"), adapter.tensors.get(f"{name}.lora_b")
        problem = _pair_problem(base.tensors.get(name), *pair, is_lookup=name == _LOOKUP)
        if problem:
            raise AdapterMismatch(f"{file} does not fit {base.path.name}: {name} {problem}.", hint)


def _adapter_problem(adapter: GGUFHeader, names: set[str]) -> str:
    """What is wrong with the file whatever its base; empty when nothing is."""
    if not names:
        return "holds no LoRA weights"
    alpha = adapter.metadata.get("adapter.lora.alpha")
    if adapter.types.get("adapter.lora.alpha") != "FLOAT32" or not math.isfinite(alpha or 0.0):
        return f"has no usable adapter.lora.alpha (it is {'missing' if alpha is None else alpha})"
    for name, tensor in adapter.tensors.items():
        if not name.endswith((*_LORA_ENDS, "_norm.weight")):
            return f"holds {name}, which is no LoRA weight"
        if tensor.type_name in _UNUSABLE_TYPES or tensor.type_name == "I32":
            return f"holds {name} as {tensor.type_name}, which no weight can have"
    return ""


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
    experts = {math.prod(shape[2:]) for shape in (a.shape, b.shape, base.shape)}
    if any(dimension > 1 for shape in (a.shape, b.shape) for dimension in shape[3:]):
        return f"has a fourth dimension, {list(a.shape)} and {list(b.shape)}"
    if len(experts) > 1:
        return f"has different numbers of experts: {sorted(experts)}"
    return ""
