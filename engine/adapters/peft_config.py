"""What a PEFT `adapter_config.json` says of how strongly each module is changed. Knows neither weights nor a base.

Refuses every kind of adapter that llama.cpp cannot express, with the reason, rather than reading a part of it.
Meaning of the fields: the PEFT library, `LoraConfig`.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from engine.errors import BadModelFile, ModelMissing

CONFIG_FILE: Final = "adapter_config.json"
_MAX_CONFIG_BYTES: Final = 4 << 20
_MAX_RANK: Final = 1 << 16
_PLAIN_PATTERN: Final = re.compile(r"\^?[A-Za-z0-9_.]+")
_PLAIN_STARTS: Final = (True, False, None, "gaussian", "eva", "orthogonal")
"""Ways to begin the training that leave the base as it is."""
_RETRAIN: Final = "Train the adapter again without it, as a plain LoRA."
_AGAIN: Final = "Save the adapter again with PEFT."

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class PeftConfig:
    rank: int
    alpha: float
    rank_pattern: Mapping[str, int]
    alpha_pattern: Mapping[str, float]
    is_rank_stabilised: bool
    """rsLoRA: the update is divided by √r instead of r. Source: Kalajdzievski 2023 (arXiv:2312.03732)."""

    def rank_of(self, module: str) -> int:
        return _of_module(self.rank_pattern, module, self.rank)

    def alpha_of(self, module: str) -> float:
        """The alpha with which alpha / r scales this module as the config wants it."""
        alpha = _of_module(self.alpha_pattern, module, self.alpha)
        return alpha * math.sqrt(self.rank_of(module)) if self.is_rank_stabilised else alpha


def read_config(folder: Path) -> PeftConfig:
    """Raises: ModelMissing, BadModelFile with the reason."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise ModelMissing(f"{folder} holds no {CONFIG_FILE}.", "Choose the folder that PEFT saved, or a GGUF adapter.")
    try:
        if path.stat().st_size > _MAX_CONFIG_BYTES:
            raise ValueError("it is far too long")
        values = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise BadModelFile(f"{CONFIG_FILE} cannot be read: {error.strerror}.", "Check its permissions.") from error
    except (ValueError, RecursionError) as error:
        raise BadModelFile(f"{CONFIG_FILE} is no JSON: {error}.", _AGAIN) from error
    if not isinstance(values, dict):
        raise BadModelFile(f"{CONFIG_FILE} is no JSON object.", _AGAIN)
    return parse_config(values)


def parse_config(values: Mapping[str, Any]) -> PeftConfig:
    """Raises: BadModelFile naming the field that cannot be used or is wrong."""
    problem = _unsupported(values)
    if problem:
        raise BadModelFile(f"This adapter cannot be used: {problem}.", _RETRAIN)
    rank = _rank("r", values.get("r"))
    alpha = _alpha("lora_alpha", values.get("lora_alpha"))
    ranks = {key: _rank(f"rank_pattern of {key}", value) for key, value in _pattern(values, "rank_pattern").items()}
    alphas = {key: _alpha(f"alpha_pattern of {key}", value) for key, value in _pattern(values, "alpha_pattern").items()}
    return PeftConfig(rank, alpha, ranks, alphas, values.get("use_rslora") is True)


def _unsupported(values: Mapping[str, Any]) -> str:
    """Why llama.cpp cannot apply such an adapter; empty when it can."""
    kind = values.get("peft_type")
    if kind != "LORA":
        return f"it is of the kind {kind!s:.40}, and only LORA can be applied to a GGUF base"
    if values.get("bias", "none") != "none" or values.get("lora_bias"):
        return "it changes biases (bias, lora_bias), which a GGUF adapter cannot hold"
    if values.get("init_lora_weights", True) not in _PLAIN_STARTS:
        return f"it began as {values['init_lora_weights']!s:.40}, which changes the base's own weights too"
    for field, reason in _REFUSED_FIELDS.items():
        if values.get(field):
            return f"its {field} is set: {reason}"
    return ""


_REFUSED_FIELDS: Final = {
    "use_dora": "DoRA also rescales the base's weights, which llama.cpp does not do",
    "modules_to_save": "it replaces whole layers of the base, which a GGUF adapter cannot hold",
    "trainable_token_indices": "it changes single tokens of the embedding, which a GGUF adapter cannot hold",
    "target_parameters": "adapters on fused experts are not read",
    "layer_replication": "it repeats layers, which the base file does not",
    "fan_in_fan_out": "its weights are stored transposed, as no llama or qwen3 model has them",
    "use_qalora": "it pools its inputs, which llama.cpp does not do",
    "alora_invocation_tokens": "it is active only after certain tokens",
    "use_bdlora": "its halves are split into blocks, which a GGUF adapter cannot hold",
    "arrow_config": "it chooses among other adapters for every token",
    "kasa_config": "it also scales each direction of the update",
    "monteclora_config": "it draws its weights at random",
    "megatron_config": "it was trained on a model that is split over machines",
}


def _pattern(values: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """Module names with a value of their own.

    PEFT matches them as regular expressions. Only names are taken: an expression out of a file can take forever.
    """
    pattern = values.get(field) or {}
    if not isinstance(pattern, dict):
        raise BadModelFile(f"{field} in {CONFIG_FILE} is no object.", _AGAIN)
    named = {key.replace("\\.", "."): value for key, value in pattern.items()}
    odd = next((key for key in named if not _PLAIN_PATTERN.fullmatch(key)), None)
    if odd is not None:
        raise BadModelFile(
            f"{field} in {CONFIG_FILE} holds the expression {odd[:60]!r}; only names of modules are read.",
            "Write one entry for each module it stands for.",
        )
    return named


def _of_module(pattern: Mapping[str, Number], module: str, default: Number) -> Number:
    """The first entry that names the module or the end of its name; `^` asks for the whole name."""
    for key, value in pattern.items():
        if module == key.removeprefix("^") or (not key.startswith("^") and module.endswith(f".{key}")):
            return value
    return default


def _rank(field: str, value: Any) -> int:
    if type(value) is not int or not 0 < value <= _MAX_RANK:
        raise BadModelFile(f"{field} in {CONFIG_FILE} is {value!s:.40}; a rank is a whole number above 0.", _AGAIN)
    return value


def _alpha(field: str, value: Any) -> float:
    # llama.cpp takes an alpha of 0 for none at all and applies the full update.
    if type(value) not in (int, float) or not 1e-6 <= value <= 1e6:
        raise BadModelFile(f"{field} in {CONFIG_FILE} is {value!s:.40}; an alpha is a number above 0.", _AGAIN)
    return float(value)
