"""Everything a run needs to go on as if it had never been interrupted. Whole or not there; the last two are kept.

The adapter is a PEFT folder; the optimizer's moments lie beside it. Order of the data, seeds and rates follow from the
recipe and the step, so they are not stored.
"""

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import load_file, save_file

from engine.adapters.files import written
from engine.errors import StoreProblem
from local_training.policy import Policy

_KEPT: Final = 2
_VALUES: Final = "checkpoint.json"
_MOMENTS: Final = "optimizer.safetensors"


@dataclass(frozen=True, slots=True)
class Position:
    """How far a run has come."""

    step: int = 0
    drawn: int = 0
    """Tasks or examples taken so far; the next comes after them."""
    barren: int = 0
    """Steps in a row that had nothing to learn from."""
    first_entropy_nats: float | None = None
    worked_seconds: float = 0.0


def save_checkpoint(folder: Path, policy: Policy, optimizer: torch.optim.Optimizer, position: Position) -> None:
    """Write `folder`/<step> and delete all but the last two. Raises: DiskFull, StoreProblem; the old ones stay then."""
    target = folder / f"{position.step:06d}"
    part = folder / f".part-{position.step:06d}"
    with written(target):
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True, mode=0o700)
        policy.save(part)
        save_file(_moments(policy, optimizer), part / _MOMENTS)
        (part / _VALUES).write_text(json.dumps(asdict(position)), encoding="utf-8")
        for path in part.iterdir():
            _to_disk(path)
        if target.exists():
            shutil.rmtree(target)
        os.replace(part, target)
    for old in checkpoints(folder)[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def checkpoints(folder: Path) -> Sequence[Path]:
    """Whole ones, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.name.isdigit() and (path / _VALUES).is_file())


def restore_checkpoint(folder: Path, policy: Policy, optimizer: torch.optim.Optimizer) -> Position:
    """Go on from the last checkpoint in `folder`; a new `Position` where there is none.

    Raises: StoreProblem when it is damaged; the one before it may be whole.
    """
    found = checkpoints(folder)
    if not found:
        return Position()
    last = found[-1]
    try:
        position = Position(**json.loads((last / _VALUES).read_text(encoding="utf-8")))
        moments = load_file(last / _MOMENTS)
        policy.restore(last)
        _load_moments(policy, optimizer, moments)
    except (OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise StoreProblem(
            f"The checkpoint of step {int(last.name)} cannot be read: {error}.",
            f"Delete {last} to go on from the one before, or begin a new run.",
        ) from error
    return position


def _moments(policy: Policy, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    for number, weight in enumerate(policy.trainable):
        for name, value in optimizer.state[weight].items():
            found[f"{number:04d}.{name}"] = torch.as_tensor(value).detach().contiguous()
    return found


def _load_moments(policy: Policy, optimizer: torch.optim.Optimizer, moments: dict[str, torch.Tensor]) -> None:
    weights = policy.trainable
    state: dict[int, dict[str, Any]] = {}
    for key, value in moments.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = value
    for place, values in state.items():
        weight = weights[place]
        for moment, value in values.items():
            if moment != "step" and value.shape != weight.shape:
                raise ValueError(f"{moment} of weight {place} is {list(value.shape)}")
        # The step is a tensor on the CPU in every AdamW of torch.
        optimizer.state[weight] = {
            name: value.to(weight.device) if name != "step" else value for name, value in values.items()
        }


def _to_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
