"""What every step and evaluation of a run was like, as one JSON object a line. Light: no torch.

The file is only ever appended to, and cut back to the last checkpoint when a killed run goes on.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from engine.adapters.files import written


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """One optimizer step. What a kind does not have is None. KL, entropy and gaps are nats a token; times seconds."""

    step: int
    """From 1."""
    seconds: float
    loss: float
    grad_norm: float
    rate: float
    reward: float | None = None
    """Mean over all branches drawn, before the length penalty."""
    accuracy: float | None = None
    """Share of the branches that were right; for dpo and kto, of the examples on the right side."""
    length_tokens: float | None = None
    unfinished_share: float | None = None
    groups_kept: int | None = None
    groups_drawn: int | None = None
    kl_target_nats: float | None = None
    kl_general_nats: float | None = None
    entropy_nats: float | None = None
    mismatch_nats: float | None = None
    """Mean distance between trainer and sampler."""
    mismatch_kl_nats: float | None = None
    above_cap_share: float | None = None
    masked_share: float | None = None
    rollout_seconds: float = 0.0
    train_seconds: float = 0.0
    idle_share: float | None = None
    """Of the step: neither sampler nor trainer worked."""
    rollout_tokens: int = 0
    trained_tokens: int = 0
    memory_bytes: int = 0
    """Resident, of trainer and engine."""
    kind: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class EvaluationMetrics:
    """Held-out items after so many steps. For examples instead of tasks there is a loss and no reward."""

    step: int
    seconds: float
    items: int
    accuracy: float | None = None
    reward: float | None = None
    length_tokens: float | None = None
    unfinished_share: float | None = None
    loss: float | None = None
    kind: Literal["evaluation"] = "evaluation"


@dataclass(frozen=True, slots=True)
class Note:
    """Something a person should know, such as that memory ran short and what was done."""

    step: int
    text: str
    kind: Literal["note"] = "note"


Metrics = StepMetrics | EvaluationMetrics | Note
_TYPES: dict[str, Any] = {"step": StepMetrics, "evaluation": EvaluationMetrics, "note": Note}


def to_line(metrics: Metrics) -> str:
    return json.dumps(asdict(metrics), ensure_ascii=False, allow_nan=False)


def from_values(values: Any) -> Metrics | None:
    """None when these are no metrics of this version."""
    made = _TYPES.get(values.get("kind", "")) if isinstance(values, dict) else None
    if made is None or not {one.name for one in fields(made)} >= values.keys():
        return None
    try:
        metrics: Metrics = made(**values)
    except TypeError:
        return None
    return metrics


def append_metrics(path: Path, metrics: Metrics) -> None:
    """Raises: DiskFull, AgentError; half a line may then be there, which reading passes over."""
    with written(path), path.open("ab") as file:
        file.write((to_line(metrics) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())


def read_metrics(path: Path) -> Iterator[Metrics]:
    """All whole lines, in their order; nothing where there is no file. Raises: AgentError."""
    if not path.exists():
        return
    with written(path):
        lines = path.read_bytes().split(b"\n")
    for line in lines[:-1]:  # the last one ends with a line feed or is torn
        try:
            metrics = from_values(json.loads(line))
        except ValueError:
            continue
        if metrics is not None:
            yield metrics


@dataclass(frozen=True, slots=True)
class History:
    """The metrics of a run, sorted by what they are."""

    steps: tuple[StepMetrics, ...] = ()
    evaluations: tuple[EvaluationMetrics, ...] = ()
    notes: tuple[Note, ...] = field(default=())


def read_history(path: Path) -> History:
    """Raises: AgentError."""
    found = list(read_metrics(path))
    return History(
        tuple(one for one in found if isinstance(one, StepMetrics)),
        tuple(one for one in found if isinstance(one, EvaluationMetrics)),
        tuple(one for one in found if isinstance(one, Note)),
    )
