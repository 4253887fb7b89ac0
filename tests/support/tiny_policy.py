"""Tiny random transformers models to train against: two blocks, 61 tokens, grouped heads, no file behind them.

Needs torch and transformers; import it after `requirements.require_module("torch")`. Starts no engine.
"""

from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, Qwen3Config, Qwen3ForCausalLM

from engine.adapters.lora import Pairs
from engine.adapters.peft_folder import read_peft
from local_training.policy import Policy

VOCABULARY = 61
_SHAPE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "initializer_range": 0.2,
    "attn_implementation": "sdpa",
}


def tiny_llama(seed: int = 0, **changes: Any) -> PreTrainedModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(LlamaConfig(**_SHAPE | changes)).eval()


def tiny_qwen3(seed: int = 0, **changes: Any) -> PreTrainedModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(Qwen3Config(**_SHAPE | changes)).eval()


def tiny_policy(model: PreTrainedModel | None = None, *, stir: bool = True, **options: Any) -> Policy:
    """A policy over a tiny model; `stir` gives its new adapter weights that change something."""
    policy = Policy(model or tiny_llama(), name="tiny", **options)
    if stir:
        stir_adapter(policy)
    return policy


def stir_adapter(policy: Policy, seed: int = 1, size: float = 0.1) -> None:
    """Fill the trained adapter with random numbers: the B of a new one is zero, which hides most mistakes."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in policy.trainable:
            weight.copy_(size * torch.randn(weight.shape, generator=random))


def random_adapter(folder: Path, policy: Policy, seed: int = 2) -> Pairs:
    """The policy's adapter with other random numbers, written to `folder` and read back, as a frozen expert has it."""
    stir_adapter(policy, seed)
    policy.save(folder)
    return read_peft(folder).pairs
