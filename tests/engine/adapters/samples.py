"""PEFT folders made of numpy alone, for bases of which only the header is read. Axes in names: O outputs, r rank."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from engine.runtime.gguf import GGUFHeader

MODULES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
CONFIG = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "bias": "none", "target_modules": ["q_proj"]}


def peft_tensors(
    base: GGUFHeader, kinds: Sequence[str] = tuple(MODULES), *, rank: int = 4, number_type: Any = np.float32
) -> dict[str, np.ndarray]:
    """A and B for those kinds of weights in the base's first two blocks, named as PEFT names them."""
    random = np.random.default_rng(3)
    tensors = {}
    for block in range(2):
        for kind in kinds:
            inputs, outputs = base.tensors[f"blk.{block}.{kind}.weight"].shape
            name = f"base_model.model.model.layers.{block}.{MODULES[kind]}"
            tensors[f"{name}.lora_A.weight"] = random.normal(size=(rank, inputs)).astype(number_type)
            tensors[f"{name}.lora_B.weight"] = random.normal(size=(outputs, rank)).astype(number_type)
    return tensors


def write_folder(folder: Path, tensors: dict[str, np.ndarray], **config: Any) -> Path:
    """`tensors` and a config as PEFT would save them; `config` changes its fields."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({**CONFIG, **config}), encoding="utf-8")
    return folder
