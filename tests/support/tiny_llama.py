"""Tiny random llama and qwen3 models in transformers and, with the very same weights, as F16 GGUF bases.

The tokenizer is that of the tiny Qwen3.5-MoE in `tests/data`: 512 tokens, of which these models only see ids.
Needs torch, transformers and peft; import it after `requirements.require_module`. Axes in names: O outputs, r rank.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, Qwen3Config, Qwen3ForCausalLM

from tests.support.models import tiny_moe

VOCABULARY = 512
HEADS = {"q_proj": 4, "k_proj": 2}
_SHAPE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS["q_proj"],
    "num_key_value_heads": HEADS["k_proj"],
    "head_dim": 32,
    "max_position_embeddings": 2048,
    "rms_norm_eps": 1e-5,
    "initializer_range": 0.15,  # attention that is far from even, so that an error in q or k shows
    "tie_word_embeddings": False,
}
_TENSORS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
_OUTER = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


@dataclass(frozen=True, slots=True)
class TinyModel:
    architecture: str
    model: PreTrainedModel
    base: Path


def write_tiny(architecture: str, folder: Path, seed: int = 0) -> TinyModel:
    """A `llama` or `qwen3` model whose weights are exact in 16 bits, and its GGUF in `folder`."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model: PreTrainedModel = (
        LlamaForCausalLM(LlamaConfig(**_SHAPE)) if architecture == "llama" else Qwen3ForCausalLM(Qwen3Config(**_SHAPE))
    ).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.half().float())
    return TinyModel(architecture, model, _write_base(architecture, model, folder / f"tiny-{architecture}.gguf"))


def save_random_lora(tiny: TinyModel, folder: Path, seed: int = 1, **config: Any) -> PreTrainedModel:
    """The model with a random adapter, which is also saved to `folder` by PEFT. Takes the options of LoraConfig."""
    torch.manual_seed(seed)
    options = {"r": 8, "lora_alpha": 16, "target_modules": "all-linear", **config}
    copy = type(tiny.model)(tiny.model.config).eval()
    copy.load_state_dict(tiny.model.state_dict())
    adapted = get_peft_model(copy, LoraConfig(task_type="CAUSAL_LM", **options)).eval()
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_" in name:
                weight.copy_((weight.new_empty(weight.shape).normal_(std=0.12)).half().float())
    adapted.save_pretrained(str(folder), save_embedding_layers=False)
    return adapted


def torch_logprobs(model: PreTrainedModel, tokens: Sequence[int], start: int) -> list[float]:
    """Log-probabilities of tokens[start:] after what is before each, in nats."""
    with torch.no_grad():
        logits_TV = model(torch.tensor([tokens])).logits[0].double()
    logprobs_TV = torch.log_softmax(logits_TV, dim=-1)
    return [float(logprobs_TV[place - 1, tokens[place]]) for place in range(start, len(tokens))]


def _write_base(architecture: str, model: PreTrainedModel, path: Path) -> Path:
    config = model.config
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(f"Tiny {architecture}")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(float(config.rope_parameters["rope_theta"]))
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    for name, field in gguf.GGUFReader(tiny_moe()).fields.items():
        if name.startswith("tokenizer.ggml."):
            kind, *items = field.types
            writer.add_key_value(name, field.contents(), kind, items[-1] if items else None)
    for name, weight in model.state_dict().items():
        values = weight.numpy()
        target = _tensor_name(name.removesuffix(".weight"))
        if architecture == "llama" and (heads := HEADS.get(name.split(".")[-2], 0)):
            values = values[rotation_order(values.shape[0], heads)]
        writer.add_tensor(f"{target}.weight", values.astype(np.float16 if values.ndim > 1 else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def rotation_order(rows: int, heads: int) -> list[int]:
    """Which row of transformers lies where in a llama GGUF: within a head, row i is followed by row i + half."""
    size = rows // heads
    return [
        head * size + half * (size // 2) + step for head in range(heads) for step in range(size // 2) for half in (0, 1)
    ]


def _tensor_name(module: str) -> str:
    if module in _OUTER:
        return _OUTER[module]
    _, _, block, inner = module.split(".", 3)
    return f"blk.{block}.{_TENSORS[inner]}"
