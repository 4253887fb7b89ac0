"""The GGUF that serves, as a transformers model to train against: the same weights, dequantised.

Reads headers first and refuses what it could not represent to the last weight, since a policy that differs from the
sampler teaches the difference. Knows no adapter, no tokenizer (token ids come from the runtime) and no loss.
"""

import contextlib
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psutil
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedConfig, PreTrainedModel, Qwen3Config

from engine.errors import BadModelFile, ModelProblem, OutOfMemory, boundary
from engine.runtime.gguf import GGUFHeader, check_base, read_header

LINEAR_KINDS: Final = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""The linear layers of a block, in both families; the ones that adapters are trained on."""

_CONFIGS: Final[dict[str, Any]] = {"llama": LlamaConfig, "qwen3": Qwen3Config}
_BLOCK_KINDS: Final = frozenset(
    {
        *("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output"),
        *("ffn_norm", "ffn_gate", "ffn_up", "ffn_down"),
    }
)
_HEAD_NORMS: Final = frozenset({"attn_q_norm", "attn_k_norm"})
_OUTER_TENSORS: Final = frozenset({"token_embd.weight", "output_norm.weight", "output.weight"})
_LOADING_SHARE: Final = 1.8
"""Peak memory while reading, in units of the weights: the copy that is read into and the one that is read from."""


def best_device() -> torch.device:
    """A CUDA device where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def number_type(device: torch.device) -> torch.dtype:
    """float32 on the CPU; bfloat16 where a CUDA device computes with it. Adapters are float32 everywhere."""
    return torch.bfloat16 if device.type == "cuda" and torch.cuda.is_bf16_supported() else torch.float32


def load_base(path: Path, device: torch.device) -> PreTrainedModel:
    """The base of `path`, frozen and without dropout, on `device`.

    Raises: ModelMissing, BadModelFile, ModelProblem (a base that cannot be trained here), OutOfMemory.
    """
    header = read_header(path)
    check_base(header)
    config = base_config(header)
    data_type = number_type(device)
    _check_memory(header, data_type)
    damaged = boundary(BadModelFile, f"{path.name} cannot be read for training", "Get the file again and compare it.")
    with damaged, _quiet():
        model = AutoModelForCausalLM.from_pretrained(
            path.parent,
            gguf_file=path.name,
            config=config,
            dtype=data_type,
            attn_implementation="sdpa",
            local_files_only=True,
        )
    # transformers notes the name the file gives itself; it would be taken for a repository of the hub.
    model.config._name_or_path = ""
    result: PreTrainedModel = model.train(False).requires_grad_(False).to(device)
    return result


def base_config(header: GGUFHeader) -> PreTrainedConfig:
    """The transformers configuration that computes what llama.cpp computes from this file.

    Raises: ModelProblem when there is none, with what stands in the way.
    """
    name, architecture = header.path.name, header.architecture
    if architecture not in _CONFIGS:
        raise ModelProblem(
            f"{name} is a {architecture or 'nameless'} base, which cannot be trained here.",
            f"Adapters can be trained on bases of these architectures: {', '.join(_CONFIGS)}.",
        )
    if obstacle := _obstacle(header):
        raise ModelProblem(f"{name} cannot be trained here: {obstacle}.", "Choose another base for learning.")

    def value(key: str, default: Any = None) -> Any:
        return header.metadata.get(f"{architecture}.{key}", default)

    heads, width = value("attention.head_count"), value("embedding_length")
    # transformers would take 128 for every qwen3, whatever the file says.
    head_size = value("attention.key_length", value("rope.dimension_count", width // heads))
    config: PreTrainedConfig = _CONFIGS[architecture](
        vocab_size=header.tensors["token_embd.weight"].shape[1],
        hidden_size=width,
        intermediate_size=value("feed_forward_length"),
        num_hidden_layers=value("block_count"),
        num_attention_heads=heads,
        num_key_value_heads=value("attention.head_count_kv", heads),
        head_dim=head_size,
        max_position_embeddings=value("context_length"),
        rms_norm_eps=value("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": value("rope.freq_base", 10_000.0)},
        tie_word_embeddings="output.weight" not in header.tensors,
    )
    return config


def _obstacle(header: GGUFHeader) -> str:
    """What the transformers model would leave out; empty when nothing."""
    kinds = _BLOCK_KINDS | (_HEAD_NORMS if header.architecture == "qwen3" else frozenset())
    for tensor in header.tensors:
        match tensor.split("."):
            case ["blk", _, kind, "weight"] if kind in kinds:
                continue
        if tensor not in _OUTER_TENSORS:
            return f"its tensor {tensor} has no place in the model that is trained"
    needed = ("feed_forward_length", "attention.head_count", "attention.layer_norm_rms_epsilon")
    for key in needed:
        if not isinstance(header.metadata.get(f"{header.architecture}.{key}"), int | float):
            return f"{header.architecture}.{key} is missing, or differs from block to block"
    scaling = header.metadata.get(f"{header.architecture}.rope.scaling.type", "none")
    return "" if scaling == "none" else f"it scales its positions ({scaling})"


def base_bytes(header: GGUFHeader, data_type: torch.dtype) -> int:
    """Memory of the dequantised weights."""
    return sum(math.prod(tensor.shape) for tensor in header.tensors.values()) * int(data_type.itemsize)


def _check_memory(header: GGUFHeader, data_type: torch.dtype) -> None:
    needed = int(base_bytes(header, data_type) * _LOADING_SHARE)
    free = psutil.virtual_memory().available
    if needed > free:
        raise OutOfMemory(
            f"Training against {header.path.name} needs {needed / 2**30:.1f} GiB to begin with, "
            f"and {free / 2**30:.1f} GiB are free.",
            "Close other programs, or choose a smaller base for learning.",
        )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the progress bars of the libraries off the screen, which belongs to the program."""
    with contextlib.redirect_stderr(io.StringIO()):
        yield
