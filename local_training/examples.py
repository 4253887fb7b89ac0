"""Examples: what is asked and what was answered, to learn from given answers instead of own ones. Values only.

Not `local_training.policy.Example`, which is one of these, or an answer of the policy, in tokens. Reads no file
(`local_training.example_files` does). Light: no torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from local_training.tasks import Split, TaskMessage, split_items

ExampleKind = Literal["sft", "dpo", "kto"]


@dataclass(frozen=True, slots=True)
class AnswerExample:
    example_id: str
    messages: tuple[TaskMessage, ...]
    """Perhaps a system message, then user and assistant by turns; the user has the last word."""
    expert: str
    answer: str
    """What the expert shall say; with `is_good` false, what it shall not."""
    rejected: str | None = None
    """dpo only: the answer that is worse than `answer`."""
    is_good: bool | None = None
    """kto only."""
    group: str = ""
    """As a task's."""
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """As a task's."""
    ends: bool = True
    """sft: whether it is also learned that the answer ends here; not so of what is only the beginning of one."""

    @property
    def split_key(self) -> str:
        return self.group or self.example_id


@dataclass(frozen=True, slots=True)
class ExampleSet:
    """All examples of one file. `content_hash` is of its bytes: 64 hex digits of SHA-256."""

    examples: tuple[AnswerExample, ...]
    content_hash: str


def split_examples(examples: Sequence[AnswerExample], held_out_share: float) -> Split[AnswerExample]:
    """As `local_training.tasks.split_tasks`."""
    return split_items(examples, held_out_share, "examples")


def has_both_labels(examples: Sequence[AnswerExample]) -> bool:
    """Whether there are good and bad ones, without which kto has nothing to tell apart."""
    return {example.is_good for example in examples} == {True, False}
