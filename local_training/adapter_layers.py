"""The LoRA layers of a torch model as the engine's pairs of arrays, and back: where arrays become tensors.

Knows no file: the layout of an adapter's folder, and what can be wrong with one, is `engine.adapters.peft_folder`'s.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from peft import LoraConfig
from peft.tuners.lora import LoraLayer

from engine.adapters.lora import LoraPair, Pairs
from engine.adapters.peft_folder import config_of
from engine.errors import AdapterMismatch


def lora_layers(model: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """The adapted linear layers with their paths in the transformers model, in order."""
    for path, module in model.named_modules():
        if isinstance(module, LoraLayer):
            yield path, module


def new_lora(rank: int, alpha: float, modules: Sequence[str]) -> LoraConfig:
    """PEFT's description of an adapter of one rank and alpha on `modules`, named whole or by the end."""
    options: dict[str, Any] = {
        "r": rank,
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "target_modules": list(modules),
        "bias": "none",
        "task_type": "CAUSAL_LM",
    }
    return LoraConfig(**options)


def lora_like(pairs: Pairs) -> LoraConfig:
    """PEFT's description of an adapter with the layers, ranks and alphas of `pairs`."""
    found = config_of(pairs)
    config = new_lora(found.rank, found.alpha, sorted(pairs))
    config.rank_pattern, config.alpha_pattern = dict(found.rank_pattern), dict(found.alpha_pattern)
    return config


def take_pairs(model: torch.nn.Module, adapter_name: str, alpha: float) -> dict[str, LoraPair]:
    """The adapter's weights by the path of their layer, as float32.

    They are views of the layers themselves where those are float32 on the CPU: use them before the next step.
    """
    found = {}
    for path, layer in lora_layers(model):
        if adapter_name in layer.lora_A:
            a_rI, b_Or = (half.detach().to("cpu", torch.float32).numpy() for half in _halves(layer, adapter_name))
            found[path] = LoraPair(a_rI, b_Or, alpha)
    return found


def put_pairs(model: torch.nn.Module, adapter_name: str, pairs: Pairs, base_name: str) -> None:
    """Copy `pairs` into the layers that the adapter has.

    Raises: AdapterMismatch when a layer finds none, or one of another shape; every weight is as it was then.
    """
    targets = []
    for path, layer in lora_layers(model):
        if adapter_name not in layer.lora_A:
            continue
        if path not in pairs:
            raise AdapterMismatch(f"The adapter holds nothing for {path}.", "Use one that was made for this base.")
        for mine, given in zip(_halves(layer, adapter_name), (pairs[path].a_rI, pairs[path].b_Or), strict=True):
            if mine.shape != given.shape:
                raise AdapterMismatch(
                    f"{path} is {list(given.shape)} in the adapter and {list(mine.shape)} on {base_name}.",
                    "Use an adapter that was made for this base.",
                )
            targets.append((mine, given))
    with torch.no_grad():
        for mine, given in targets:
            # A copy: arrays out of a file cannot be written to, and torch knows no such tensors.
            mine.copy_(torch.tensor(given))


def _halves(layer: Any, adapter_name: str) -> tuple[torch.Tensor, torch.Tensor]:
    return layer.lora_A[adapter_name].weight, layer.lora_B[adapter_name].weight
