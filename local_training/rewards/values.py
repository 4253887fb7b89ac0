"""What rewards look at and what they say. Values only, and the one error they have."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from engine.errors import UsageProblem
from engine.harness.tool_calls import ToolCall
from engine.runtime.protocol import FinishReason, Tokens


class RewardProblem(UsageProblem):
    """A reward is described wrongly, or gave a value that it cannot give."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one branch wrote."""

    text: str
    tokens: Tokens
    """As sampled, the end token included."""
    finish: FinishReason
    tool_calls: tuple[ToolCall, ...] | None = None
    """Calls the harness took out of the text; None where nobody has looked for them yet."""


@dataclass(frozen=True, slots=True)
class Judgement:
    value: float
    reason: str
    """Why, in a clause that a person can check against the answer."""


@dataclass(frozen=True, slots=True)
class RewardResult:
    """A judgement with whose it is; `low` and `high` are the ends of what it could have been."""

    name: str
    value: float
    low: float
    high: float
    reason: str


class Reward(Protocol):
    """One reward with its parameters. `decides`: at its top the answer is right; otherwise it is about form alone."""

    low: ClassVar[float]
    high: ClassVar[float]
    decides: ClassVar[bool]

    def judge(self, outcome: Outcome) -> Judgement: ...


def right_if(is_right: bool, reason: str) -> Judgement:
    return Judgement(1.0 if is_right else 0.0, reason)
