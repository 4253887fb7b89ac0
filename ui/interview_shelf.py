"""All a face may do with the interview of the first day. Needs no model."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from engine.memory.values import Memory
from engine.store.interviews import InterviewState


class InterviewShelf(Protocol):
    """Every call may raise `engine.AgentError`."""

    def interview_state(self) -> InterviewState: ...

    def settle_interview(self, state: InterviewState) -> None:
        """It was offered, or declined for good."""
        ...

    def answer_interview(self, answers: Mapping[str, str], language: str = "en") -> Sequence[Memory]:
        """What is remembered of answers by topic, which the user typed; blank ones were skipped. `language`: that of
        the screen."""
        ...
