"""A LoRA adapter as a folder in PEFT's layout: `adapter_config.json` and `adapter_model.safetensors`.

Reads and writes safetensors only: the older `adapter_model.bin` is a pickle, which can run code. Of the configuration
it takes what describes the weights; whatever would change the base or run an initialisation is refused or left out.
"""

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import load, save

from engine.errors import BadModelFile, DiskFull, ModelMissing, StoreProblem, boundary

CONFIG_NAME: Final = "adapter_config.json"
WEIGHTS_NAME: Final = "adapter_model.safetensors"
_PREFIX: Final = "base_model.model."
_HALVES: Final = (".lora_A.weight", ".lora_B.weight")
_UNSUPPORTED: Final = ("use_dora", "modules_to_save", "trainable_token_indices", "target_parameters", "lora_bias")
_MAX_CONFIG_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Pair:
    """The two halves of one linear layer's update (alpha / r) · B A."""

    A_rI: torch.Tensor
    B_Or: torch.Tensor


@dataclass(frozen=True, slots=True)
class PeftAdapter:
    """`pairs` by the path of the layer in the transformers model, such as `model.layers.0.self_attn.q_proj`."""

    rank: int
    alpha: float
    pairs: Mapping[str, Pair]
    base_name: str = ""
    rank_stabilised: bool = False
    """The update is scaled by alpha / √r instead of alpha / r."""
    rank_pattern: Mapping[str, int] = field(default_factory=dict)
    alpha_pattern: Mapping[str, float] = field(default_factory=dict)


def read_adapter(folder: Path) -> PeftAdapter:
    """Raises: ModelMissing, BadModelFile (with what is wrong with the folder)."""
    for name in (CONFIG_NAME, WEIGHTS_NAME):
        if not (folder / name).is_file():
            raise ModelMissing(
                f"{folder.name} is no adapter folder: there is no {name} in it.",
                "Give a folder as PEFT saves it, with weights in the safetensors format.",
            )
    with boundary(BadModelFile, f"The adapter in {folder.name} cannot be read", "Get the folder again."):
        config = _read_config(folder / CONFIG_NAME)
        # Read, not mapped: a mapped file that is cut short meanwhile ends the process.
        halves = load((folder / WEIGHTS_NAME).read_bytes())
    return PeftAdapter(
        rank=config["r"],
        alpha=float(config["lora_alpha"]),
        pairs=_pairs(folder.name, halves),
        base_name=str(config.get("base_model_name_or_path") or ""),
        rank_stabilised=bool(config.get("use_rslora")),
        rank_pattern=config.get("rank_pattern") or {},
        alpha_pattern=config.get("alpha_pattern") or {},
    )


def write_adapter(folder: Path, adapter: PeftAdapter) -> None:
    """Write the folder so that PEFT reads it too. Each file appears whole, the configuration last.

    Raises: DiskFull, StoreProblem.
    """
    halves: dict[str, torch.Tensor] = {}
    for name, pair in sorted(adapter.pairs.items()):
        for end, half in zip(_HALVES, (pair.A_rI, pair.B_Or), strict=True):
            halves[_PREFIX + name + end] = half.detach().cpu().contiguous()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / WEIGHTS_NAME, save(halves, {"format": "pt"}))
        _replace(folder / CONFIG_NAME, (json.dumps(_config(adapter), indent=2) + "\n").encode())
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise (DiskFull if full else StoreProblem)(
            f"The adapter could not be written to {folder}: {error.strerror}.", "Make room or choose another folder."
        ) from error


def _read_config(path: Path) -> dict[str, Any]:
    """Raises: BadModelFile, ValueError."""
    if path.stat().st_size > _MAX_CONFIG_BYTES:
        raise ValueError(f"{path.name} is larger than a configuration can be")
    config = json.loads(path.read_text("utf-8"))
    if not isinstance(config, dict) or config.get("peft_type") != "LORA":
        raise ValueError(f"{path.name} describes no LoRA adapter")
    used = [name for name in _UNSUPPORTED if config.get(name)] + (
        ["bias"] if config.get("bias", "none") != "none" else []
    )
    if used:
        raise BadModelFile(
            f"The adapter in {path.parent.name} uses {', '.join(used)}, which the engine that serves cannot apply.",
            "Train it again as plain LoRA.",
        )
    rank, alpha = config.get("r"), config.get("lora_alpha")
    if not isinstance(rank, int) or rank < 1 or not isinstance(alpha, int | float):
        raise ValueError(f"{path.name} names no usable r and lora_alpha")
    return config


def _pairs(folder_name: str, halves: Mapping[str, torch.Tensor]) -> dict[str, Pair]:
    names = {key[len(_PREFIX) : -len(_HALVES[0])] for key in halves if key.startswith(_PREFIX)}
    expected = {_PREFIX + name + end for name in names for end in _HALVES}
    if not names or expected != set(halves):
        odd = sorted(expected ^ set(halves))[:1] or ["no weights at all"]
        raise BadModelFile(
            f"The adapter in {folder_name} is incomplete or not LoRA: {odd[0]}.", "Get the folder again."
        )
    pairs = {name: Pair(*(halves[_PREFIX + name + end] for end in _HALVES)) for name in sorted(names)}
    for name, pair in pairs.items():
        if pair.A_rI.ndim != 2 or pair.B_Or.ndim != 2 or pair.A_rI.shape[0] != pair.B_Or.shape[1]:
            raise BadModelFile(
                f"The halves of {name} in {folder_name} do not belong together.", "Get the folder again."
            )
        if not (pair.A_rI.isfinite().all() and pair.B_Or.isfinite().all()):
            raise BadModelFile(f"{name} in {folder_name} holds numbers that are not finite.", "Get the folder again.")
    return pairs


def _config(adapter: PeftAdapter) -> dict[str, Any]:
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": adapter.base_name,
        "r": adapter.rank,
        "lora_alpha": adapter.alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "use_rslora": adapter.rank_stabilised,
        "rank_pattern": dict(adapter.rank_pattern),
        "alpha_pattern": dict(adapter.alpha_pattern),
        "target_modules": sorted(adapter.pairs),
    }


def _replace(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
