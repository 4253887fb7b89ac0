"""What every step and evaluation of a run was like, as one JSON object a line. Light: no torch.

The file is only ever appended to, and cut back to the last checkpoint when a killed run goes on.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from engine.adapters.files import put, written
from local_training.runs.stored import from_json, parsed, to_json


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
    kl_anchor_nats: float | None = None
    """On the everyday requests that this step was held to, before it."""
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


@dataclass(frozen=True, slots=True)
class ParityMetrics:
    """Whether the engine computes with the finished adapter what the trainer does. Gaps are mean absolute, nats a
    token."""

    step: int
    prompts: int
    tokens: int
    gap_nats: float
    anchor_gap_nats: float
    """Of the anchor on the same tokens: what the base's own numbers account for."""
    kind: Literal["parity"] = "parity"

    @property
    def excess_nats(self) -> float:
        """What the adapter adds."""
        return max(0.0, self.gap_nats - self.anchor_gap_nats)


Metrics = StepMetrics | EvaluationMetrics | Note
"""What a run tells while it goes on."""
Recorded = Metrics | ParityMetrics
"""What its file holds: the figures of the last test are told in words."""
_TYPES: dict[str, Any] = {
    "step": StepMetrics,
    "evaluation": EvaluationMetrics,
    "parity": ParityMetrics,
    "note": Note,
}


def to_line(metrics: Recorded) -> str:
    """Raises: ValueError when a number is not finite."""
    return to_json(metrics)


def from_values(values: Any) -> Recorded | None:
    """None when these are no metrics of this version."""
    kind = values.get("kind") if isinstance(values, dict) else None
    made = _TYPES.get(kind) if isinstance(kind, str) else None
    metrics: Recorded | None = None if made is None else from_json(made, values)
    return metrics


def append_metrics(path: Path, metrics: Recorded) -> None:
    """Raises: DiskFull, AgentError; half a line may then be there, which reading passes over."""
    line = (to_line(metrics) + "\n").encode()
    with written(path), path.open("ab+") as file:
        if _ends_torn(file):
            line = b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _ends_torn(file: BinaryIO) -> bool:
    """Whether a write that was cut short left half a line, which the next one must not become part of."""
    if file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


def read_metrics(path: Path) -> Iterator[Recorded]:
    """All whole lines, in their order; nothing where there is no file. Raises: AgentError."""
    for line in _whole_lines(path):
        metrics = from_values(parsed(line))
        if metrics is not None:
            yield metrics


def cut_metrics(path: Path, step: int) -> None:
    """Forget whatever came after `step`, and damaged lines; lines of other versions stay as they are.

    For a killed run that goes on from the checkpoint of that step.

    Raises: DiskFull, AgentError; the file is as it was then.
    """
    kept = [line + b"\n" for line in _whole_lines(path) if _is_within(parsed(line), step)]
    if path.exists():
        put(path, kept)


def _is_within(values: Any, step: int) -> bool:
    found = values.get("step") if isinstance(values, dict) else None
    return isinstance(found, int) and found <= step


def _whole_lines(path: Path) -> list[bytes]:
    """Raises: AgentError."""
    if not path.exists():
        return []
    with written(path):
        # The last one ends with a line feed or is torn.
        return path.read_bytes().split(b"\n")[:-1]


@dataclass(frozen=True, slots=True)
class History:
    """The metrics of a run, sorted by what they are."""

    steps: tuple[StepMetrics, ...] = ()
    evaluations: tuple[EvaluationMetrics, ...] = ()
    notes: tuple[Note, ...] = ()
    parity: ParityMetrics | None = None
    """Of the last adapter that was tried in the engine."""


def read_history(path: Path) -> History:
    """Raises: AgentError."""
    found = list(read_metrics(path))
    return History(
        tuple(one for one in found if isinstance(one, StepMetrics)),
        tuple(one for one in found if isinstance(one, EvaluationMetrics)),
        tuple(one for one in found if isinstance(one, Note)),
        next((one for one in reversed(found) if isinstance(one, ParityMetrics)), None),
    )
