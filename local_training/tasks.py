"""Tasks: what is asked, of which expert, and what rewards the answer. Values, and which of them are held out.

Reads no file (`local_training.task_files` does) and judges no answer (`local_training.rewards` does). Light: no torch.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from engine.errors import UsageProblem

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class TaskMessage:
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class RewardSpec:
    """Which reward, with what parameters, and how much it counts beside the task's others."""

    name: str
    parameters: Mapping[str, Any]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Task:
    task_id: str
    messages: tuple[TaskMessage, ...]
    """Perhaps a system message, then user and assistant by turns; the user has the last word."""
    expert: str
    rewards: tuple[RewardSpec, ...]
    group: str = ""
    """Names what its paraphrases share, so that none of them is trained on while another is tested; empty: alone."""
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Ids of the turns it was made from, by which forgetting one of them finds what learned from it."""
    folds: tuple[str, ...] = ()
    """Messages of the user that are folded, one after the other, into a running memory, from which alone the last
    message is then answered (`local_training.folding`)."""

    @property
    def split_key(self) -> str:
        return self.group or self.task_id


@dataclass(frozen=True, slots=True)
class TaskSet:
    """All tasks of one file. `content_hash` is of its bytes: 64 hex digits of SHA-256."""

    tasks: tuple[Task, ...]
    content_hash: str


class Splittable(Protocol):
    """A task or an example."""

    @property
    def split_key(self) -> str: ...


Item = TypeVar("Item", bound=Splittable)


@dataclass(frozen=True, slots=True)
class Split(Generic[Item]):
    training: tuple[Item, ...]
    held_out: tuple[Item, ...]


def is_held_out(split_key: str, share: float) -> bool:
    """Whether tasks of this key are held out when `share` (0 to 1) of all keys are.

    Depends on the key alone, so no task changes sides when others are added, removed or moved.
    """
    digest = hashlib.sha256(b"held out\0" + split_key.encode("utf-8")).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def split_tasks(tasks: Sequence[Task], held_out_share: float) -> Split[Task]:
    """Training and held-out tasks, in their order; whole groups go to one side.

    Raises: UsageProblem when the share is no share, or when chance left one side empty that was to have tasks.
    """
    return split_items(tasks, held_out_share, "tasks")


def split_items(items: Sequence[Item], held_out_share: float, noun: str, *, needs_held_out: bool = True) -> Split[Item]:
    """As `split_tasks`, of whatever `noun` names in the plural; nothing may be held out where none is needed."""
    if not 0.0 <= held_out_share < 1.0:
        raise UsageProblem(
            f"The held-out share is {held_out_share}; it must be at least 0 and below 1.", "Choose one such as 0.2."
        )
    held_out = tuple(item for item in items if is_held_out(item.split_key, held_out_share))
    training = tuple(item for item in items if not is_held_out(item.split_key, held_out_share))
    if items and (not training or (needs_held_out and held_out_share > 0.0 and not held_out)):
        side = "for training" if not training else "held out"
        groups = len({item.split_key for item in items})
        raise UsageProblem(
            f"Of {len(items)} {noun} in {groups} groups none is {side} at a held-out share of {held_out_share}.",
            f"Add {noun} of other groups, or choose another share.",
        )
    return Split(training, held_out)
