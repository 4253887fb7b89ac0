"""Everything a run needs to go on as if it had never been interrupted. Whole or not there; the last two are kept.

The adapter is a PEFT folder; the optimizer's moments lie beside it. Order of the data, seeds and rates follow from the
recipe and the step, so they are not stored.
"""

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from engine.adapters.files import written
from engine.errors import ModelProblem, StoreProblem
from local_training.policy import Policy
from local_training.runs.stored import from_json, parsed, to_json

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
    try:
        with written(target):
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True, mode=0o700)
            policy.save(part)
            # Not by safetensors' own `save_file`, which says of a full disk what no OSError says.
            (part / _MOMENTS).write_bytes(save(_moments(policy, optimizer)))
            (part / _VALUES).write_text(to_json(position), encoding="utf-8")
            for path in part.iterdir():
                _to_disk(path)
            _delete(target)
            os.replace(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    for old in checkpoints(folder)[:-_KEPT]:
        with contextlib.suppress(OSError):
            _delete(old)


def checkpoints(folder: Path) -> Sequence[Path]:
    """Whole ones, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.name.isdigit() and (path / _VALUES).is_file())


def restore_checkpoint(folder: Path, policy: Policy, optimizer: torch.optim.Optimizer) -> Position:
    """Go on from the last checkpoint in `folder`; a new `Position` where there is none.

    Raises: StoreProblem when it is damaged; policy and optimizer are unchanged then.
    """
    found = checkpoints(folder)
    if not found:
        return Position()
    last = found[-1]
    try:
        position = from_json(Position, parsed((last / _VALUES).read_bytes()))
        if position is None:
            raise ValueError(f"{_VALUES} does not hold what a run needs")
        # Read, not mapped: a mapped file that is cut short meanwhile ends the process.
        state = _state(policy, load((last / _MOMENTS).read_bytes()))
        policy.restore(last)
    except (OSError, ValueError, SafetensorError, ModelProblem) as error:
        before = f"step {int(found[-2].name)}" if len(found) > 1 else "the beginning"
        raise StoreProblem(
            f"The checkpoint of step {int(last.name)} cannot be read: {str(error).rstrip('.')}.",
            f"Delete {last} to go on from {before}, or begin a new run.",
        ) from error
    optimizer.state.clear()
    optimizer.state.update(state)
    return position


def _moments(policy: Policy, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    for number, weight in enumerate(policy.trainable):
        for name, value in optimizer.state.get(weight, {}).items():
            found[f"{number:04d}.{name}"] = torch.as_tensor(value).detach().contiguous()
    return found


def _state(policy: Policy, moments: Mapping[str, torch.Tensor]) -> dict[torch.Tensor, dict[str, Any]]:
    """What the optimizer knows of each weight. Raises: ValueError when these are the moments of other weights."""
    weights = dict(enumerate(policy.trainable))
    state: dict[torch.Tensor, dict[str, Any]] = {}
    for key, value in moments.items():
        number, _, name = key.partition(".")
        weight = weights.get(int(number))
        if weight is None or (name != "step" and value.shape != weight.shape):
            raise ValueError(f"{key} in {_MOMENTS} belongs to no weight of this adapter")
        # The step is a tensor on the CPU in every AdamW of torch.
        state.setdefault(weight, {})[name] = value if name == "step" else value.to(weight.device)
    return state


def _delete(checkpoint: Path) -> None:
    """Where there is one. Its values go first: what a kill leaves of it is no checkpoint. Raises: OSError."""
    if checkpoint.exists():
        (checkpoint / _VALUES).unlink(missing_ok=True)
        shutil.rmtree(checkpoint)


def _to_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
