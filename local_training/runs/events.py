"""What a trainer tells whoever started it: one JSON object a line on its standard output. Light: no torch.

Nothing depends on being heard: the folder holds the same and more.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from local_training.runs.folder import State
from local_training.runs.metrics import Metrics, from_values

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
    return json.dumps(asdict(event), ensure_ascii=False, allow_nan=False)


def read_event(line: str) -> Event | None:
    """None when the line is no event: libraries may print too."""
    try:
        values = json.loads(line)
    except ValueError:
        return None
    if isinstance(values, dict) and (made := _TYPES.get(values.get("kind", ""))) is not None:
        try:
            event: Event = made(**values)
        except TypeError:
            return None
        return event
    return from_values(values)
