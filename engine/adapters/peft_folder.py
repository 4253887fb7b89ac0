"""A PEFT folder as LoRA pairs by module name, and back. Knows no base and never reads pickled weights."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.adapters.files import put
from engine.adapters.lora import Array, LoraPair, Pairs, check_values, common_alpha, most_common
from engine.adapters.peft_config import CONFIG_FILE, PeftConfig, read_config
from engine.adapters.safetensors_file import StoredTensor, read_index, read_tensor, safetensors_bytes
from engine.errors import BadModelFile, ModelMissing, UsageProblem

WEIGHTS_FILE: Final = "adapter_model.safetensors"
_PICKLED_FILE: Final = "adapter_model.bin"
_PREFIX: Final = "base_model.model."
# An adapter's own name is between the half and `weight` when the state was saved without PEFT's help.
_KEY: Final = re.compile(r"(?P<module>.+)\.lora_(?P<half>[AB])(\.[^.]+)?\.weight")
_CHUNK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class PeftFolder:
    pairs: Pairs
    """By the module's name in transformers, such as "model.layers.0.self_attn.q_proj"."""
    content_hash: str
    """Of its two files, 32 hex digits: equal for equal adapters, wherever they lie."""


def is_peft_folder(path: Path) -> bool:
    return path.is_dir() and (path / CONFIG_FILE).is_file()


def read_peft(folder: Path) -> PeftFolder:
    """Raises: ModelMissing, BadModelFile with the reason and the tensor."""
    config = read_config(folder)
    path = folder / WEIGHTS_FILE
    if not path.is_file() and (folder / _PICKLED_FILE).is_file():
        raise BadModelFile(
            f"{folder} holds only {_PICKLED_FILE}, and reading such a file can run code in it.",
            "Save the adapter again with PEFT's `save_pretrained`, which writes safetensors.",
        )
    pairs = {
        module: _pair(path, config, module, *halves) for module, halves in sorted(_halves(read_index(path)).items())
    }
    return PeftFolder(pairs, _hash_of(folder / CONFIG_FILE, path))


def write_peft(folder: Path, pairs: Pairs, *, base_name: str = "", overwrite: bool = False) -> None:
    """Save `pairs`, named as in transformers, as a PEFT adapter. The config comes last: with it the folder is whole.

    Equal weights give equal bytes, whatever order they come in. Each file is replaced whole or stays as it was.

    overwrite: take the place of an adapter that is there.

    Raises: UsageProblem when there is one that may not be overwritten; DiskFull, AgentError.
    """
    if not overwrite and ((folder / CONFIG_FILE).exists() or (folder / WEIGHTS_FILE).exists()):
        raise UsageProblem(f"{folder} holds an adapter already.", "Choose an empty folder.")
    pairs = dict(sorted(pairs.items()))
    tensors: dict[str, Array] = {}
    for module, pair in pairs.items():
        tensors[f"{_PREFIX}{module}.lora_A.weight"] = pair.a_rI
        tensors[f"{_PREFIX}{module}.lora_B.weight"] = pair.b_Or
    put(folder / WEIGHTS_FILE, safetensors_bytes(tensors))
    put(folder / CONFIG_FILE, [json.dumps(_values(pairs, base_name), indent=2, sort_keys=True).encode()])


def config_of(pairs: Pairs) -> PeftConfig:
    """What says of `pairs` how strongly each module is changed, with values of their own for as few as possible."""
    rank, alpha = most_common(pair.rank for pair in pairs.values()), common_alpha(pairs)
    return PeftConfig(
        rank,
        alpha,
        rank_pattern={module: pair.rank for module, pair in pairs.items() if pair.rank != rank},
        alpha_pattern={module: pair.alpha for module, pair in pairs.items() if pair.alpha != alpha},
        is_rank_stabilised=False,
    )


def _values(pairs: Pairs, base_name: str) -> Mapping[str, Any]:
    config = config_of(pairs)
    return {
        "alpha_pattern": config.alpha_pattern,
        "base_model_name_or_path": base_name,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "lora_alpha": int(config.alpha) if config.alpha.is_integer() else config.alpha,
        "lora_dropout": 0.0,
        "peft_type": "LORA",
        "r": config.rank,
        "rank_pattern": config.rank_pattern,
        "target_modules": sorted(pairs),
        "task_type": "CAUSAL_LM",
        "use_dora": False,
        "use_rslora": config.is_rank_stabilised,
    }


def _halves(index: Mapping[str, StoredTensor]) -> dict[str, tuple[StoredTensor, StoredTensor]]:
    """A and B of every module. Raises: BadModelFile naming what is no LoRA weight or is alone."""
    found: dict[str, dict[str, StoredTensor]] = {}
    for name, stored in index.items():
        key = _KEY.fullmatch(name)
        if key is None:
            raise BadModelFile(
                f"{WEIGHTS_FILE} holds {name}, which is no LoRA weight of a linear layer.",
                "If that layer was not trained itself, save the adapter with `save_embedding_layers=False`; "
                "else train it again on linear layers only.",
            )
        halves = found.setdefault(key["module"].removeprefix(_PREFIX), {})
        if key["half"] in halves:
            raise BadModelFile(f"{WEIGHTS_FILE} holds {name} twice.", "Save one adapter to a folder, not several.")
        halves[key["half"]] = stored
    if not found:
        raise BadModelFile(f"{WEIGHTS_FILE} holds no LoRA weights.", "Save the adapter again with PEFT.")
    alone = next((module for module, halves in found.items() if len(halves) < 2), None)
    if alone is not None:
        raise BadModelFile(f"{WEIGHTS_FILE} holds only one half of {alone}.", "Save the adapter again with PEFT.")
    return {module: (halves["A"], halves["B"]) for module, halves in found.items()}


def _pair(path: Path, config: PeftConfig, module: str, a: StoredTensor, b: StoredTensor) -> LoraPair:
    pair = LoraPair(read_tensor(path, a), read_tensor(path, b), config.alpha_of(module))
    check_values(module, pair)
    if pair.rank != config.rank_of(module):
        raise BadModelFile(
            f"{module} has rank {pair.rank}, but {CONFIG_FILE} says {config.rank_of(module)}.",
            "The two files do not belong together; get both again.",
        )
    return pair


def _hash_of(*paths: Path) -> str:
    digest = hashlib.sha256()
    try:
        for path in paths:
            digest.update(path.stat().st_size.to_bytes(8, "little"))
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK_BYTES):
                    digest.update(chunk)
    except OSError as error:
        raise ModelMissing(f"{error.filename} cannot be read: {error.strerror}.", "Put the file back.") from error
    return digest.hexdigest()[:32]
