"""What a trainer tells whoever started it: one JSON object a line on its standard output. Light: no torch.

Nothing depends on being heard: the folder holds the same and more.
"""

from dataclasses import dataclass
from typing import Any, Literal

from local_training.runs.folder import State
from local_training.runs.metrics import Metrics, ParityMetrics, from_values
from local_training.runs.stored import from_json, parsed, to_json

Activity = Literal["loading", "evaluating", "sampling", "training", "saving"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is. `done` of `total` items of this activity; a total of 0 is unknown."""

    step: int
    """The step being made; 0 before the first."""
    steps: int
    activity: Activity
    done: int = 0
    total: int = 0
    detail: str = ""
    kind: Literal["progress"] = "progress"


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event."""

    state: State
    step: int
    problem: str = ""
    hint: str = ""
    exit_code: int = 0
    kind: Literal["ended"] = "ended"


Event = Progress | Metrics | Ended
_TYPES: dict[str, Any] = {"progress": Progress, "ended": Ended}


def event_line(event: Event) -> str:
    """Raises: ValueError when a number is not finite."""
    return to_json(event)


def read_event(line: str) -> Event | None:
    """None when the line is no event: libraries may print too."""
    values = parsed(line)
    kind = values.get("kind") if isinstance(values, dict) else None
    made = _TYPES.get(kind) if isinstance(kind, str) else None
    event = from_values(values) if made is None else from_json(made, values)
    return None if isinstance(event, ParityMetrics) else event
